"""Accounts, failed sign-ins and the audit."""

from __future__ import annotations

from typing import Any

from sqlalchemy import bindparam, delete, func, or_, select, update

from core.adapters.state.statements import Row, Statements
from core.adapters.state.tables import accounts, attempts, audit

# asked at every interaction, so built once
_ACCOUNT = select(accounts).where(accounts.c.id == bindparam("name"))
_ACCOUNTS = select(accounts).order_by(accounts.c.place)
_EMAILS = select(accounts.c.email, accounts.c.id)
_TEXT_ACTS = ("propose", "edit", "solve conflicts")
_LAST_WRITER = (
    select(audit.c.who)
    .where(audit.c.change == bindparam("number"), audit.c.action.in_(_TEXT_ACTS))
    .order_by(audit.c.id.desc())
    .limit(1)
)


class AccountRows:
    """The table `accounts`, and `attempts` to get in."""

    def __init__(self, statements: Statements) -> None:
        self._run = statements

    def all(self) -> list[Row]:
        """In the order in which they came."""
        return self._run.rows(_ACCOUNTS)

    def get(self, name: str) -> Row | None:
        """By id."""
        return self._run.first(_ACCOUNT, name=name)

    def emails(self) -> dict[str, str]:
        """Email to id."""
        return self._run.pairs(_EMAILS)

    def active_by_email(self, email: str) -> Row | None:
        """Upper and lower case are the same."""
        mine = func.lower(accounts.c.email) == func.lower(email)
        return self._run.first(select(accounts).where(mine, accounts.c.active == 1))

    def by_login(self, name: str) -> Row | None:
        """By id or by email, in lower case."""
        return self._run.first(select(accounts).where(or_(accounts.c.id == name, func.lower(accounts.c.email) == name)))

    def taken(self, name: str, email: str) -> bool:
        """Whether somebody has the id or the address."""
        same = or_(accounts.c.id == name, accounts.c.email == email)
        return self._run.first(select(accounts.c.id).where(same)) is not None

    def has_admin(self) -> bool:
        """Whether an admin can act."""
        admin = select(accounts.c.id).where(accounts.c.role == "admin", accounts.c.active == 1)
        return self._run.first(admin) is not None

    def add(self, **values: Any) -> None:
        """A new one, in the last place."""
        last = self._run.value(select(func.max(accounts.c.place)))
        self._run.insert(accounts, **values, place=(last or 0) + 1)

    def set(self, name: str, **values: Any) -> None:
        """Other values in some columns."""
        self._run.change(update(accounts).where(accounts.c.id == name).values(**values))

    def failures(self, name: str, since: float) -> int:
        """How often somebody gave a wrong password since a time."""
        mine = select(func.count()).select_from(attempts)
        return int(self._run.value(mine.where(attempts.c.account == name, attempts.c.at > since)))

    def add_failure(self, name: str, at: float) -> None:
        """A wrong password."""
        self._run.add(attempts, account=name, at=at)

    def forget_failures(self, name: str) -> None:
        """After a right one."""
        self._run.change(delete(attempts).where(attempts.c.account == name))


class AuditRows:
    """The table `audit`, which only grows."""

    def __init__(self, statements: Statements) -> None:
        self._run = statements

    def add(self, **values: Any) -> None:
        """One line."""
        self._run.add(audit, **values)

    def newest(self, limit: int, since: str = "", **equal: Any) -> list[Row]:
        """Lines in which the named columns have the given values, newest first; an empty value asks for nothing."""
        wanted = [audit.c[name] == value for name, value in equal.items() if value]
        wanted += [audit.c.at >= since] if since else []
        return self._run.rows(select(audit).where(*wanted).order_by(audit.c.id.desc()).limit(limit))

    def of_change(self, number: int) -> list[Row]:
        """Oldest first."""
        return self._run.rows(select(audit).where(audit.c.change == number).order_by(audit.c.id))

    def commits(self) -> set[str]:
        """Every commit that is named."""
        return {row["commit_id"] for row in self._run.rows(select(audit.c.commit_id).where(audit.c.commit_id != ""))}

    def last_commit(self) -> str:
        """The commit named last, "" if none is."""
        named = select(audit.c.commit_id).where(audit.c.commit_id != "")
        return self._run.value(named.order_by(audit.c.id.desc()).limit(1)) or ""

    def names(self, commit: str) -> bool:
        """Whether a commit is named."""
        return self._run.first(select(audit.c.id).where(audit.c.commit_id == commit)) is not None

    def last_writer(self, number: int) -> str:
        """Who wrote the present text of a change, "" if nobody is named."""
        return self._run.value(_LAST_WRITER, number=number) or ""
