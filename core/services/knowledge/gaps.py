"""Gaps: what people looked for and did not find. Kept so that owners can write it."""

from __future__ import annotations

from dataclasses import dataclass

from core.access import Actor, require
from core.errors import BadInput
from core.ports import Clock, Database

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
    """Reports and lists them."""

    def __init__(self, database: Database, clock: Clock) -> None:
        self.database, self.clock = database, clock

    def report(self, actor: Actor, query: str, note: str = "", hits: int = 0, commit: str = "") -> Gap:
        """Keep a question; asking the same again adds nothing."""
        require(actor, "report a gap")
        text = " ".join(query.split())[:500]
        if not text:
            raise BadInput("There is no question to report. Search for something first.")
        if len(note) > MAX_NOTE:
            raise BadInput(f"The note has {len(note):,} characters; the limit is {MAX_NOTE:,}.")
        same = self.database.query("SELECT * FROM gaps WHERE query = ? AND who = ? AND closed = ''", (text, actor.name))
        if not same:
            self.database.insert(
                "INSERT INTO gaps (query, note, who, hits, commit_id, created) VALUES (?, ?, ?, ?, ?, ?)",
                (text, note.strip(), actor.name, hits, commit, self.clock.stamp()),
            )
        return self.open()[0] if not same else Gap(**same[0])

    def open(self) -> tuple[Gap, ...]:
        """Questions that still have no answer, newest first."""
        return tuple(Gap(**row) for row in self.database.query("SELECT * FROM gaps WHERE closed = '' ORDER BY id DESC"))

    def close(self, actor: Actor, number: int) -> None:
        """Mark a question as answered."""
        require(actor, "see reported gaps")
        self.database.execute("UPDATE gaps SET closed = ? WHERE id = ?", (self.clock.stamp(), number))
