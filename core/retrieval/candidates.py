"""What the legs found for one query, and the one ranking that a configuration makes of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

from core.ports import Guide, Ranking
from core.retrieval.config import weights as leg_weights
from core.retrieval.fusion import FUSIONS, ScaledLegs, best_first, ceiling, on_one_scale
from core.retrieval.table import CandidateTable, stacked
from core.types import SearchConfig

if TYPE_CHECKING:
    import numpy as np


@dataclass(frozen=True)
class Candidates:
    """Everything the legs found for one query: enough to fuse again without searching again."""

    retrieved: Mapping[str, Ranking]
    scores: Mapping[str, Mapping[int, float]]
    floors: Mapping[str, float]
    guides: Mapping[str, Guide] = field(default_factory=dict)  # legs that know by which path they came

    @cached_property
    def table(self) -> CandidateTable:
        """The same as arrays: made when first fused, and not again when a slider moves."""
        return stacked(self.retrieved, self.scores)


@dataclass(frozen=True, slots=True)
class Fused:
    """One ranking from all legs, with what each leg gave."""

    ranking: Ranking
    chunks: np.ndarray  # all candidates, in the order of their numbers
    legs: ScaledLegs
    weights: Mapping[str, float]
    confidence: float

    def normalised(self, leg: str) -> dict[int, float]:
        """What a leg gave, on the common scale, to each candidate that it says anything about."""
        n = self.legs.names.index(leg)
        here = self.legs.here[n]
        return dict(zip(self.chunks[here].tolist(), self.legs.scores[n, here].tolist(), strict=True))


def fuse(candidates: Candidates, config: SearchConfig) -> Fused:
    """Candidates to one ranking: arithmetic alone, so sliders can call it as often as they move."""
    import numpy as np

    table, names = candidates.table, sorted(candidates.scores)
    floors = np.array([candidates.floors[name] for name in names])
    legs = on_one_scale(names, table.scores, table.here, table.places, config.normalisation, floors)
    given = leg_weights(config)
    weights = [given[name] for name in legs.names]
    scores = FUSIONS[config.fusion](legs, weights, config.rrf_k)
    order = best_first(scores)
    ranking = dict(zip(table.chunks[order].tolist(), scores[order].tolist(), strict=True))
    best = next(iter(ranking.values()), 0.0)
    top = ceiling(config.fusion, weights, config.rrf_k, best)
    return Fused(ranking, table.chunks, legs, given, best / top if top > 0 else 0.0)
