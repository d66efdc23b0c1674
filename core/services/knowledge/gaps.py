"""Gaps: questions that people could not find an answer to."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from core.access import Actor, require
from core.errors import BadInput
from core.ports import Clock
from core.services.people.audit import Audit

if TYPE_CHECKING:
    from core.adapters.state.knowledge import GapRows

MAX_NOTE = 2000


@dataclass(frozen=True, slots=True)
class Gap:
    """A question without an answer."""

    id: int
    query: str
    note: str
    who: str
    hits: int
    commit_id: str
    created: str
    closed: str


class Gaps:
    """Reports and lists gaps."""

    def __init__(self, rows: GapRows, clock: Clock, audit: Audit) -> None:
        self.rows, self.clock, self.audit = rows, clock, audit

    def report(self, actor: Actor, query: str, note: str = "", hits: int = 0, commit: str = "") -> Gap:
        """Reporting the same question again adds nothing."""
        require(actor, "report a gap")
        text = " ".join(query.split())[:500]
        if not text:
            raise BadInput("There is no question to report. Search for something first.")
        if len(note) > MAX_NOTE:
            raise BadInput(f"The note has {len(note):,} characters; the limit is {MAX_NOTE:,}.")
        if same := self.rows.same(text, actor.name):
            return Gap(**same)
        self.rows.add(text, note.strip(), actor.name, hits, commit, self.clock.stamp())
        self.audit.note(actor, "report a gap", text)
        return Gap(**self.rows.open()[0])

    def open(self, actor: Actor) -> tuple[Gap, ...]:
        """Unanswered questions, newest first."""
        require(actor, "see reported gaps")
        return tuple(Gap(**row) for row in self.rows.open())

    def close(self, actor: Actor, number: int) -> None:
        require(actor, "see reported gaps")
        self.rows.close(number, self.clock.stamp())
        self.audit.note(actor, "close a gap", str(number))
