"""One claim against all others: an index of claims by their terms, kept document by document."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from core.disagreements.claims import Claim
from core.disagreements.compare import FEWEST, Clash, clash, weight


@dataclass(frozen=True, slots=True)
class Match:
    """A claim of another document that disagrees."""

    path: str
    claim: Claim
    clash: Clash


class ClaimIndex:
    """Claims of many documents by path. What it answers depends on the documents, not on the order they came in."""

    def __init__(self) -> None:
        self.documents: dict[str, tuple[Claim, ...]] = {}
        self._holders: dict[str, set[tuple[str, int]]] = {}

    def put(self, path: str, claims: tuple[Claim, ...]) -> None:
        """Add a document, or replace it."""
        self.remove(path)
        self.documents[path] = claims
        for n, claim in enumerate(claims):
            for term in claim.body:
                self._holders.setdefault(term, set()).add((path, n))

    def remove(self, path: str) -> None:
        for n, claim in enumerate(self.documents.pop(path, ())):
            for term in claim.body:
                self._holders[term].discard((path, n))

    def against(self, claims: Iterable[Claim], without: frozenset[str] = frozenset()) -> Iterator[tuple[Claim, Match]]:
        """Every claim with what disagrees with it in other documents, in the order of the claims, then by path and line."""
        for claim in claims:
            for path, n in sorted(self._candidates(claim)):
                other = self.documents[path][n]
                if path not in without and (difference := clash(claim, other)):
                    yield claim, Match(path, other, difference)

    def _candidates(self, claim: Claim) -> list[tuple[str, int]]:
        """Claims that share enough terms; those that share only the most frequent ones are reached by none of the rest."""
        terms = sorted(claim.body, key=lambda term: (len(self._holders.get(term, ())), term))
        total = sum(map(weight, terms))
        seen: Counter[tuple[str, int]] = Counter()
        left = total
        for term in terms:
            if left < FEWEST:  # whoever shares only what is left shares too little
                break
            left -= weight(term)
            seen.update(self._holders.get(term, ()))
        return list(seen)


def index_of(documents: Mapping[str, tuple[Claim, ...]]) -> ClaimIndex:
    """An index of claims by path."""
    index = ClaimIndex()
    for path, claims in documents.items():
        index.put(path, claims)
    return index
