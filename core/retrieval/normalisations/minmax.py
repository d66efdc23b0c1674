"""`minmax`: the worst candidate becomes 0, the best 1."""

from __future__ import annotations

from typing import TYPE_CHECKING

from core.retrieval.methods import Floor, Mask, Normalisation
from core.retrieval.normalisations.ranges import between, lowest

if TYPE_CHECKING:
    import numpy as np


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
