"""Several embedders as one: unit vectors side by side."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np

COMBINATIONS = ("concatenation",)


def concatenation(parts: Sequence[np.ndarray]) -> np.ndarray:
    """Unit vectors side by side, scaled by 1 / sqrt(n): again a unit vector, and the dot product of two is the mean
    of the parts' cosines.

    >>> import numpy as np
    >>> a = concatenation([np.array([1.0, 0.0]), np.array([0.0, 1.0])])
    >>> b = concatenation([np.array([0.6, 0.8]), np.array([0.0, 1.0])])
    >>> round(float(a @ b), 3)  # (0.6 + 1.0) / 2
    0.8
    """
    import numpy as np

    return np.concatenate(parts, axis=-1).astype(np.float32) / np.float32(np.sqrt(len(parts)))
