"""Documents before passages: each leg is reduced to documents by their best passages before anything is fused.

A document is stood for by one of its passages, so that everything after, from fusion to hits, works on passages as
ever.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, cast

from core.ports import ByDocument, Index, Leg, Ranking
from core.retrieval.candidates import Candidates
from core.types import SearchConfig

if TYPE_CHECKING:
    import numpy as np

PER_DOCUMENT = 3  # passages that a leg retrieves for each document it shall bring
DEEPEST = 3_000  # passages
RRF = 60
_MERITS = tuple(1.0 / (RRF + place) for place in range(1, DEEPEST + 1))
FURTHER = 4  # passages of a document that are kept besides its best
Highest = Callable[[str, "np.ndarray", "np.ndarray"], Sequence[float]]
"""The best score that a leg gives in each of some families of passages, which begin at given places."""


def passages(config: SearchConfig) -> int:
    """How many passages a leg is asked for: `depth` counts documents where documents are found."""
    return min(DEEPEST, config.depth * PER_DOCUMENT) if config.documents else config.depth


def reduced(found: Candidates, index: Index, depth: int, highest: Highest) -> Candidates:
    """Candidates with one passage for each document: the one that the legs together rank best.

    A leg's score for a document is that of its best passage there, whichever that is.
    """
    rankings, further = index.by_document(list(found.retrieved.values()), depth)
    retrieved = dict(zip(found.retrieved, rankings, strict=True))

    def score(leg: str, chunks: Sequence[int]) -> Sequence[float]:
        return highest(leg, *index.families(chunks)) if chunks else []

    return replace(found, retrieved=retrieved, score=score, further=further)


def by_document(rankings: Sequence[Ranking], document_of: Mapping[int, int], depth: int) -> ByDocument:
    """The first `depth` documents of each leg, by the passages that stand for them, and the other passages of those.

    >>> by_document([{4: 9.0, 7: 5.0}, {7: 0.8, 2: 0.3}], {4: 0, 7: 0, 2: 1}, 10)
    ([{7: 9.0}, {7: 0.8, 2: 0.3}], {7: [4]})
    """
    families: dict[int, list[int]] = {}
    standing: dict[int, int] = {}  # for each passage the one that stands for its document
    for chunk in _best_first(rankings):
        family = families.setdefault(document_of[chunk], [])
        family.append(chunk)
        standing[chunk] = family[0]
    retrieved = [_first(ranking, standing, depth) for ranking in rankings]
    kept = set().union(*retrieved)
    several = (family for family in families.values() if len(family) > 1 and family[0] in kept)
    return retrieved, {first: others[:FURTHER] for first, *others in several}


def highest(legs: Mapping[str, Leg], name: str, chunks: np.ndarray, starts: np.ndarray) -> Sequence[float]:
    """The best score of a leg in each family of passages; a leg may know a shorter way than to score all."""
    import numpy as np

    leg = legs[name]
    if (shorter := getattr(leg, "highest", None)) is not None:
        return cast("Sequence[float]", shorter(chunks, starts))
    best: list[float] = np.maximum.reduceat(np.array(leg.score(chunks.tolist())), starts).tolist()
    return best


def once(order: Sequence[int], index: Index) -> list[int]:
    """An order without a second passage of a document: a reranker may have brought in a neighbour."""
    first: dict[int, int] = {}
    for document, chunk in zip(index.documents_of(order), order, strict=True):
        first.setdefault(document, chunk)
    return list(first.values())


def _best_first(rankings: Iterable[Ranking]) -> list[int]:
    """Every passage that a leg found, best first by reciprocal ranks over all legs, ties in the order of ids.

    >>> _best_first([{4: 9.0, 7: 5.0}, {7: 0.8, 2: 0.3}])
    [7, 4, 2]
    """
    first, *others = rankings
    merits = dict(zip(first, _MERITS, strict=False))
    for ranking in others:
        for chunk, merit in zip(ranking, _MERITS, strict=False):
            merits[chunk] = merits.get(chunk, 0.0) + merit
    return sorted(sorted(merits), key=merits.__getitem__, reverse=True)


def _first(ranking: Ranking, standing: Mapping[int, int], depth: int) -> dict[int, float]:
    """The first `depth` documents of a leg, each by the passage that stands for it."""
    first: dict[int, float] = {}
    for chunk, score in ranking.items():
        first.setdefault(standing[chunk], score)
        if len(first) == depth:
            break
    return first
