"""The loops of `kernels` for very large generations, compiled by numba and cached on disk."""

from __future__ import annotations

import numpy as np
from numba import njit

from core.retrieval.near_copies import ALIKE, LEAST, SIGNATURE


@njit(cache=True, nogil=True)
def accumulate(start: np.ndarray, where: np.ndarray, gains: np.ndarray, terms: np.ndarray, scores: np.ndarray) -> None:
    """Add the impacts of the query's terms to their chunks."""
    for t in terms:
        chunks, added = where[start[t] : start[t + 1]], gains[start[t] : start[t + 1]]
        for n in range(len(chunks)):
            scores[chunks[n]] += added[n]


@njit(cache=True, nogil=True)
def fitted(  # type: ignore[no-untyped-def]
    start: np.ndarray, where: np.ndarray, gains: np.ndarray, terms: np.ndarray, whole: np.ndarray, question: float
):
    """How well each entry of a field fits a question: `kernels.fit` in the same order of operations."""
    fits = np.zeros(len(whole), np.float64)
    accumulate(start, where, gains, terms, fits)
    for n in range(len(fits)):
        if fits[n] > 0.0:
            fits[n] = fits[n] / whole[n] * np.sqrt(fits[n] / question)
    return fits


@njit(cache=True, nogil=True)
def families(documents: np.ndarray, order: np.ndarray, bounds: np.ndarray):  # type: ignore[no-untyped-def]
    """The passages of documents one after the other, and where those of each begin."""
    starts = np.empty(len(documents), np.int64)
    size = 0
    for n in range(len(documents)):
        starts[n] = size
        size += bounds[documents[n] + 1] - bounds[documents[n]]
    every = np.empty(size, np.int64)
    for n in range(len(documents)):
        first, last = bounds[documents[n]], bounds[documents[n] + 1]
        every[starts[n] : starts[n] + last - first] = order[first:last]
    return every, starts


@njit(cache=True, nogil=True)
def spread(best: np.ndarray, owner_of: np.ndarray, scores: np.ndarray) -> None:
    """Add to each score what its owner has."""
    for n in range(len(scores)):
        scores[n] += best[owner_of[n]]


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
def _holds(rows: np.ndarray, one: int, other: int) -> bool:
    """Whether the signature of a text has all the words of another that are looked up."""
    for at in range(3, SIGNATURE):
        probe = rows[other, at]
        if not (rows[one, SIGNATURE + (probe >> 5)] >> (probe & 31)) & 1:
            return False
    return True


@njit(cache=True, nogil=True)
def possible(rows: np.ndarray):  # type: ignore[no-untyped-def]
    """Which texts may be copies of earlier ones: `near_copies.possible`, below the diagonal."""
    may = np.zeros((len(rows), len(rows)), np.bool_)
    for one in range(len(rows)):
        words, text, telling = rows[one, 0], rows[one, 1], rows[one, 2]
        for n in range(one):
            if text == rows[n, 1]:
                may[one, n] = True
            elif words >= LEAST:
                others = rows[n, 0]
                alike = telling == rows[n, 2] and words >= ALIKE * others and others >= ALIKE * words
                may[one, n] = alike or (words <= others and _holds(rows, n, one))
    return may


@njit(cache=True, nogil=True)
def _sink(heap: np.ndarray, ids: np.ndarray, size: int, score: float, n: int) -> None:
    """Put a score in the place of the root of a heap whose root is the worst; of equal scores the higher number is worse."""
    at = 0
    while 2 * at + 1 < size:
        child = 2 * at + 1
        right = child + 1
        if right < size and (heap[right] < heap[child] or (heap[right] == heap[child] and ids[right] > ids[child])):
            child = right
        if heap[child] > score or (heap[child] == score and ids[child] < n):
            break
        heap[at], ids[at] = heap[child], ids[child]
        at = child
    heap[at], ids[at] = score, n


@njit(cache=True, nogil=True)
def best(scores: np.ndarray, allowed: np.ndarray, depth: int):  # type: ignore[no-untyped-def]
    """The `depth` best positive scores, best first, of equal ones the lower number: by a heap of those kept."""
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
                heap[at], ids[at] = score, n
            else:
                _sink(heap, ids, depth, score, n)
            if size == depth:
                low = heap[0]
    for last in range(size - 1, 0, -1):  # the worst goes to the end, and so on
        score, worst = heap[last], ids[last]
        heap[last], ids[last] = heap[0], ids[0]
        _sink(heap, ids, last, score, worst)
    return ids[:size], heap[:size]
