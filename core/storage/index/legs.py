"""What a search asks of an open generation: words by BM25, with weighed fields, and vectors by cosine."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Protocol

import numpy as np

from core.ports import Ranking
from core.retrieval.engines import APPROXIMATE
from core.storage.index.arrays import kernels
from core.storage.index.arrays.fields import OwnerScores
from core.storage.index.arrays.kernels import Postings, near_top
from core.storage.index.arrays.stitched import StitchedVectors

CLOSE = 1e-5  # scores this close are recomputed in double precision before ordering


class NearIndex(Protocol):
    """An open generation that knows about where its vectors are near another."""

    @property
    def size(self) -> int: ...
    @property
    def exact_limit(self) -> int: ...  # of chunks, up to which all vectors are compared
    def near(self, vector: np.ndarray, depth: int) -> np.ndarray: ...


@dataclass(frozen=True, slots=True)
class Bm25Leg:
    """BM25 over the query's distinct terms, with the impacts computed at build time."""

    postings: Postings
    size: int
    terms: np.ndarray
    note: str = ""
    floor = 0.0

    def search(self, depth: int, allowed: np.ndarray | None) -> Ranking:
        return kernels.top(self.every(), allowed, depth)

    def every(self) -> np.ndarray:
        return kernels.accumulated(*self.postings, self.terms, self.size)

    def score(self, chunks: Sequence[int] | np.ndarray) -> list[float]:
        return kernels.lookup(*self.postings, self.terms, np.array(chunks, dtype=np.uint32))


@dataclass(frozen=True)
class FieldedLeg:
    """BM25 of the passage, plus what the words score in weighed fields."""

    passages: Bm25Leg
    fields: Sequence[tuple[Callable[[], OwnerScores], float]]
    _last: list[np.ndarray] = field(default_factory=list)  # all scores of a search, until they are asked for once
    floor = 0.0

    @property
    def note(self) -> str:
        return self.passages.note

    def search(self, depth: int, allowed: np.ndarray | None) -> Ranking:
        own = self.passages
        scores = own.every()
        if len(self._scores) == 1:
            kernels.spread(*self._scores[0], scores)
        else:
            scores += self._more(np.s_[:])
        self._last[:] = [scores] if own.size < kernels.COMPILED_FROM else []
        return kernels.top(scores, allowed, depth)

    def score(self, chunks: Sequence[int]) -> list[float]:
        exact: list[float] = self._exact(np.array(chunks, dtype=np.int64)).tolist()
        return exact

    def highest(self, chunks: np.ndarray, starts: np.ndarray) -> list[float]:
        """The best score of each family."""
        best: list[float] = np.maximum.reduceat(self._exact(chunks), starts).tolist()
        return best

    def _exact(self, chunks: np.ndarray) -> np.ndarray:
        """From what the search has just summed up, else looked up: the same bits."""
        if self._last:
            scores: np.ndarray = self._last.pop()[chunks]
            return scores
        return np.array(self.passages.score(chunks)) + self._more(chunks)

    def _more(self, chunks: Any) -> np.ndarray | float:
        """What the fields add to some passages."""
        more: np.ndarray | float = sum(score(chunks) for score in self._scores)
        return more

    @cached_property
    def _scores(self) -> list[OwnerScores]:
        """Fields of documents are added up before they are spread over passages."""
        together: dict[int, OwnerScores] = {}
        for score, weight in self.fields:
            best, owner_of = score()
            before = together.get(id(owner_of))
            together[id(owner_of)] = OwnerScores(weight * best + (before.best if before else 0.0), owner_of)
        return list(together.values())


@dataclass(frozen=True, slots=True)
class DenseLeg:
    """Cosine to the query: exact while that is fast, beyond that by LanceDB's ANN index."""

    index: NearIndex
    rows: np.ndarray | StitchedVectors
    vector: np.ndarray
    _last: list[np.ndarray] = field(default_factory=list)  # what a search took for all, until it is asked for once
    floor = -1.0

    @property
    def note(self) -> str:
        return APPROXIMATE if self.index.size > self.index.exact_limit else ""

    def search(self, depth: int, allowed: np.ndarray | None) -> Ranking:
        if not self.index.size:
            return {}
        if self.index.size > self.index.exact_limit:
            return self._approximate(depth, allowed)
        near = self.rows @ self.vector
        self._last[:] = [near]
        if allowed is None:
            return self._ordered(near_top(near, depth, CLOSE), depth)
        chunks = np.flatnonzero(allowed)
        return self._ordered(chunks[near_top(near[chunks], depth, CLOSE)], depth)

    def score(self, chunks: Sequence[int]) -> list[float]:
        """Exact cosines in double precision: the same on any number of threads."""
        cosines: list[float] = self._cosines(np.array(chunks, dtype=np.int64)).tolist()
        return cosines

    def _cosines(self, chunks: np.ndarray) -> np.ndarray:
        return kernels.cosines(self.rows[chunks], self.vector)

    def highest(self, chunks: np.ndarray, starts: np.ndarray) -> list[float]:
        """The exact cosine of the nearest of each family: only those that could be it are computed in double
        precision.
        """
        if self._last:
            close, begins = kernels.closest(self._last.pop(), chunks, starts, CLOSE)
        else:
            places, begins = kernels.closest(self.rows[chunks] @ self.vector, np.arange(len(chunks)), starts, CLOSE)
            close = chunks[places]
        best: list[float] = np.maximum.reduceat(self._cosines(close), begins).tolist()
        return best

    def _ordered(self, chunks: np.ndarray, depth: int) -> Ranking:
        cosines = self._cosines(chunks)
        order = np.lexsort((chunks, -cosines))[:depth]
        return dict(zip(chunks[order].tolist(), cosines[order].tolist(), strict=True))

    def _approximate(self, depth: int, allowed: np.ndarray | None) -> Ranking:
        """Ask for more until the filter leaves enough; a narrow filter is searched exactly."""
        if allowed is not None and int(allowed.sum()) <= self.index.exact_limit:
            chunks = np.flatnonzero(allowed)
            return self._ordered(chunks[near_top(self.rows[chunks] @ self.vector, depth, CLOSE)], depth)
        wanted = depth
        while True:
            chunks = self.index.near(self.vector, wanted)
            chunks = chunks if allowed is None else chunks[allowed[chunks]]
            if len(chunks) >= depth or wanted >= 32 * depth:
                return self._ordered(chunks, depth)
            wanted *= 4
