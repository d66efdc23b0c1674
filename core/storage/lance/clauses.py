"""Filters as a clause of the table: the same documents as `core.retrieval.filters.admits`, found by LanceDB."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import date, timedelta

from core.curation.document.statuses import SOON
from core.storage.lance.table import among, quoted
from core.types import Filters


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
