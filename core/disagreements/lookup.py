"""One claim against all others: an index of claims by their terms, kept document by document."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from core.disagreements.claim_pairs import FEWEST, WORDING, Clash, body_weight, clash, weight
from core.disagreements.claims import Claim


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
        self._holders: dict[tuple[str, str], set[tuple[str, int]]] = {}  # by group and term

    def put(self, path: str, claims: tuple[Claim, ...]) -> None:
        """Add a document, or replace it."""
        self.remove(path)
        self.documents[path] = claims
        for n, claim in enumerate(claims):
            for group in groups(claim):
                for term in claim.body:
                    self._holders.setdefault((group, term), set()).add((path, n))

    def remove(self, path: str) -> None:
        for n, claim in enumerate(self.documents.pop(path, ())):
            for group in groups(claim):
                for term in claim.body:
                    self._holders[group, term].discard((path, n))

    def against(self, claims: Iterable[Claim], without: frozenset[str] = frozenset()) -> Iterator[tuple[Claim, Match]]:
        """Every claim with what disagrees with it in other documents, in the order of the claims, then by path and line."""
        for claim in claims:
            for path, n in sorted(self._candidates(claim)):
                other = self.documents[path][n]
                if path not in without and (difference := clash(claim, other)):
                    yield claim, Match(path, other, difference)

    def _candidates(self, claim: Claim) -> set[tuple[str, int]]:
        """Claims that can disagree at all: they are of a group that is asked for, and share enough terms."""
        total = body_weight(claim)
        found: set[tuple[str, int]] = set()
        for group, least in asked(claim, total):
            found.update(self._sharing(claim, group, least, total))
        return found

    def _sharing(self, claim: Claim, group: str, least: float, total: float) -> Iterator[tuple[str, int]]:
        """Claims of a group that share terms of at least this weight, found through the rarest terms first."""
        held = {term: self._holders.get((group, term), set()) for term in claim.body}
        shared: dict[tuple[str, int], float] = {}
        left = total
        for term in sorted(held, key=lambda term: (len(held[term]), term)):
            heavy = weight(term)
            if left >= least:  # whoever shares only what is left shares too little
                for place in held[term]:
                    shared[place] = shared.get(place, 0.0) + heavy
            else:
                for place in shared.keys() & held[term]:
                    shared[place] += heavy
            left -= heavy
        return (place for place, common in shared.items() if common >= least - 1e-9)


def groups(claim: Claim) -> set[str]:
    """The kinds of others that a claim can disagree with."""
    kinds = {value.dimension for value in claim.values}
    if claim.names:
        kinds.add("name")
    if not claim.hedged and not claim.lead:
        kinds |= {"said", "marked"} if _marked(claim) else {"said"}
    return kinds


def asked(claim: Claim, total: float) -> Iterator[tuple[str, float]]:
    """The groups to look into, each with the weight of terms that must be shared."""
    for dimension in sorted({value.dimension for value in claim.values}):
        yield dimension, FEWEST
    if claim.names:
        yield "name", max(FEWEST, WORDING * total)
    if not claim.hedged and not claim.lead:
        yield "said" if _marked(claim) else "marked", max(FEWEST, WORDING * total)


def _marked(claim: Claim) -> bool:
    """Whether it forbids, excuses or denies something: of two opposites one does."""
    return bool(claim.negated) or claim.mode in ("forbids", "optional")


def index_of(documents: Mapping[str, tuple[Claim, ...]]) -> ClaimIndex:
    """An index of claims by path."""
    index = ClaimIndex()
    for path, claims in documents.items():
        index.put(path, claims)
    return index
