"""Lowest and highest scores of legs, and scores between two bounds."""

from __future__ import annotations

from typing import TYPE_CHECKING

from core.retrieval.methods import Floor, Mask

if TYPE_CHECKING:
    import numpy as np


def highest(scores: np.ndarray, here: Mask) -> np.ndarray:
    """The best score of each leg; minus infinity for a leg that says nothing."""
    import numpy as np

    high: np.ndarray = scores.max(axis=-1, keepdims=True, initial=-np.inf, where=here)
    return high


def lowest(scores: np.ndarray, here: Mask) -> np.ndarray:
    """The worst score of each leg; infinity for a leg that says nothing."""
    import numpy as np

    low: np.ndarray = scores.min(axis=-1, keepdims=True, initial=np.inf, where=here)
    return low


def between(scores: np.ndarray, here: Mask, low: Floor, floor: Floor) -> np.ndarray:
    """`low` becomes 0 and the best score 1. A constant leg is 1 where it is above its floor, else 0."""
    import numpy as np

    width = highest(scores, here) - low
    flat = width <= 0
    scaled = np.maximum(0.0, (scores - low) / np.where(flat, 1.0, width))  # rounding can take a cosine below -1
    result: np.ndarray = np.where(flat, scores > floor, scaled) if flat.any() else scaled
    return result
