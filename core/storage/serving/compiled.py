"""The loops of `kernels` for very large generations, compiled by numba and cached on disk."""

from __future__ import annotations

import numpy as np
from numba import njit


@njit(cache=True, nogil=True)
def accumulate(start: np.ndarray, where: np.ndarray, gains: np.ndarray, terms: np.ndarray, scores: np.ndarray) -> None:
    """Add the impacts of the query's terms to their chunks."""
    for t in terms:
        chunks, added = where[start[t] : start[t + 1]], gains[start[t] : start[t + 1]]
        for n in range(len(chunks)):
            scores[chunks[n]] += added[n]


@njit(cache=True, nogil=True)
def lookup(
    start: np.ndarray, where: np.ndarray, gains: np.ndarray, terms: np.ndarray, wanted: np.ndarray, scores: np.ndarray
) -> None:
    """Add the impacts of the terms for a few chunks."""
    for t in terms:
        chunks, added = where[start[t] : start[t + 1]], gains[start[t] : start[t + 1]]
        for n in range(len(wanted)):
            at = np.searchsorted(chunks, wanted[n])
            if at < len(chunks) and chunks[at] == wanted[n]:
                scores[n] += added[at]


@njit(cache=True, nogil=True)
def best(scores: np.ndarray, allowed: np.ndarray, depth: int):  # type: ignore[no-untyped-def]
    """The `depth` best positive scores, in a heap whose root is the worst one kept; of equal scores the lower number stays."""
    heap, ids = np.empty(depth, scores.dtype), np.empty(depth, np.uint32)
    size, low, check = 0, 0.0, len(allowed) > 0
    for n in range(np.uint32(len(scores))):
        score = scores[n]
        if score > low:  # rarely true, so the branch predictor gets it right
            if check and not allowed[n]:
                continue
            if size < depth:
                at = size
                size += 1
                while at > 0 and (
                    heap[(at - 1) // 2] > score or (heap[(at - 1) // 2] == score and ids[(at - 1) // 2] < n)
                ):
                    heap[at], ids[at] = heap[(at - 1) // 2], ids[(at - 1) // 2]
                    at = (at - 1) // 2
            else:
                at = 0
                while 2 * at + 1 < depth:
                    child = 2 * at + 1
                    right = child + 1
                    if right < depth and (
                        heap[right] < heap[child] or (heap[right] == heap[child] and ids[right] > ids[child])
                    ):
                        child = right
                    if heap[child] > score or (heap[child] == score and ids[child] < n):
                        break
                    heap[at], ids[at] = heap[child], ids[child]
                    at = child
            heap[at], ids[at] = score, n
            if size == depth:
                low = heap[0]
    return ids[:size], heap[:size]
