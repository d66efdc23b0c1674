"""What a learned ranker sees of each candidate: figures that people can read, the same in training and in a search."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import date
from functools import lru_cache
from math import log1p, nan
from typing import TYPE_CHECKING

from core.analysis import analyser
from core.errors import Unavailable
from core.ports import Index
from core.retrieval.legs import LEGS
from core.retrieval.method_values import CandidateFeatures
from core.types import FIELDS, Graph

if TYPE_CHECKING:
    import numpy as np

    from core.retrieval.candidates import Candidates, Fused

LINKS = "links to"  # the relation between documents
FUSED = "fused score"
_FIELDS = {name: about for name, about in FIELDS.items() if name != "questions"}  # the columns of trained rankers
ABOUT: Mapping[str, str] = {
    FUSED: "what all legs together say, from 0 to 1 among the candidates",
    "fused place": "one over its place before reranking",
    **{f"{leg} score": f"what {record.title} says, from 0 to 1 among the candidates" for leg, record in LEGS.items()},
    **{
        f"{leg} place": f"one over its place for {record.title}; 0 where it was not found"
        for leg, record in LEGS.items()
    },
    **{f"{field} match": f"what the words of the question score there: {about}" for field, about in _FIELDS.items()},
    "words covered": "the share of the question's words that the passage holds",
    "title covered": "the share of the question's words that the title holds",
    "length": "the logarithm of the characters of the passage",
    "position": "where in its document the passage starts, from 0 to 1",
    "document size": "the logarithm of the passages of its document",
    "same document": "the share of candidates that belong to its document",
    "links": "the logarithm of the links from and to its document",
    "age": "the logarithm of the days since the document is in force",
    "overdue": "the logarithm of the days since its review was due; 0 before",
    "question length": "the words of the question",
}
"""Every feature, and what it means."""


def names_of(legs: Sequence[str]) -> tuple[str, ...]:
    """The features of a search with these legs, in the order of their columns.

    >>> names_of(("bm25", "dense"))[:6]
    ('fused score', 'fused place', 'bm25 score', 'bm25 place', 'dense score', 'dense place')
    """
    own = {f"{leg} {part}" for leg in LEGS for part in ("score", "place")}
    used = [f"{leg} {part}" for leg in sorted(legs) for part in ("score", "place")]
    return (FUSED, "fused place", *used, *(name for name in ABOUT if name not in own | {FUSED, "fused place"}))


def features(chunks: Sequence[int], found: Candidates, fused: Fused, index: Index, today: date) -> CandidateFeatures:
    """The features of candidates of one query; what is not known of one is NaN."""
    import numpy as np

    own = _given(fused)
    around = _Around(found, index, today)
    rows = [(*own(chunk), *around.row(chunk)) for chunk in chunks]
    names = names_of(fused.legs.names)
    return CandidateFeatures(tuple(chunks), names, np.array(rows, np.float32).reshape(len(rows), len(names)))


def _given(fused: Fused) -> Callable[[int], list[float]]:
    """What the fusion and each leg say of a candidate."""
    at = {chunk: n for n, chunk in enumerate(fused.chunks.tolist())}
    place = {chunk: n for n, chunk in enumerate(fused.ranking, 1)}
    scores = list(fused.ranking.values()) or [0.0]
    high, low = scores[0], scores[-1]
    legs = [
        (raw, places, float(raw[here].min()), float(raw[here].max())) if here.any() else (raw, places, nan, nan)
        for raw, here, places in zip(fused.legs.raw, fused.legs.here, fused.legs.places, strict=True)
    ]

    def values(chunk: int) -> Iterator[float]:
        n = at[chunk]
        yield from (_share(fused.ranking[chunk], low, high), 1.0 / place[chunk])
        for (raw, places, least, most), here in zip(legs, fused.legs.here, strict=True):
            yield _share(float(raw[n]), least, most) if here[n] else nan
            yield 1.0 / float(places[n]) if places[n] else 0.0

    return lambda chunk: list(values(chunk))


def _share(value: float, low: float, high: float) -> float:
    """Where a value lies between two others.

    >>> _share(3.0, 2.0, 4.0), _share(1.0, 1.0, 1.0)
    (0.5, 1.0)
    """
    return (value - low) / (high - low) if high > low else 1.0


class _Around:
    """What the documents say, for the candidates of one query."""

    def __init__(self, found: Candidates, index: Index, today: date) -> None:
        self.index, self.today = index, today
        self.analyse = analyser(index.profile.lexical)
        self.terms = frozenset(self.analyse(found.query))
        candidates = {chunk for ranking in found.retrieved.values() for chunk in ranking}
        candidates |= {chunk for others in found.further.values() for chunk in others}
        self.documents = Counter(index.document_of(chunk) for chunk in candidates)
        self.links, self.fields = _links(index), index.fields(found.query, tuple(_FIELDS))

    def row(self, chunk: int) -> list[float]:
        """In the order of `names_of`."""
        passage, document = self.index.passage(chunk), self.index.document_of(chunk)
        facts, given = self.index.documents[document], self.fields(chunk)
        size = max(1, len(self.index.text(document)))
        return [
            *(given[field] for field in _FIELDS),
            self._covered(self.index.excerpt(chunk)),
            self._covered(facts.title),
            log1p(passage.end - passage.start),
            passage.start / size,
            log1p(len(self.index.chunks_of(document))),
            self.documents[document] / self.documents.total(),
            self.links(document),
            _days(facts.effective_date, self.today),
            max(0.0, _days(facts.review_due, self.today)),
            float(len(self.terms)),
        ]

    def _covered(self, text: str) -> float:
        return len(self.terms & _terms(self.analyse, text)) / len(self.terms) if self.terms else 0.0


@lru_cache(maxsize=4096)
def _terms(analyse: Callable[[str], list[str]], text: str) -> frozenset[str]:
    """Of a passage or title: the same ones are candidates of many questions."""
    return frozenset(analyse(text))


def _days(day: str, today: date) -> float:
    """The logarithm of the days since a day, negative before it; NaN without a day."""
    if not day:
        return nan
    gone = (today - date.fromisoformat(day)).days
    return log1p(gone) if gone >= 0 else -log1p(-gone)


def _links(index: Index) -> Callable[[int], float]:
    try:
        counts = _link_counts(index.graph())
    except Unavailable:
        return lambda _: nan
    return lambda document: log1p(float(counts[document]))


@lru_cache(maxsize=8)
def _link_counts(graph: Graph) -> np.ndarray:
    """How many links each document gives or gets."""
    import numpy as np

    counts = np.zeros(len(graph.document_nodes))
    if LINKS in graph.relation_names:
        linked = np.concatenate([[0], np.cumsum(graph.relations == graph.relation_names.index(LINKS))])
        nodes = graph.document_nodes
        counts = (linked[graph.related_start[nodes + 1]] - linked[graph.related_start[nodes]]).astype(float)
    return counts
