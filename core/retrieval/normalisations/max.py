"""`max`: share of the best score."""

from __future__ import annotations

from typing import TYPE_CHECKING

from core.retrieval.methods import Floor, Mask, Normalisation
from core.retrieval.normalisations.ranges import highest

if TYPE_CHECKING:
    import numpy as np


def by_max(scores: np.ndarray, here: Mask = True, floor: Floor = 0.0) -> np.ndarray:
    """Share of the best score; what is below zero counts as zero.

    >>> import numpy as np
    >>> by_max(np.array([4.0, 1.0, -2.0])).tolist()
    [1.0, 0.25, 0.0]
    """
    import numpy as np

    high = highest(scores, here)
    return np.where(high > 0, np.maximum(0.0, scores / np.where(high > 0, high, 1.0)), 0.0)


MAX = Normalisation(
    name="max",
    title="Share of the best",
    about="Each score divided by the best of its leg; what is below zero counts as zero.",
    source="Lee 1997",
    scale=by_max,
)
