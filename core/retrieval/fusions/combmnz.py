"""`combmnz`: CombSUM times the number of legs that retrieved the chunk."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from core.retrieval.methods import Fusion, ScaledLegs, Spelling
from core.types import SearchConfig

if TYPE_CHECKING:
    import numpy as np


def multiplied(legs: ScaledLegs, weights: Sequence[float], config: SearchConfig) -> np.ndarray:
    """Each leg's normalised score times the number of legs that retrieved the chunk."""
    product: np.ndarray = legs.scores * (legs.places > 0).sum(axis=0)
    return product


def best_everywhere(weights: Sequence[float], config: SearchConfig) -> float:
    """1 from each of n legs, times n."""
    return float(len(weights)) ** 2


COMBMNZ = Fusion(
    name="combmnz",
    title="CombMNZ",
    about="The sum of normalised scores times the number of legs that retrieved a chunk: agreement counts.",
    source="Fox and Shaw 1994",
    parts=multiplied,
    ceiling=best_everywhere,
    spellings=(Spelling("combmnz", SearchConfig(fusion="combmnz", normalisation="minmax", missing="absent")),),
)
