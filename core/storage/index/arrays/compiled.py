"""The loops of `kernels` for very large generations, compiled by numba and cached on disk."""

from __future__ import annotations

import numpy as np
from numba import njit

from core.retrieval.document_ranking import FURTHER, RRF
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
def families(documents: np.ndarray, bounds: np.ndarray):  # type: ignore[no-untyped-def]
    """Where the passages of documents stand, one document after the other, and where those of each begin."""
    starts, size = np.empty(len(documents), np.int64), 0
    for n in range(len(documents)):
        starts[n] = size
        size += bounds[documents[n] + 1] - bounds[documents[n]]
    places = np.empty(size, np.int64)
    for n in range(len(documents)):
        first = bounds[documents[n]]
        for at in range(bounds[documents[n] + 1] - first):
            places[starts[n] + at] = first + at
    return places, starts


@njit(cache=True, nogil=True)
def _numbered(values: np.ndarray):  # type: ignore[no-untyped-def]
    """Numbers of distinct values in the order in which they occur, and where each occurs first: by a table of
    hashes.
    """
    mask = 1
    while mask < 2 * len(values):
        mask = 2 * mask + 1
    slots = np.full(mask + 1, -1, np.int64)
    numbers, first = np.empty(len(values), np.int64), np.empty(len(values), np.int64)
    size = 0
    for n in range(len(values)):
        at = values[n] & mask
        while slots[at] >= 0 and values[first[slots[at]]] != values[n]:
            at = (at + 1) & mask
        if slots[at] < 0:
            slots[at], first[size] = size, n
            size += 1
        numbers[n] = slots[at]
    return numbers, first[:size]


@njit(cache=True, nogil=True)
def _families(found: np.ndarray, homes: np.ndarray, ends: np.ndarray):  # type: ignore[no-untyped-def]
    """The number of the document of each passage found, and of each document the passages of most merit, then -1."""
    passages, first = _numbered(found)
    family_of, heads = _numbered(homes)
    merits, start = np.zeros(len(first), np.float64), 0
    for end in ends:
        for at in range(start, end):
            merits[passages[at]] += 1.0 / (RRF + 1 + at - start)
        start = end
    best = np.full((len(heads), 2 + FURTHER), -1, np.int64)
    held = np.zeros((len(heads), 1 + FURTHER), np.float64)
    for n in range(len(first)):
        chunk, merit, family = found[first[n]], merits[n], family_of[first[n]]
        for place in range(1 + FURTHER):
            other, lower = best[family, place], held[family, place]
            if merit > lower or (merit == lower and chunk < other):
                best[family, place], held[family, place] = chunk, merit
                chunk, merit = other, lower
    return family_of, best


@njit(cache=True, nogil=True)
def by_document(found: np.ndarray, homes: np.ndarray, ends: np.ndarray, depth: int):  # type: ignore[no-untyped-def]
    """`document_ranking.by_document` in numbers: which passages found are the first of a document in their leg, how
    many of them each leg has, the document of each passage found, the best passages of each document, and the last leg
    that has it, or -1."""
    family_of, best = _families(found, homes, ends)
    places, size = np.empty(len(found), np.int64), 0
    counts, last_leg = np.zeros(len(ends), np.int64), np.full(len(best), -1, np.int64)
    start = 0
    for leg in range(len(ends)):
        for at in range(start, ends[leg]):
            if counts[leg] < depth and last_leg[family_of[at]] != leg:
                last_leg[family_of[at]] = leg
                places[size] = at
                counts[leg] += 1
                size += 1
        start = ends[leg]
    return places[:size], counts, family_of, best, last_leg


@njit(cache=True, nogil=True)
def products(rows: np.ndarray, vector: np.ndarray):  # type: ignore[no-untyped-def]
    """Each row times a vector, in double precision."""
    multiplied = np.empty(rows.shape, np.float64)
    for n in range(len(rows)):
        for at in range(len(vector)):
            multiplied[n, at] = rows[n, at] * vector[at]
    return multiplied


@njit(cache=True, nogil=True)
def closest(near: np.ndarray, chunks: np.ndarray, starts: np.ndarray, slack: float):  # type: ignore[no-untyped-def]
    """Of each family the chunks that are within `slack` of its nearest, and where those of each begin."""
    close, begins, size = np.empty(len(chunks), np.int64), np.empty(len(starts), np.int64), 0
    for n in range(len(starts)):
        family = chunks[starts[n] : starts[n + 1] if n + 1 < len(starts) else len(chunks)]
        best = near[family[0]]
        for chunk in family:
            best = max(best, near[chunk])
        begins[n] = size
        for chunk in family:
            if near[chunk] >= best - slack:
                close[size] = chunk
                size += 1
    return close[:size], begins


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
    """The places of texts that may be copies, and of the earlier ones of which: `near_copies.possible`, below the
    diagonal.
    """
    places, size = np.empty((2, len(rows) * len(rows)), np.int64), 0
    for one in range(len(rows)):
        words, text, telling = rows[one, 0], rows[one, 1], rows[one, 2]
        for n in range(one):
            may, others = text == rows[n, 1], rows[n, 0]
            if not may and words >= LEAST:
                alike = telling == rows[n, 2] and words >= ALIKE * others and others >= ALIKE * words
                may = alike or (words <= others and _holds(rows, n, one))
            if may:
                places[0, size], places[1, size] = one, n
                size += 1
    return places[:, :size]


@njit(cache=True, nogil=True)
def _sink(heap: np.ndarray, ids: np.ndarray, size: int, score: float, n: int) -> None:
    """Put a score in the place of the root of a heap whose root is the worst; of equal scores the higher number is
    worse.
    """
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
        score, worst = heap[last], np.uint64(ids[last])
        heap[last], ids[last] = heap[0], ids[0]
        _sink(heap, ids, last, score, worst)
    return ids[:size], heap[:size]
