"""Messages to people, what they watch, and which due dates they were told about."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sqlalchemy import and_, bindparam, delete, func, or_, select, update

from core.adapters.state.statements import Row, Statements
from core.adapters.state.tables import messages

# asked at every interaction, so built once
_UNREAD = (
    select(func.count()).select_from(messages).where(messages.c.account == bindparam("account"), messages.c.read == "")
)


class MessageRows:
    """The table `messages`."""

    def __init__(self, statements: Statements) -> None:
        self._run = statements

    def of(self, account: str, unread: bool, kind: str, limit: int) -> list[Row]:
        """Newest first."""
        wanted = [messages.c.account == account]
        wanted += [messages.c.read == ""] if unread else []
        wanted += [messages.c.kind == kind] if kind else []
        newest = (messages.c.at.desc(), messages.c.id.desc())
        return self._run.rows(select(messages).where(*wanted).order_by(*newest).limit(limit))

    def unread(self, account: str) -> int:
        """How many are new."""
        return int(self._run.value(_UNREAD, account=account))

    def about(self, account: str, about: str, ref: str) -> list[Row]:
        """Those about one thing."""
        mine = (messages.c.account == account, messages.c.about == about, messages.c.ref == ref)
        return self._run.rows(select(messages).where(*mine).order_by(messages.c.id))

    def add(self, **values: Any) -> int:
        """A new one; its id."""
        return self._run.add(messages, **values)

    def set(self, number: int, **values: Any) -> None:
        """Other values in some columns."""
        self._run.change(update(messages).where(messages.c.id == number).values(**values))

    def read(self, account: str, numbers: Sequence[int], at: str) -> int:
        """Mark some of an account as read, or all; how many were new."""
        mine = [messages.c.account == account, messages.c.read == ""]
        mine += [messages.c.id.in_(list(numbers))] if numbers else []
        return self._run.change(update(messages).where(*mine).values(read=at))

    def forget(self, account: str, read_before: str, before: str, limit: int) -> None:
        """Drop read ones and all that are too old, and whatever is more than the limit."""
        kept = select(messages.c.id).where(messages.c.account == account).order_by(messages.c.id.desc()).limit(limit)
        old = or_(and_(messages.c.read != "", messages.c.at < read_before), messages.c.at < before)
        gone = or_(old, messages.c.id.not_in(kept))
        self._run.change(delete(messages).where(messages.c.account == account, gone))
