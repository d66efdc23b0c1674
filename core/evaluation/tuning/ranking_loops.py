"""The loop of a sweep that numpy has no function for: ranks of judged units without sorting. Compiled, cached on
disk.
"""

from __future__ import annotations

import numpy as np
from numba import njit


def rank_judged(fused: np.ndarray, units: np.ndarray, starts: np.ndarray, judged: np.ndarray) -> np.ndarray:
    """The rank of every judged unit, 0 where no candidate belongs to it."""
    places = np.zeros(len(judged), np.int32)
    _rank(np.ascontiguousarray(fused), units, starts, judged, places)
    return places


def warm() -> None:
    """Compile the loop, or load it."""
    rank_judged(np.zeros((1, 1)), np.zeros((1, 1), np.int32), np.zeros(2, np.int64), np.zeros(0, np.int32))


@njit(cache=True, nogil=True)
def _rank(
    fused: np.ndarray, units: np.ndarray, starts: np.ndarray, judged: np.ndarray, places: np.ndarray
) -> None:  # pragma: no cover
    """A unit's rank is one more than the units whose best candidate beats its own; the first of equals wins."""
    width = units.shape[1]
    best, first = np.empty(width, np.float64), np.empty(width, np.int32)
    for q in range(units.shape[0]):
        if starts[q] == starts[q + 1]:
            continue
        count = 0
        for c in range(width):
            unit = units[q, c]
            if unit < 0:
                break
            if unit >= count:  # units are numbered in the order in which they appear
                count = unit + 1
                best[unit], first[unit] = fused[q, c], c
            elif fused[q, c] > best[unit]:
                best[unit], first[unit] = fused[q, c], c
        for j in range(starts[q], starts[q + 1]):
            unit = judged[j]
            if unit < 0 or best[unit] == -np.inf:
                continue
            place = 1
            for other in range(count):
                if best[other] > best[unit] or (best[other] == best[unit] and first[other] < first[unit]):
                    place += 1
            places[j] = place
