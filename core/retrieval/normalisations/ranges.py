"""`minmax`, `max` and `tm2c2`: scores between a lowest and a highest."""

from __future__ import annotations

from typing import TYPE_CHECKING

from core.retrieval.methods import Floor, Mask, Normalisation

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


def minmax(scores: np.ndarray, here: Mask = True, floor: Floor = 0.0) -> np.ndarray:
    """The worst becomes 0 and the best 1. A constant leg is 1 where it says anything at all, else 0.

    >>> import numpy as np
    >>> minmax(np.array([2.0, 4.0, 3.0])).tolist()
    [0.0, 1.0, 0.5]
    >>> minmax(np.array([[7.0, 7.0], [0.0, 0.0]])).tolist()
    [[1.0, 1.0], [0.0, 0.0]]
    """
    return between(scores, here, lowest(scores, here), floor)


MINMAX = Normalisation(
    name="minmax",
    title="Min-max",
    about="The worst candidate of a leg becomes 0, the best 1.",
    source="Bruch et al. 2023",
    scale=minmax,
)


def by_max(scores: np.ndarray, here: Mask = True, floor: Floor = 0.0) -> np.ndarray:
    """Share of the best score; what is below zero counts as zero.

    >>> import numpy as np
    >>> by_max(np.array([4.0, 1.0, -2.0])).tolist()
    [1.0, 0.25, 0.0]
    """
    import numpy as np

    high = highest(scores, here)
    return np.where(high > 0, np.maximum(0.0, scores) / np.where(high > 0, high, 1.0), 0.0)


MAX = Normalisation(
    name="max",
    title="Share of the best",
    about="Each score divided by the best of its leg; what is below zero counts as zero.",
    source="Lee 1997",
    scale=by_max,
)


def theoretical(scores: np.ndarray, here: Mask = True, floor: Floor = 0.0) -> np.ndarray:
    """0 is the lowest score the leg could give (0 for BM25, -1 for cosine), 1 the best candidate.

    >>> import numpy as np
    >>> theoretical(np.array([0.5, 0.125]), floor=-1.0).tolist()
    [1.0, 0.75]
    """
    return between(scores, here, floor, floor)


TM2C2 = Normalisation(
    name="tm2c2",
    title="Theoretical min-max",
    about="The lowest score that a leg could give becomes 0 (0 for BM25, -1 for cosine), the best candidate 1.",
    source="Bruch et al. 2023",
    scale=theoretical,
)
