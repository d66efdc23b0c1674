"""BM25 scoring over postings: numpy for most knowledge bases, compiled loops for very large ones.

Both give the same bits: impacts are added in double precision in the order of the terms, and of equal scores
the lower chunk number stands first. Numba takes a second to load, which pays only where a query touches
hundreds of thousands of postings. There, chunk numbers are unsigned on purpose: numba then skips the check for
negative indices, which halves the time.
"""

from __future__ import annotations

import sys
from typing import Any, NamedTuple

import numpy as np

COMPILED_FROM = 50_000  # chunks


class Postings(NamedTuple):
    """Per term where its chunks start, the chunks in order, and what the term adds to the score of each."""

    start: np.ndarray
    where: np.ndarray
    impacts: np.ndarray


def postings(
    chunk: np.ndarray, term: np.ndarray, chunks: int, terms: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Group occurrences (chunk, term), in any order, into postings: per term its chunks in order, with counts.

    Returns where each term starts, chunk numbers, counts, and the length of every chunk.

    >>> [list(map(int, part)) for part in postings(np.array([1, 0, 1, 1]), np.array([0, 1, 1, 0]), 2, 2)]
    [[0, 1, 3], [1, 0, 1], [2, 1, 1], [1, 3]]
    """
    lengths = np.bincount(chunk, minlength=chunks)
    keys = term.astype(np.uint64) * np.uint64(max(1, chunks)) + chunk.astype(np.uint64)
    keys.sort()
    first = np.flatnonzero(np.concatenate(([True], keys[1:] != keys[:-1]))) if len(keys) else np.empty(0, np.int64)
    counts = np.diff(first, append=len(keys)).astype(np.float32)
    keys = keys[first]
    start = np.searchsorted(keys, np.arange(terms + 1, dtype=np.uint64) * np.uint64(max(1, chunks)))
    return start.astype(np.int64), (keys % np.uint64(max(1, chunks))).astype(np.uint32), counts, lengths


def impacts(start: np.ndarray, where: np.ndarray, counts: np.ndarray, norms: np.ndarray, idf: np.ndarray) -> np.ndarray:
    """What each posting adds to its chunk's BM25 score: idf * count / (count + norm)."""
    return np.asarray(np.repeat(idf, np.diff(start)) * counts / (counts + norms[where]), dtype=np.float32)


def top(scores: np.ndarray, allowed: np.ndarray | None, depth: int) -> dict[int, float]:
    """The `depth` best chunks, best first, ties by number."""
    if fast := _compiled(len(scores)):
        every = np.empty(0, np.bool_) if allowed is None else allowed
        ids, best = fast.best(scores, every, max(1, min(depth, len(scores))))
    else:
        scores = scores if allowed is None else np.where(allowed, scores, 0.0)
        ids = near_top(scores, depth, 0.0)
        ids = ids[scores[ids] > 0.0]
        best = scores[ids]
    order = np.lexsort((ids, -best))[:depth]
    return dict(zip(ids[order].tolist(), best[order].tolist(), strict=True))


def accumulated(start: np.ndarray, where: np.ndarray, gains: np.ndarray, terms: np.ndarray, size: int) -> np.ndarray:
    """The scores of all chunks."""
    if fast := _compiled(size):
        scores = np.zeros(size, np.float64)
        fast.accumulate(start, where, gains, terms, scores)
        return scores
    lists = [slice(start[term], start[term + 1]) for term in terms]
    if not lists:
        return np.zeros(size, np.float64)
    return np.bincount(
        np.concatenate([where[at] for at in lists]), np.concatenate([gains[at] for at in lists]), minlength=size
    )


def lookup(
    start: np.ndarray, where: np.ndarray, gains: np.ndarray, terms: np.ndarray, wanted: np.ndarray
) -> list[float]:
    """The exact scores of a few chunks, by binary search in each term's postings."""
    scores = np.zeros(len(wanted), np.float64)
    if fast := _compiled(0):
        fast.lookup(start, where, gains, terms, wanted, scores)
    else:
        for term in terms:
            chunks, added = where[start[term] : start[term + 1]], gains[start[term] : start[term + 1]]
            at = np.minimum(np.searchsorted(chunks, wanted), len(chunks) - 1)
            scores += np.where(chunks[at] == wanted, added[at], 0.0)
    exact: list[float] = scores.tolist()
    return exact


def near_top(scores: np.ndarray, depth: int, slack: float) -> np.ndarray:
    """Every number whose score could be among the best `depth`, within `slack`."""
    if len(scores) <= depth:
        return np.arange(len(scores))
    edge = np.partition(scores, len(scores) - depth)[len(scores) - depth]
    return np.flatnonzero(scores >= edge - slack)


def warm() -> None:
    """Load the compiled loops now; a long-lived process does it once and searches faster."""
    from core.storage.serving import compiled

    start, terms, scores = np.zeros(1, np.int64), np.empty(0, np.int64), np.zeros(1, np.float64)
    where, gains = np.empty(0, np.uint32), np.empty(0, np.float32)
    compiled.accumulate(start, where, gains, terms, scores)
    compiled.lookup(start, where, gains, terms, where, scores)
    compiled.best(scores, np.empty(0, np.bool_), 1)


def _compiled(size: int) -> Any:
    """The compiled loops, if they are loaded or if the index is large enough to pay for loading them."""
    if size >= COMPILED_FROM:
        from core.storage.serving import compiled

        return compiled
    return sys.modules.get("core.storage.serving.compiled")
