"""How near passages of different documents usually are: what a cosine is worth depends on it."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

_SAMPLE = 512  # passages; their order is that of ids, which come from content
_LEAST = 1e-3  # the least deviation of cosines that is believed


def spread_of(vectors: Callable[[np.ndarray], np.ndarray], document_of: np.ndarray, size: int) -> tuple[float, float]:
    """The mean and the deviation of cosines between passages of different documents, in a sample."""
    some = np.linspace(0, size - 1, min(_SAMPLE, size)).astype(np.int64)
    if not size:
        return 0.0, 1.0
    rows, homes = vectors(some), document_of[some]
    apart = (rows @ rows.T)[homes[:, None] != homes[None, :]]
    return (float(apart.mean()), max(_LEAST, float(apart.std()))) if len(apart) else (0.0, 1.0)
