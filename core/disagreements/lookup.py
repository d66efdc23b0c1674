"""One claim against all others: an index of claims by their terms, kept document by document."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator, Mapping, Set
from dataclasses import dataclass
from typing import TYPE_CHECKING

from core.disagreements.claim_pairs import FEWEST, WORDING, Clash, body_weight, clash, weight
from core.disagreements.claims import Claim

if TYPE_CHECKING:
    import numpy as np


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
        self._numbers: dict[str, int] = {}  # of a document's first claim; its others follow
        self._places: list[tuple[str, int]] = []  # by number; those of removed documents stay until there are many
        self._holders: dict[tuple[str, str], array[int]] = {}  # numbers of claims by group and term

    def put(self, path: str, claims: tuple[Claim, ...]) -> None:
        """Add a document, or replace it."""
        self.remove(path)
        self.documents[path], self._numbers[path] = claims, len(self._places)
        for n, claim in enumerate(claims):
            for group in groups(claim):
                for term in claim.body:
                    self._holders.setdefault((group, term), array("q")).append(len(self._places))
            self._places.append((path, n))

    def remove(self, path: str) -> None:
        """Forget a document; once half of all numbers mean nothing, the rest is counted anew."""
        if self._numbers.pop(path, None) is None:
            return
        del self.documents[path]
        if len(self._places) > 2 * sum(map(len, self.documents.values())) + 1000:
            rest, self._places, self._holders = self.documents, [], {}
            self.documents, self._numbers = {}, {}
            for other, claims in rest.items():
                self.put(other, claims)

    def against(self, claims: Iterable[Claim], without: Set[str] = frozenset()) -> Iterator[tuple[Claim, Match]]:
        """Every claim with what disagrees with it in other documents, in the order of the claims, then by path and
        line.
        """
        for claim in claims:
            for path, n in sorted(self._candidates(claim)):
                other = self.documents[path][n]
                if path not in without and (difference := clash(claim, other)):
                    yield claim, Match(path, other, difference)

    def pairs(self, paths: Set[str]) -> Iterator[tuple[str, Claim, Match]]:
        """What disagrees with these documents in any other, each pair once, from the one that comes first by path."""
        done: set[str] = set()
        for path in sorted(paths & self.documents.keys()):
            done.add(path)
            for claim, match in self.against(self.documents[path], done):
                if path < match.path:
                    yield path, claim, match
                else:
                    yield match.path, match.claim, Match(path, claim, match.clash.turned())

    def _candidates(self, claim: Claim) -> set[tuple[str, int]]:
        """Claims that can disagree at all: they are of a group that is asked for, and share enough terms."""
        found: set[int] = set()
        for group, least in asked(claim, body_weight(claim)):
            found.update(self._sharing(claim, group, least))
        every = ((number, *self._places[number]) for number in found)
        return {(path, n) for number, path, n in every if self._numbers.get(path) == number - n}

    def _sharing(self, claim: Claim, group: str, least: float) -> Iterable[int]:
        """Numbers of the claims of a group that share terms of at least this weight, found through the rarest terms."""
        import numpy as np

        held = [(weight(term), found) for term in claim.body if (found := self._holders.get((group, term)))]
        held.sort(key=lambda holders: len(holders[1]))
        least, left = least - 1e-9, sum(heavy for heavy, _ in held)
        rare: list[tuple[float, np.ndarray]] = []
        while held and left >= least:  # whoever shares only what is left shares too little
            heavy, found = held.pop(0)
            rare.append((heavy, np.frombuffer(found, np.int64)))
            left -= heavy
        if not rare:
            return ()
        weights = np.repeat([heavy for heavy, _ in rare], [len(numbers) for _, numbers in rare])
        shared = np.bincount(np.concatenate([numbers for _, numbers in rare]), weights)
        some = np.flatnonzero(shared >= least - left)
        total = shared[some]
        for heavy, found in held:
            numbers = np.frombuffer(found, np.int64)  # ascending
            at = np.searchsorted(numbers, some)
            total += heavy * (numbers[np.minimum(at, len(numbers) - 1)] == some)
        return list(some[total >= least].tolist())


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
    index = ClaimIndex()
    for path, claims in documents.items():
        index.put(path, claims)
    return index
