"""The audit: who did what, when, and through which door. It only grows, and it agrees with the repository."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, fields
from typing import Any

from core.access import Actor, require
from core.ports import Clock, Database, Store
from core.spreadsheet import csv_text

Run = Callable[..., list[dict[str, Any]]]
"""One statement inside a transaction: `run(sql, values) -> rows`."""


@dataclass(frozen=True, slots=True)
class AuditEntry:
    """One line of the audit."""

    id: int
    at: str
    who: str
    name: str
    role: str
    door: str
    action: str
    what: str
    change: int
    commit_id: str
    detail: str


_COLUMNS = ", ".join(field.name for field in fields(AuditEntry))


class Audit:
    """Writes and reads the audit."""

    def __init__(self, database: Database, store: Store, clock: Clock) -> None:
        self.database, self.store, self.clock = database, store, clock

    def record(
        self, run: Run, actor: Actor, action: str, what: str, *, change: int = 0, commit: str = "", detail: str = ""
    ) -> None:
        """Add a line, inside the transaction that does the thing itself."""
        run(
            f"INSERT INTO audit ({_COLUMNS}) VALUES (NULL, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (
                self.clock.stamp(),
                actor.id,
                actor.name,
                actor.role,
                actor.door,
                action,
                what[:500],
                change,
                commit,
                detail[:2000],
            ),
        )

    def note(self, actor: Actor, action: str, what: str, **more: Any) -> None:
        """Add a line on its own."""
        with self.database.transaction() as run:
            self.record(run, actor, action, what, **more)

    def entries(
        self, actor: Actor, *, who: str = "", action: str = "", change: int = 0, since: str = "", limit: int = 500
    ) -> tuple[AuditEntry, ...]:
        """Lines that match, newest first."""
        require(actor, "see the audit")
        asked = {"who = ?": who, "action = ?": action, "change = ?": change, "at >= ?": since}
        chosen = {clause: value for clause, value in asked.items() if value}
        where = f"WHERE {' AND '.join(chosen)}" if chosen else ""
        rows = self.database.query(
            f"SELECT {_COLUMNS} FROM audit {where} ORDER BY id DESC LIMIT ?", (*chosen.values(), limit)
        )
        return tuple(AuditEntry(**row) for row in rows)

    def of_change(self, number: int) -> tuple[AuditEntry, ...]:
        """What happened to a change, oldest first: everybody who sees the change may see this."""
        rows = self.database.query(f"SELECT {_COLUMNS} FROM audit WHERE change = ? ORDER BY id", (number,))
        return tuple(AuditEntry(**row) for row in rows)

    def problems(self) -> Iterator[str]:
        """Where audit and main line disagree."""
        kept = {step.id for step, _ in self.store.log(self.store.head())}
        said = {row["commit_id"] for row in self.database.query("SELECT commit_id FROM audit WHERE commit_id != ''")}
        yield from (f"commit {commit[:12]} is in the repository but not in the audit" for commit in sorted(kept - said))
        yield from (f"commit {commit[:12]} is in the audit but not in the repository" for commit in sorted(said - kept))


def as_csv(entries: tuple[AuditEntry, ...]) -> str:
    """The audit for a spreadsheet.

    >>> as_csv((AuditEntry(1, "t", "a", "=HYPERLINK(1)", "admin", "app", "merge", "x", 0, "", ""),)).splitlines()[1]
    "1,t,a,'=HYPERLINK(1),admin,app,merge,x,0,,"
    """
    names = [field.name for field in fields(AuditEntry)]
    return csv_text([names, *([getattr(entry, name) for name in names] for entry in entries)])
