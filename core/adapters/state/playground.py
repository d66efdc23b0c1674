"""Grades that people gave to passages, and the notebook: links, past queries, saved configurations."""

from __future__ import annotations

from typing import Any

from sqlalchemy import delete, select, update

from core.adapters.state.statements import Row, Statements
from core.adapters.state.tables import asked, configurations, judged, permalinks

_PASSAGE = ("query", "path", "heading", "quote", "judge")


class GradeRows:
    """The table `judged`."""

    def __init__(self, statements: Statements) -> None:
        self._run = statements

    def keep(self, **values: Any) -> None:
        """One grade per query, passage and judge."""
        self._run.upsert(judged, [values], list(_PASSAGE), ["grade", "blind", "created", "note"])

    def drop(self, query: str, path: str, heading: str, quote: str, judge: str) -> bool:
        """False when there is no such grade."""
        place = zip(_PASSAGE, (query, path, heading, quote, judge), strict=True)
        return self._run.change(delete(judged).where(*(judged.c[name] == value for name, value in place))) > 0

    def of(self, query: str) -> list[Row]:
        """Grades of one query, or all of them for "", oldest first."""
        wanted = [judged.c.query == query] if query else []
        columns = [column for column in judged.c if column.name != "id"]
        return self._run.rows(select(*columns).where(*wanted).order_by(judged.c.id))


class NotebookRows:
    """The tables `permalinks`, `asked` and `configurations`."""

    def __init__(self, statements: Statements) -> None:
        self._run = statements

    def keep_link(self, link: str, state: str, who: str, created: str) -> None:
        """The same link is kept once."""
        self._run.upsert(permalinks, [{"id": link, "state": state, "who": who, "created": created}], ["id"], [])

    def linked(self, link: str) -> str | None:
        """The state behind a link."""
        found: str | None = self._run.value(select(permalinks.c.state).where(permalinks.c.id == link))
        return found

    def put_on_top(self, who: str, query: str, link: str, created: str) -> None:
        """List a query once, as the newest; a star stays."""
        mine = (asked.c.who == who, asked.c.query == query)
        starred = self._run.value(select(asked.c.starred).where(*mine)) or 0
        self._run.change(delete(asked).where(*mine))
        self._run.add(asked, who=who, query=query, link=link, starred=starred, created=created)

    def trim(self, who: str, most: int) -> None:
        """Forget what is older than the newest so many; starred ones stay."""
        newest = select(asked.c.id).where(asked.c.who == who).order_by(asked.c.id.desc()).limit(most)
        self._run.change(delete(asked).where(asked.c.who == who, asked.c.starred == 0, asked.c.id.not_in(newest)))

    def history(self, who: str, limit: int) -> list[Row]:
        """Starred ones first, then the newest."""
        columns = [column for column in asked.c if column.name != "who"]
        order = (asked.c.starred.desc(), asked.c.id.desc())
        return self._run.rows(select(*columns).where(asked.c.who == who).order_by(*order).limit(limit))

    def star(self, who: str, number: int, on: bool) -> bool:
        """False when there is no such query."""
        mine = (asked.c.id == number, asked.c.who == who)
        return self._run.change(update(asked).where(*mine).values(starred=int(on))) > 0

    def save(self, **values: Any) -> None:
        """One configuration per name."""
        self._run.upsert(configurations, [values], ["name"], ["profile", "config", "who"])

    def saved(self) -> list[Row]:
        """By name."""
        return self._run.rows(select(configurations).order_by(configurations.c.name))

    def forget(self, name: str) -> bool:
        """False when there is no such configuration."""
        return self._run.change(delete(configurations).where(configurations.c.name == name)) > 0
