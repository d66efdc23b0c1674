"""`combsum` and `combmnz`: the sum of normalised scores, as it is or times the number of legs that retrieved the
chunk.
"""

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


def multiplied(legs: ScaledLegs, weights: Sequence[float], config: SearchConfig) -> np.ndarray:
    """Each leg's normalised score times the number of legs that retrieved the chunk."""
    product: np.ndarray = legs.scores * (legs.places > 0).sum(axis=0)
    return product


def best_times_legs(weights: Sequence[float], config: SearchConfig) -> float:
    """1 from each of n legs, times n."""
    return float(len(weights)) ** 2


def score_times_legs(leg: LegScore, config: SearchConfig) -> str:
    """
    >>> score_times_legs(LegScore(12.2, 0.8, 1.0, 4, part=1.6), SearchConfig())
    '0.800 × 2 legs'
    """
    legs = round(leg.part / leg.normalised) if leg.normalised else 0
    return f"{leg.normalised:.3f} × {legs} {'leg' if legs == 1 else 'legs'}"


COMBMNZ = Fusion(
    name="combmnz",
    title="CombMNZ",
    about="The sum of normalised scores times the number of legs that retrieved a chunk: agreement counts.",
    source="Fox and Shaw 1994",
    parts=multiplied,
    ceiling=best_times_legs,
    arithmetic=score_times_legs,
    spellings=(Spelling("combmnz", SearchConfig(fusion="combmnz", normalisation="minmax", missing="absent")),),
)
