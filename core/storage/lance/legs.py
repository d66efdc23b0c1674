"""The legs of a table: LanceDB finds more than is asked for, and what it finds is scored as the image scores it.

Filters are a clause of the table: the same documents as `core.retrieval.filters.admits`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Protocol

import numpy as np

from core.curation.document.statuses import SOON
from core.ports import Ranking
from core.retrieval.engines import APPROXIMATE
from core.storage.lance.table import among, quoted
from core.types import Filters

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


def clause(filters: Filters, today: date) -> str:
    """The condition on a chunk's row that its document may be found.

    >>> clause(Filters(history=True, owners=("Mei",)), date(2026, 11, 16))
    "status <> 'draft' AND owner IN ('Mei')"
    """
    return " AND ".join(_conditions(filters, today))


def _conditions(filters: Filters, today: date) -> Iterator[str]:
    yield "status <> 'draft'"
    if not filters.history:
        yield f"effective_date <= {quoted(today.isoformat())}"
        yield among("status", ("approved", *filters.statuses))
    for column, values in (
        ("status", filters.statuses),
        ("doc_type", tuple(kind.lower() for kind in filters.types)),
        ("owner", filters.owners),
        ("doc", filters.docs),
    ):
        if values:
            yield among(column, values)
    if filters.freshness:
        yield _any(_fresh(state, today) for state in filters.freshness)
    if filters.tags:
        yield f"array_has_any(tags, [{', '.join(map(quoted, filters.tags))}])"
    if filters.folders:
        yield _any(f"starts_with(path, {quoted(folder.strip('/') + '/')})" for folder in filters.folders)


def hiding(hidden: Iterable[str], shown: Iterable[str]) -> str:
    """The condition that leaves out some paths: by folder where all of it is hidden.

    >>> hiding(["hr/pay.md", "hr/x/one.md", "it/key.md"], ["it/vpn.md"])
    "NOT (starts_with(path, 'hr/') OR path IN ('it/key.md'))"
    """
    open_folders = {path[: at + 1] for path in shown for at, letter in enumerate(path) if letter == "/"}
    folders, single = dict[str, None](), list[str]()
    for path in hidden:
        above = (path[: at + 1] for at, letter in enumerate(path) if letter == "/")
        closed = next((folder for folder in above if folder not in open_folders), "")
        folders.setdefault(closed) if closed else single.append(path)
    conditions = [f"starts_with(path, {quoted(folder)})" for folder in folders]
    return f"NOT {_any(iter([*conditions, *([among('path', single)] if single else [])]))}"


def _any(conditions: Iterator[str]) -> str:
    return f"({' OR '.join(conditions)})"


def _fresh(state: str, today: date) -> str:
    """The condition of a state of freshness; an unknown one holds nowhere."""
    now, soon = quoted(today.isoformat()), quoted((today + timedelta(days=SOON)).isoformat())
    if state == "upcoming":
        return f"effective_date > {now}"
    due = {
        "undated": "review_due = ''",
        "overdue": f"review_due <> '' AND review_due < {now}",
        "due soon": f"review_due >= {now} AND review_due <= {soon}",
        "current": f"review_due > {soon}",
    }
    return f"(effective_date <= {now} AND {due.get(state, 'false')})"
