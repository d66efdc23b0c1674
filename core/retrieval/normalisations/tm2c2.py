"""`tm2c2`: theoretical minimum, observed maximum."""

from __future__ import annotations

from typing import TYPE_CHECKING

from core.retrieval.methods import Floor, Mask, Normalisation
from core.retrieval.normalisations.ranges import between

if TYPE_CHECKING:
    import numpy as np


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
