"""The candidates of one query, and their fusion into one ranking."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

from core.errors import Unavailable
from core.ports import ExplainsPath, Ranking
from core.retrieval.candidate_table import CandidateTable, stacked
from core.retrieval.fusions import FUSIONS
from core.retrieval.leg_weights import leg_weights
from core.retrieval.methods import ScaledLegs
from core.retrieval.ordering import best_first
from core.retrieval.scaling import added, confidence, scale
from core.types import SearchConfig

if TYPE_CHECKING:
    import numpy as np

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
    further: Mapping[int, tuple[int, ...]] = field(default_factory=dict)  # other passages of a candidate's document
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
    score: Scorer = lambda leg, chunks: [scores[leg].get(chunk, floors[leg]) for chunk in chunks]
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
