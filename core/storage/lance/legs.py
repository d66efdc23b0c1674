"""The legs of a table: LanceDB finds more than is asked for, and what it finds is scored as the image scores it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from core.ports import Ranking
from core.retrieval.engines import APPROXIMATE

MORE = 4  # times as many are found as are asked for
LEAST = 100  # are found at least
DEEPEST = 3_000  # are found at most


class FilterMask(np.ndarray):
    """Which chunks may be found, with the clause that says so to the table. A changed copy has none."""

    where: str = ""


class Table(Protocol):
    """What the legs read of an opened table."""

    @property
    def size(self) -> int: ...
    def fetch(self, chunks: Iterable[int]) -> None: ...
    def holders(self, column: str, terms: Sequence[str], limit: int, where: str) -> list[int]: ...
    def nearest(self, vector: np.ndarray, limit: int, where: str) -> list[int]: ...
    def words(self, terms: Sequence[str], chunk: int) -> float: ...
    def fits(self, terms: Sequence[str], chunk: int, names: Iterable[str]) -> Mapping[str, float]: ...
    def vectors(self, chunks: Sequence[int]) -> np.ndarray: ...


@dataclass(frozen=True, slots=True)
class WordsLeg:
    """BM25 of the chunks that LanceDB ranks first, plus what the words score in weighed fields."""

    index: Table
    terms: Sequence[str]
    fields: Mapping[str, float]
    note: str = APPROXIMATE
    floor = 0.0

    def search(self, depth: int, allowed: np.ndarray | None) -> Ranking:
        if not self.terms:
            return {}
        return _best(self._found, self.score, depth, allowed, self.index.size)

    def _found(self, limit: int, where: str) -> list[int]:
        """Chunks that hold the words; where fields count, also those that are only surrounded by them."""
        columns = ("terms", "around") if self.fields else ("terms",)
        found = [chunk for column in columns for chunk in self.index.holders(column, self.terms, limit, where)]
        return list(dict.fromkeys(found))

    def score(self, chunks: Sequence[int]) -> list[float]:
        """What the image would give, in double precision."""
        self.index.fetch(chunks)
        return [self.index.words(self.terms, chunk) + self._more(chunk) for chunk in chunks]

    def _more(self, chunk: int) -> float:
        if not self.fields:
            return 0.0
        given = self.index.fits(self.terms, chunk, self.fields)
        return sum(weight * given[name] for name, weight in self.fields.items())


@dataclass(frozen=True, slots=True)
class VectorsLeg:
    """Cosine to the query of the chunks that LanceDB ranks first."""

    index: Table
    vector: np.ndarray
    note: str = APPROXIMATE
    floor = -1.0

    def search(self, depth: int, allowed: np.ndarray | None) -> Ranking:
        find = lambda limit, where: self.index.nearest(self.vector, limit, where)
        return _best(find, self.score, depth, allowed, self.index.size, least=0)

    def score(self, chunks: Sequence[int]) -> list[float]:
        """Exact cosines in double precision."""
        rows = self.index.vectors(chunks).astype(np.float64)
        cosines: list[float] = (rows * self.vector.astype(np.float64)).sum(axis=1).tolist() if chunks else []
        return cosines


def _best(
    find: Callable[[int, str], list[int]],
    score: Callable[[Sequence[int]], list[float]],
    depth: int,
    allowed: np.ndarray | None,
    size: int,
    least: int = LEAST,
) -> Ranking:
    """The best `depth` of what is found; a mask without a clause is applied here, and more is asked for if it takes much."""
    where = getattr(allowed, "where", "")
    most = min(size, DEEPEST)
    wanted = min(max(least, MORE * depth), most)
    while wanted:
        found = find(wanted, where)
        admitted = [chunk for chunk in found if allowed is None or where or allowed[chunk]]
        if len(admitted) >= depth or len(found) < wanted or wanted == most:
            pairs = zip(admitted, score(admitted), strict=True)
            return dict(sorted(pairs, key=lambda pair: (-pair[1], pair[0]))[:depth])
        wanted = min(4 * wanted, most)
    return {}
