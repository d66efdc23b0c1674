"""Documents before passages: each leg is reduced to documents by their best passages before anything is fused.

A document is stood for by one of its passages, so that everything after, from fusion to hits, works on passages as ever.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import chain
from typing import TYPE_CHECKING, cast

from core.ports import Index, Leg, Ranking
from core.retrieval.candidates import Candidates
from core.retrieval.ordering import rank
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
    documents = {leg: index.documents_of(list(ranking)) for leg, ranking in found.retrieved.items()}
    ranked = _by_document(found.retrieved, documents)
    best = {document: own[0] for document, own in ranked.items()}
    retrieved = {leg: _first(ranking.values(), documents[leg], best, depth) for leg, ranking in found.retrieved.items()}
    kept = {chunk for ranking in retrieved.values() for chunk in ranking}

    def score(leg: str, chunks: Sequence[int]) -> Sequence[float]:
        import numpy as np

        families = [index.chunks_of(document) for document in index.documents_of(chunks)]
        starts = np.cumsum([0, *map(len, families[:-1])])
        every = np.fromiter(chain.from_iterable(families), np.int64)
        return highest(leg, every, starts) if families else []

    further = {own[0]: tuple(own[1 : 1 + FURTHER]) for own in ranked.values() if own[0] in kept}
    return replace(found, retrieved=retrieved, score=score, further=further)


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


def _by_document(retrieved: Mapping[str, Ranking], documents: Mapping[str, Sequence[int]]) -> dict[int, list[int]]:
    """The passages of each document that a leg found, best first by reciprocal ranks over all legs."""
    merits: dict[int, float] = {}
    owner: dict[int, int] = {}
    for leg, ranking in retrieved.items():
        if not merits:
            merits, owner = dict(zip(ranking, _MERITS, strict=False)), dict(zip(ranking, documents[leg], strict=True))
            continue
        for merit, chunk in zip(_MERITS, ranking, strict=False):
            merits[chunk] = merits.get(chunk, 0.0) + merit
        owner.update(zip(ranking, documents[leg], strict=True))
    families: dict[int, list[int]] = {}
    for chunk in rank(merits):
        families.setdefault(owner[chunk], []).append(chunk)
    return families


def _first(scores: Iterable[float], documents: Sequence[int], best: Mapping[int, int], depth: int) -> dict[int, float]:
    """The first `depth` documents of a leg, each by the passage that stands for it."""
    first: dict[int, float] = {}
    for document, score in zip(documents, scores, strict=True):
        if document not in first:
            first[document] = score
            if len(first) == depth:
                break
    return {best[document]: score for document, score in first.items()}
