"""BM25 scoring over postings: numpy for most knowledge bases, compiled loops for very large ones.

Both give the same bits: impacts are added in double precision in the order of the terms, and of equal scores
the lower chunk number stands first. Numba takes a second to load, which pays only where a query touches
hundreds of thousands of postings. There, chunk numbers are unsigned on purpose: numba then skips the check for
negative indices, which halves the time.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from itertools import accumulate, chain, islice
from typing import Any, NamedTuple

import numpy as np

from core.ports import ByDocument, Ranking
from core.retrieval import document_ranking, near_copies

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
        return dict(zip(ids.tolist(), best.tolist(), strict=True))
    scores = scores if allowed is None else np.where(allowed, scores, 0.0)
    ids = near_top(scores, depth, 0.0)
    ids = ids[scores[ids] > 0.0]
    order = np.lexsort((ids, -scores[ids]))[:depth]
    return dict(zip(ids[order].tolist(), scores[ids[order]].tolist(), strict=True))


def accumulated(start: np.ndarray, where: np.ndarray, gains: np.ndarray, terms: np.ndarray, size: int) -> np.ndarray:
    """The scores of all chunks."""
    if fast := _compiled(size):
        scores = np.zeros(size, np.float64)
        fast.accumulate(*_read_only(start, where, gains), terms, scores)
        return scores
    lists = [slice(start[term], start[term + 1]) for term in terms]
    if not lists:
        return np.zeros(size, np.float64)
    return np.bincount(
        np.concatenate([where[at] for at in lists]), np.concatenate([gains[at] for at in lists]), minlength=size
    )


def fit(said: np.ndarray, entry: np.ndarray, question: float) -> np.ndarray:
    """How much of an entry is said, times the root of how much of the question that is; by the worth of words.

    >>> fit(np.array([2.0, 2.0]), np.array([2.0, 4.0]), 2.0).tolist()
    [1.0, 0.5]
    """
    fits: np.ndarray = said / entry * np.sqrt(said / question)
    return fits


def fitted(
    start: np.ndarray, where: np.ndarray, gains: np.ndarray, terms: np.ndarray, whole: np.ndarray, question: float
) -> np.ndarray:
    """How well each entry of a field fits a question (`fit`); 0 where it holds none of its words."""
    if fast := _compiled(0):
        fits: np.ndarray = fast.fitted(*_read_only(start, where, gains), terms, whole, question)
        return fits
    said = accumulated(start, where, gains, terms, len(whole))
    entries = np.flatnonzero(said)
    said[entries] = fit(said[entries], whole[entries], question)
    return said


def spread(best: np.ndarray, owner_of: np.ndarray, scores: np.ndarray) -> None:
    """Add to the score of every chunk what its owner has."""
    if fast := _compiled(len(scores)):
        fast.spread(best, *_read_only(owner_of), scores)
    else:
        scores += best[owner_of]


def lookup(
    start: np.ndarray, where: np.ndarray, gains: np.ndarray, terms: np.ndarray, wanted: np.ndarray
) -> list[float]:
    """The exact scores of a few chunks, by binary search in each term's postings."""
    scores = np.zeros(len(wanted), np.float64)
    if fast := _compiled(0):
        fast.lookup(*_read_only(start, where, gains), terms, wanted, scores)
    else:
        for term in terms:
            chunks, added = where[start[term] : start[term + 1]], gains[start[term] : start[term + 1]]
            at = np.minimum(np.searchsorted(chunks, wanted), len(chunks) - 1)
            scores += np.where(chunks[at] == wanted, added[at], 0.0)
    exact: list[float] = scores.tolist()
    return exact


