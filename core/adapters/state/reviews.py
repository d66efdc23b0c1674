"""Changes, what was said about them, and the verdicts."""

from __future__ import annotations

from typing import Any

from sqlalchemy import bindparam, func, select, update

from core.adapters.state.statements import Row, Statements
from core.adapters.state.tables import changes, comments, verdicts

# asked for every change of a list, so built once
_CHANGE = select(changes).where(changes.c.id == bindparam("number"))
_VERDICTS = select(verdicts).where(verdicts.c.change == bindparam("number")).order_by(verdicts.c.id)
_CONVERSATIONS = (
    select(func.count())
    .select_from(comments)
    .where(comments.c.change == bindparam("number"), comments.c.thread == 0, comments.c.resolved == "")
)


class ChangeRows:
    """The table `changes`."""

    def __init__(self, statements: Statements) -> None:
        self._run = statements

    def get(self, number: int) -> Row | None:
        """By id."""
        return self._run.first(_CHANGE, number=number)

    def all(self) -> list[Row]:
        """The one last touched first."""
        return self._run.rows(select(changes).order_by(changes.c.updated.desc(), changes.c.id.desc()))

    def add(self, **values: Any) -> int:
        """A new one; its id."""
        return self._run.add(changes, **values)

    def set(self, number: int, **values: Any) -> None:
        """Other values in some columns."""
        self._run.change(update(changes).where(changes.c.id == number).values(**values))


class VerdictRows:
    """The table `verdicts`."""

    def __init__(self, statements: Statements) -> None:
        self._run = statements

    def of_change(self, number: int) -> list[Row]:
        """Oldest first."""
        return self._run.rows(_VERDICTS, number=number)

    def add(self, **values: Any) -> None:
        """What somebody said about a text."""
        self._run.add(verdicts, **values)


class CommentRows:
    """The table `comments`."""

    def __init__(self, statements: Statements) -> None:
        self._run = statements

    def of_change(self, number: int) -> list[Row]:
        """Oldest first."""
        return self._run.rows(select(comments).where(comments.c.change == number).order_by(comments.c.id))

    def get(self, change: int, number: int) -> Row | None:
        """One comment of a change."""
        return self._run.first(select(comments).where(comments.c.id == number, comments.c.change == change))

    def open_conversations(self, change: int) -> int:
        """How many are not resolved."""
        return int(self._run.value(_CONVERSATIONS, number=change))

    def add(self, **values: Any) -> int:
        """A new one; its id."""
        return self._run.add(comments, **values)

    def set(self, number: int, **values: Any) -> None:
        """Other values in some columns."""
        self._run.change(update(comments).where(comments.c.id == number).values(**values))
