"""`combsum`: the sum of normalised scores."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from core.retrieval.methods import Fusion, ScaledLegs, Spelling
from core.types import LegScore, SearchConfig

if TYPE_CHECKING:
    import numpy as np


def scores(legs: ScaledLegs, weights: Sequence[float], config: SearchConfig) -> np.ndarray:
    """Each leg's normalised score."""
    return legs.scores


def best_everywhere(weights: Sequence[float], config: SearchConfig) -> float:
    """1 from each leg."""
    return float(len(weights))


def score(leg: LegScore, config: SearchConfig) -> str:
    """The normalised score as it is."""
    return f"{leg.normalised:.3f}"


COMBSUM = Fusion(
    name="combsum",
    title="CombSUM",
    about="The sum of normalised scores.",
    source="Fox and Shaw 1994",
    parts=scores,
    ceiling=best_everywhere,
    arithmetic=score,
    spellings=(Spelling("combsum", SearchConfig(fusion="combsum", normalisation="minmax", missing="absent")),),
)
