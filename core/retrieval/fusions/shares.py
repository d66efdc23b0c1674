"""`convex`, `rsf` and `dbsn`: each leg counts by its share of the total weight; they differ in how scores are
normalised.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from core.parameter import Parameter
from core.retrieval.methods import Fusion, ScaledLegs, Spelling
from core.types import LegScore, SearchConfig

if TYPE_CHECKING:
    import numpy as np


def shares(legs: ScaledLegs, weights: Sequence[float], config: SearchConfig) -> np.ndarray:
    """Each leg's share of the weight times its normalised score; what a leg says nothing about counts as 0."""
    weighed: np.ndarray = legs.scores * per_leg(weights, legs.scores.ndim, sum(weights) or 1.0)
    return weighed


def share_times_score(leg: LegScore, config: SearchConfig) -> str:
    """
    >>> share_times_score(LegScore(12.2, 0.8, 1.0, 4, part=0.4), SearchConfig())
    '0.50 × 0.800'
    """
    share = leg.part / leg.normalised if leg.normalised else 0.0
    return f"{share:.2f} × {leg.normalised:.3f}"


def per_leg(weights: Sequence[float], dimensions: int, total: float = 1.0) -> np.ndarray:
    """One weight per leg, shaped so that it multiplies arrays whose first axis is the legs."""
    import numpy as np

    column: np.ndarray = np.array([weight / total for weight in weights]).reshape(-1, *[1] * (dimensions - 1))
    return column


def at_most_one(weights: Sequence[float], config: SearchConfig) -> float:
    """Weighted means of scores in 0..1 reach at most 1."""
    return 1.0


CONVEX = Fusion(
    name="convex",
    title="Convex",
    about="alpha x the dense score + (1 - alpha) x the other leg's, both normalised.",
    source="Bruch et al. 2023",
    parts=shares,
    ceiling=at_most_one,
    arithmetic=share_times_score,
    weighs=True,
    parameters=(
        Parameter("alpha", "Alpha", 0.0, 1.0, 0.01, "Weight of the dense side: 0 is words alone, 1 is meaning alone."),
    ),
    spellings=(
        Spelling("convex", SearchConfig(fusion="convex", normalisation="minmax"), "alpha"),
        Spelling("tm2c2", SearchConfig(fusion="convex", normalisation="tm2c2"), "alpha"),
    ),
)


RSF = Fusion(
    name="rsf",
    title="RSF",
    about="Relative score fusion: the mean of min-max scores; a leg that did not retrieve a chunk gives 0.",
    source="the compliance benchmark",
    parts=shares,
    ceiling=at_most_one,
    arithmetic=share_times_score,
    weighs=True,
    normalisation="minmax",
    spellings=(Spelling("rsf", SearchConfig(fusion="rsf", normalisation="minmax", missing="absent")),),
)


DBSN = Fusion(
    name="dbsn",
    title="DBSN",
    about="Distribution-based score normalisation: the mean of z-scores moved to 0..1.",
    source="the compliance benchmark",
    parts=shares,
    ceiling=at_most_one,
    arithmetic=share_times_score,
    weighs=True,
    normalisation="zscore",
    spellings=(Spelling("dbsn", SearchConfig(fusion="dbsn", normalisation="zscore", missing="absent")),),
)
