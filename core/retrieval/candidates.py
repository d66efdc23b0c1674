"""The candidates of one query, and their fusion into one ranking."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

from core.errors import Unavailable
from core.ports import ExplainsPath, Ranking
from core.retrieval.fusions import FUSIONS
from core.retrieval.methods import ScaledLegs
from core.retrieval.ordering import best_first
from core.retrieval.scaling import added, confidence, leg_weights, scale
from core.types import SearchConfig

if TYPE_CHECKING:
    import numpy as np


FEW = 128  # scores


class CandidateTable(NamedTuple):
    """Legs in the order of their names, by candidates."""

    chunks: np.ndarray  # the numbers of the candidates
    scores: np.ndarray  # what each leg gave
    places: np.ndarray  # in the leg's own ranking; 0 where it did not retrieve


def stacked(retrieved: Mapping[str, Ranking], scores: Mapping[str, Mapping[int, float]]) -> CandidateTable:
    """Rankings and scores by leg as one table.

    >>> table = stacked({"a": {7: 0.9}, "b": {5: 2.0, 7: 1.0}}, {"a": {7: 0.9}, "b": {5: 2.0, 7: 1.0}})
    >>> table.chunks.tolist(), table.scores.tolist(), table.places.tolist()
    ([5, 7], [[0.0, 0.9], [2.0, 1.0]], [[0, 1], [1, 2]])
    """
    import numpy as np

    names = sorted(scores)
    scored, rankings = [scores[name] for name in names], [retrieved[name] for name in names]
    if sum(map(len, scored)) <= FEW:
        return _few(scored, rankings)
    columns = [np.fromiter(own, np.int64, len(own)) for own in scored]
    orders = [column.argsort() for column in columns]
    chunks, spots = _union([column[order] for column, order in zip(columns, orders, strict=True)])
    matrix, places = np.zeros((len(names), len(chunks))), np.zeros((len(names), len(chunks)), np.int32)
    for n, (order, at) in enumerate(zip(orders, spots, strict=True)):
        matrix[n, at] = np.fromiter(scored[n].values(), float, len(order))[order]
        if rankings[n] is not scored[n]:
            own = np.fromiter(rankings[n], np.int64, len(rankings[n]))
            order = own.argsort()
            at = chunks.searchsorted(own[order])  # sorted keys are found several times quicker
        places[n, at] = order + 1
    return CandidateTable(chunks, matrix, places)


def _union(columns: Sequence[np.ndarray]) -> tuple[np.ndarray, list[Any]]:
    """All numbers of sorted columns in order, and where those of each column stand among them."""
    import numpy as np

    if all(np.array_equal(columns[0], column) for column in columns[1:]):
        return columns[0], [slice(None)] * len(columns)
    every = np.sort(np.concatenate(columns))
    union = np.concatenate([every[:1], every[1:][every[1:] != every[:-1]]])
    return union, [union.searchsorted(column) for column in columns]


def _few(scored: Sequence[Mapping[int, float]], rankings: Sequence[Ranking]) -> CandidateTable:
    """The same for a handful of candidates, where each call of numpy costs more than what it does."""
    import numpy as np

    chunks = sorted(set().union(*scored))
    places = [dict(zip(ranking, range(1, len(ranking) + 1), strict=True)) for ranking in rankings]
    return CandidateTable(
        np.array(chunks, np.int64),
        np.array([[own.get(chunk, 0.0) for chunk in chunks] for own in scored]),
        np.array([[order.get(chunk, 0) for chunk in chunks] for order in places], np.int32),
    )


Scorer = Callable[[str, Sequence[int]], Sequence[float]]
"""The exact scores that a leg gives to chunks it did not retrieve."""


@dataclass(frozen=True)
class Candidates:
    """Everything the legs retrieved for one query: enough to rank again without another search."""

    query: str
    retrieved: Mapping[str, Ranking]
    floors: Mapping[str, float]
    score: Scorer
    guides: Mapping[str, ExplainsPath] = field(default_factory=dict)  # legs that can explain the path to a chunk
    vector: Callable[[], np.ndarray] | None = None  # the query as the dense leg saw it
    further: Mapping[int, Sequence[int]] = field(default_factory=dict)  # other passages of a candidate's document
    also: tuple[str, ...] = ()  # other wordings of the query, by synonyms

    def only(self, legs: Sequence[str]) -> Candidates:
        """The candidates of some of the legs; a leg that failed is left out, and none at all is an error."""
        names = [leg for leg in legs if leg in self.retrieved]
        if not names:
            raise Unavailable(f"No leg could answer: {', '.join(legs)} failed.")
        if len(names) == len(self.retrieved):
            return self
        retrieved = {leg: self.retrieved[leg] for leg in names}
        return replace(self, retrieved=retrieved, floors={leg: self.floors[leg] for leg in names})

    @cached_property
    def as_retrieved(self) -> CandidateTable:
        """Arrays of what each leg retrieved; built once, however often a slider moves."""
        return stacked(self.retrieved, self.retrieved)

    @cached_property
    def completed(self) -> CandidateTable:
        """The same with the exact score of every candidate."""
        union = sorted({chunk for ranking in self.retrieved.values() for chunk in ranking})
        scores: dict[str, Mapping[int, float]] = {}
        for leg, ranking in self.retrieved.items():
            absent = [chunk for chunk in union if chunk not in ranking]
            scores[leg] = {**ranking, **dict(zip(absent, self.score(leg, absent), strict=True))} if absent else ranking
        return stacked(self.retrieved, scores)


def stored(
    retrieved: Mapping[str, Ranking],
    scores: Mapping[str, Mapping[int, float]],
    floors: Mapping[str, float],
    query: str = "",
) -> Candidates:
    """Candidates with stored exact scores; a chunk without one gets the leg's floor."""

    def score(leg: str, chunks: Sequence[int]) -> list[float]:
        return [scores[leg].get(chunk, floors[leg]) for chunk in chunks]

    return Candidates(query, retrieved, floors, score)


class Fused(NamedTuple):
    """One ranking from all legs, with what each leg gave."""

    ranking: Ranking
    chunks: np.ndarray  # all candidates, in the order of their numbers
    legs: ScaledLegs
    parts: np.ndarray  # what each leg adds to the fused score
    weights: Mapping[str, float]
    confidence: float

    def normalised(self, leg: str) -> dict[int, float]:
        """The normalised score of a leg for each candidate that it scores."""
        n = self.legs.names.index(leg)
        here = self.legs.here[n]
        return dict(zip(self.chunks[here].tolist(), self.legs.scores[n, here].tolist(), strict=True))


def fuse(candidates: Candidates, config: SearchConfig) -> Fused:
    """Candidates to one ranking: arithmetic alone, so sliders can call it as often as they move."""
    import numpy as np

    exact = config.missing == "exact" and len(candidates.retrieved) > 1
    table = candidates.completed if exact else candidates.as_retrieved
    names = sorted(candidates.retrieved)
    floors = np.array([candidates.floors[name] for name in names])
    legs = scale(names, table.scores, table.places, floors, config)
    by_leg = leg_weights(config)
    weights = [by_leg[name] for name in names]
    parts = FUSIONS[config.fusion].parts(legs, weights, config)
    scores = added(parts)
    order = best_first(scores)
    ranking = dict(zip(table.chunks[order].tolist(), scores[order].tolist(), strict=True))
    best = next(iter(ranking.values()), 0.0)
    return Fused(ranking, table.chunks, legs, parts, by_leg, confidence(best, weights, config))
