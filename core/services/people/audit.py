"""The audit: who did what, when, and through which door. It only grows and agrees with the repository."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from dataclasses import fields
from datetime import datetime
from typing import TYPE_CHECKING, TypedDict, Unpack

from core.access import READS, SIGN_IN, Actor, use_case
from core.errors import BadInput, StorageFailed, Unavailable
from core.logs import REQUEST
from core.ports import Clock
from core.services.people.readership import Readership
from core.spreadsheet import csv_text
from core.storage.state.records import AuditEntry

if TYPE_CHECKING:
    from core.curation.review.readers import Readable
    from core.storage.git.repository import Repository
    from core.storage.state.database import Database, State

_LOG = logging.getLogger(__name__)
MAX_DETAIL = 21_000  # characters; a comment and who wrote it


class AuditDetails(TypedDict, total=False):
    """Details that an entry of the audit may have besides what it was done to."""

    change: int
    commit: str
    detail: str


class Audit:
    """Writes and reads the audit."""

    def __init__(self, database: Database, repository: Repository, clock: Clock, readership: Readership) -> None:
        self.database = database
        self.repository = repository
        self.clock = clock
        self.readership = readership

    def record(self, state: State, actor: Actor, action: str, what: str, **more: Unpack[AuditDetails]) -> None:
        """Add an entry inside the transaction that does the thing itself."""
        state.audit.add(
            at=self.clock.stamp(),
            who=actor.id,
            name=actor.name,
            role=actor.role,
            door=actor.door,
            action=action,
            what=what[:500],
            change=more.get("change", 0),
            commit_id=more.get("commit", ""),
            detail=more.get("detail", "")[:MAX_DETAIL],
            token=actor.token,
            request=actor.request or REQUEST.get(),
        )

    @use_case(SIGN_IN)
    def note(self, actor: Actor, action: str, what: str, **more: Unpack[AuditDetails]) -> None:
        """Add an entry about what has happened. Where it cannot be written, the log says so: the deed stands."""
        try:
            self.before(actor, action, what, **more)
        except (StorageFailed, Unavailable) as error:
            _LOG.error("The audit lacks that %s did this: %s %s. %s", actor.id, action, what, error)

    @use_case(SIGN_IN)
    def before(self, actor: Actor, action: str, what: str, **more: Unpack[AuditDetails]) -> None:
        """Add an entry about what may only happen once the audit has it."""
        with self.database.transaction() as state:
            self.record(state, actor, action, what, **more)

    @use_case("see the audit", READS)
    def entries(
        self, actor: Actor, *, who: str = "", action: str = "", change: int = 0, since: str = "", limit: int = 500
    ) -> tuple[AuditEntry, ...]:
        """Matching entries, newest first."""
        _check_time(since)
        rows = self.database.audit.newest(limit, since, who=who, action=action, change=change)
        return tuple(sorted(self._shown(rows), key=lambda row: (row.at, row.id), reverse=True))

    def _shown(self, rows: list[AuditEntry]) -> list[AuditEntry]:
        """The entries of which whoever reads now may read what they name; asked once, not for every line."""
        seen = self.readership.now()
        return rows if seen is None else [row for row in rows if self._may_see(row, seen)]

    def _may_see(self, row: AuditEntry, seen: Readable) -> bool:
        """Whether somebody may read what an entry names: its change, and its documents."""
        if row.who == seen.actor.id:  # one's own words come back, so no title can be guessed by a line that is missing
            return True
        known = self.database.changes.get(row.change) if row.change else None
        if seen.names(f"{row.what} {row.detail}"):
            return False
        if row.action == "commit":  # its subject was written outside of Concord
            return self.readership.sees_commit(row.commit_id, seen)
        return known is None or self.readership.sees_change(known, seen)

    @use_case("propose a change", READS)
    def of_change(self, actor: Actor, number: int) -> tuple[AuditEntry, ...]:
        """What happened to a change, oldest first; visible to everybody who sees the change."""
        return tuple(self._shown(self.database.audit.of_change(number)))

    def problems(self) -> Iterator[str]:
        """Where audit and main line disagree."""
        stored = {step.id for step, _ in self.repository.log(self.repository.head())}
        named = self.database.audit.commits()
        for commit in sorted(stored - named):
            yield f"commit {commit[:12]} is in the repository but not in the audit"
        lost = named - stored
        for commit in sorted(lost - self.repository.ancestors(self.repository.head()) if lost else ()):
            yield f"commit {commit[:12]} is in the audit but not in the repository"


def _check_time(since: str) -> None:
    """Refuse what no entry could be compared with.

    >>> _check_time("2026-03-31")
    """
    try:
        datetime.fromisoformat(since or "2026-03-31")
    except ValueError:
        raise BadInput(f"{since!r} is no time. Write it like 2026-03-31 or 2026-03-31T17:00.") from None


def as_csv(entries: tuple[AuditEntry, ...]) -> str:
    """The audit for a spreadsheet.

    >>> line = {"at": "t", "who": "a", "name": "=HYPERLINK(1)", "role": "admin", "door": "app", "action": "merge"}
    >>> as_csv((AuditEntry(id=1, **line, what="x"),)).splitlines()[1]
    "1,t,a,'=HYPERLINK(1),admin,app,merge,x,0,,,,"
    """
    names = [field.name for field in fields(AuditEntry)]
    return csv_text([names, *([getattr(entry, name) for name in names] for entry in entries)])
