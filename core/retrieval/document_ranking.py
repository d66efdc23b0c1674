"""Documents before passages: each leg is reduced to documents by their best passages before anything is fused.

A document is stood for by one of its passages, so that everything after, from fusion to hits, works on passages as ever.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from core.ports import Index, Ranking
from core.retrieval.candidates import Candidates
from core.types import SearchConfig

PER_DOCUMENT = 3  # passages that a leg retrieves for each document it shall bring
DEEPEST = 3_000  # passages
RRF = 60
FURTHER = 4  # passages of a document that are kept besides its best


def passages(config: SearchConfig) -> int:
    """How many passages a leg is asked for: `depth` counts documents where documents are found."""
    return min(DEEPEST, config.depth * PER_DOCUMENT) if config.documents else config.depth


def reduced(found: Candidates, index: Index, depth: int) -> Candidates:
    """Candidates with one passage for each document: the one that the legs together rank best.

    A leg's score for a document is that of its best passage there, whichever that is.
    """
    ranked = _by_document(found.retrieved, index)
    best = {document: own[0] for document, own in ranked.items()}
    retrieved = {leg: dict(_first(ranking, best, index, depth)) for leg, ranking in found.retrieved.items()}
    kept = {chunk for ranking in retrieved.values() for chunk in ranking}

    def score(leg: str, chunks: Sequence[int]) -> list[float]:
        families = [index.chunks_of(index.document_of(chunk)) for chunk in chunks]
        scores = iter(found.score(leg, [chunk for family in families for chunk in family]))
        return [max(next(scores) for _ in family) for family in families]

    further = {own[0]: tuple(own[1 : 1 + FURTHER]) for own in ranked.values() if own[0] in kept}
    return replace(found, retrieved=retrieved, score=score, further=further)


def once(order: Sequence[int], index: Index) -> list[int]:
    """An order without a second passage of a document: a reranker may have brought in a neighbour."""
    first: dict[int, int] = {}
    for chunk in order:
        first.setdefault(index.document_of(chunk), chunk)
    return list(first.values())


def _by_document(retrieved: Mapping[str, Ranking], index: Index) -> dict[int, list[int]]:
    """The passages of each document that a leg found, best first by reciprocal ranks over all legs."""
    merits: dict[int, float] = {}
    for ranking in retrieved.values():
        for place, chunk in enumerate(ranking, 1):
            merits[chunk] = merits.get(chunk, 0.0) + 1.0 / (RRF + place)
    families: dict[int, list[int]] = {}
    for chunk in sorted(merits, key=lambda chunk: (-merits[chunk], chunk)):
        families.setdefault(index.document_of(chunk), []).append(chunk)
    return families


def _first(ranking: Ranking, best: Mapping[int, int], index: Index, depth: int) -> Iterator[tuple[int, float]]:
    """The first `depth` documents of a leg, each by the passage that stands for it."""
    seen: set[int] = set()
    for chunk, score in ranking.items():
        document = index.document_of(chunk)
        if document not in seen:
            if len(seen) == depth:
                return
            seen.add(document)
            yield best[document], score
