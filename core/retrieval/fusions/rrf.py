"""`rrf`: reciprocal rank fusion."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from core.parameter import Parameter
from core.retrieval.fusions.shares import per_leg
from core.retrieval.methods import Fusion, ScaledLegs, Spelling
from core.types import LegScore, SearchConfig

if TYPE_CHECKING:
    import numpy as np


def reciprocal_ranks(legs: ScaledLegs, weights: Sequence[float], config: SearchConfig) -> np.ndarray:
    """weight / (k + rank) for each leg that retrieved the chunk, 0 for the others."""
    import numpy as np

    return np.where(legs.places > 0, per_leg(weights, legs.places.ndim) / (config.rrf_k + legs.places), 0.0)


def first_everywhere(weights: Sequence[float], config: SearchConfig) -> float:
    """What a chunk gets that every leg ranks first."""
    return sum(weights) / (config.rrf_k + 1)


def weight_by_rank(leg: LegScore, config: SearchConfig) -> str:
    """
    >>> weight_by_rank(LegScore(12.2, 12.2, 1.0, 4), SearchConfig(fusion="rrf"))
    '1 / (60 + 4)'
    """
    return f"{leg.weight:g} / ({config.rrf_k} + {leg.rank})" if leg.rank else "0"


RRF = Fusion(
    name="rrf",
    title="RRF",
    about="The sum of 1 / (k + rank) over the legs that retrieved a chunk: ranks count, scores do not.",
    source="Cormack et al. 2009",
    parts=reciprocal_ranks,
    ceiling=first_everywhere,
    arithmetic=weight_by_rank,
    weighs=True,
    normalisation="none",
    parameters=(
        Parameter("rrf_k", "RRF k", 1, 10_000, 1, "The larger, the less the first ranks stand out.", reach=200),
    ),
    by_rank=True,
    spellings=(Spelling("rrf", SearchConfig(fusion="rrf", normalisation="none", missing="absent"), "rrf_k"),),
)