def families(documents: np.ndarray, order: np.ndarray, bounds: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The passages of documents one after the other, and where those of each begin.

    >>> [part.tolist() for part in families(np.array([2, 0]), np.array([5, 6, 7, 8, 9]), np.array([0, 1, 3, 5]))]
    [[8, 9, 5], [0, 2]]
    """
    if fast := _compiled(0):
        places, starts = fast.families(documents, bounds)
        return order[places], starts
    first = bounds[documents]
    counts = bounds[documents + 1] - first
    ends = counts.cumsum()
    starts = ends - counts
    every: np.ndarray = order[np.arange(ends[-1] if len(ends) else 0) + np.repeat(first - starts, counts)]
    return every, starts


def cosines(rows: np.ndarray, vector: np.ndarray) -> np.ndarray:
    """The cosines of rows to a vector in double precision: the same on any number of threads."""
    vector = vector.astype(np.float64)
    if fast := _compiled(0):
        products = fast.products(rows, vector)
    else:
        products = rows.astype(np.float64)
        products *= vector  # in place: another array of this size costs more than the products
    added: np.ndarray = products.sum(axis=1)
    return added


def closest(near: np.ndarray, chunks: np.ndarray, starts: np.ndarray, slack: float) -> tuple[np.ndarray, np.ndarray]:
    """Of each family the chunks that are within `slack` of its nearest, and where those of each begin.

    >>> near = np.array([0.5, 0.9, 0.9, 0.1])
    >>> [part.tolist() for part in closest(near, np.array([0, 2, 1, 3]), np.array([0, 3]), 0.01)]
    [[2, 1, 3], [0, 2]]
    """
    if fast := _compiled(0):
        found: tuple[np.ndarray, np.ndarray] = fast.closest(near, chunks, starts, np.float32(slack))
        return found
    own = near[chunks]
    edges = np.maximum.reduceat(own, starts) - slack
    close = np.flatnonzero(own >= np.repeat(edges, np.diff(starts, append=len(chunks))))
    return chunks[close], close.searchsorted(starts)


def by_document(rankings: Sequence[Ranking], doc_of: np.ndarray, depth: int) -> ByDocument:
    """`document_ranking.by_document`, given the document of every passage."""
    found = np.concatenate([np.fromiter(ranking, np.int64, len(ranking)) for ranking in rankings])
    homes = doc_of[found].astype(np.int64, copy=False)
    fast = _compiled(0)
    if fast is None:
        return document_ranking.by_document(rankings, dict(zip(found.tolist(), homes.tolist(), strict=True)), depth)
    ends = np.array(list(accumulate(map(len, rankings))))
    places, counts, family_of, best, last_leg = fast.by_document(found, homes, ends, depth)
    scores = list(chain.from_iterable(ranking.values() for ranking in rankings))
    firsts = zip(best[family_of[places], 0].tolist(), map(scores.__getitem__, places.tolist()), strict=True)
    reduced = [dict(islice(firsts, count)) for count in counts.tolist()]
    families = best[last_leg >= 0].tolist()
    return reduced, {first: others[: others.index(-1)] for first, *others in families if others[0] >= 0}


def earlier(sketches: np.ndarray) -> dict[int, list[int]]:
    """The places of sketches whose texts may be copies, with those of the earlier ones of which."""
    fast = _compiled(0)
    pairs = fast.possible(sketches) if fast else np.tril(near_copies.possible(sketches), -1).nonzero()
    found: dict[int, list[int]] = {}
    for one, other in zip(*(places.tolist() for places in pairs), strict=True):
        found.setdefault(one, []).append(other)
    return found


def near_top(scores: np.ndarray, depth: int, slack: float) -> np.ndarray:
    """Every number whose score could be among the best `depth`, within `slack`."""
    if len(scores) <= depth:
        return np.arange(len(scores))
    edge = np.partition(scores, len(scores) - depth)[len(scores) - depth]
    return np.flatnonzero(scores >= edge - slack)


def warm() -> None:
    """Load the compiled loops now; a long-lived process does it once and searches faster."""
    from core.storage.index.arrays import compiled

    compiled.best(np.zeros(1), np.empty(0, np.bool_), 1)
    compiled.possible(np.zeros((1, near_copies.SIGNATURE), np.uint32))
    start, where, gains, owners, fits = _read_only(
        np.zeros(1, np.int64), np.empty(0, np.uint32), np.empty(0, np.float32), np.zeros(1, np.int32), np.empty(0)
    )
    terms, scores = np.empty(0, np.int64), np.zeros(1)
    compiled.accumulate(start, where, gains, terms, scores)
    compiled.lookup(start, where, gains, terms, np.empty(0, np.uint32), scores)
    compiled.fitted(start, where, fits, terms, scores, 1.0)
    compiled.spread(scores, owners, scores)
    compiled.families(np.zeros(1, np.int32), np.arange(2))
    compiled.products(np.zeros((1, 1), np.float32), scores)
    compiled.closest(np.zeros(1, np.float32), terms, terms, np.float32(0))
    compiled.by_document(terms, terms, np.zeros(1, np.int64), 1)


def _read_only(*arrays: np.ndarray) -> list[np.ndarray]:
    """Views that nobody writes to: numba compiles a loop once for those and once for others, and arrays of one segment
    lie on the disk, those of several in memory."""
    views = [array.view() for array in arrays]
    for view in views:
        view.flags.writeable = False
    return views


def _compiled(size: int) -> Any:
    """The compiled loops, if they are loaded or if the index is large enough to pay for loading them."""
    if size >= COMPILED_FROM:
        from core.storage.index.arrays import compiled

        return compiled
    return sys.modules.get("core.storage.index.arrays.compiled")
