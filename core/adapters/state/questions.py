"""Questions that people asked, and who wants theirs not to be kept."""

from __future__ import annotations

from typing import Any

from sqlalchemy import delete, func, select, update

from core.adapters.state.statements import Row, Statements
from core.adapters.state.tables import opted_out, queries


class QueryRows:
    """The tables `queries` and `opted_out`; nothing joins them."""

    def __init__(self, statements: Statements) -> None:
        self._run = statements

    def add(self, **values: Any) -> int:
        """A question that was asked; its id."""
        return self._run.add(queries, **values)

    def set_opened(self, number: int) -> None:
        """A hit was opened."""
        self._run.change(update(queries).where(queries.c.id == number).values(opened=1))

    def drop(self, number: int) -> None:
        """One asking, by id."""
        self._run.change(delete(queries).where(queries.c.id == number))

    def most(self, limit: int) -> list[Row]:
        """By question: the words of the last asking and what happened in all, the most asked first."""
        last = func.max(queries.c.id)
        counts = (
            select(
                last.label("id"),
                func.count().label("times"),
                func.sum(1 - queries.c.doubtful).label("found"),
                func.sum(queries.c.opened).label("opened"),
            )
            .group_by(queries.c.key)
            .order_by(func.count().desc(), last.desc())
            .limit(limit)
            .subquery()
        )
        columns = (queries.c.question, counts.c.times, queries.c.at.label("last"), counts.c.found, counts.c.opened)
        joined = select(*columns).join(counts, counts.c.id == queries.c.id)
        return self._run.rows(joined.order_by(counts.c.times.desc(), counts.c.id.desc()))

    def forget(self, key: str) -> int:
        """Every asking of a question, or of all where none is named; how many there were."""
        every = delete(queries)
        return self._run.change(every.where(queries.c.key == key) if key else every)

    def older(self, at: str) -> int:
        """Drop what was asked before; how many that were."""
        return self._run.change(delete(queries).where(queries.c.at < at))

    def opted_out(self, account: str) -> bool:
        """Whether somebody's questions are not kept."""
        return self._run.value(select(opted_out.c.account).where(opted_out.c.account == account)) is not None

    def opt_out(self, account: str) -> None:
        """From now on they are not."""
        self._run.upsert(opted_out, [{"account": account}], ["account"], [])

    def opt_in(self, account: str) -> None:
        """From now on they are."""
        self._run.change(delete(opted_out).where(opted_out.c.account == account))
