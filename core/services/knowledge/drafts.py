"""Unsaved text of editors, kept per person and place, so that leaving a page loses nothing."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from core.access import OWN_DESK, Actor, use_case
from core.curation.document.frontmatter import MAX_BYTES
from core.errors import BadInput
from core.ports import Clock

if TYPE_CHECKING:
    from core.storage.state.rows.knowledge import DraftRows


RECENT = timedelta(hours=12)  # who typed within them may still be at it


@dataclass(frozen=True, slots=True)
class Typing:
    """Somebody else with unsaved text of a document, in a change or (0) in the approved one."""

    name: str
    change: int
    at: str


class Drafts:
    """Drafts; each is visible to its writer alone. Others learn only that there is one."""

    def __init__(self, rows: DraftRows, clock: Clock) -> None:
        self.rows, self.clock = rows, clock

    @use_case("propose a change", OWN_DESK)
    def keep(self, actor: Actor, place: str, text: str, most: int = MAX_BYTES) -> None:
        if len(text.encode("utf-8", "replace")) > most:
            raise BadInput(f"The text is longer than {most:,} bytes, so it was not kept. Split the document.")
        self.rows.keep(actor.id, place, text, self.clock.stamp())

    @use_case("propose a change", OWN_DESK)
    def find(self, actor: Actor, place: str) -> tuple[str, str] | None:
        """The text and when it was kept; None when there is none."""
        row = self.rows.get(actor.id, place)
        return (row["text"], row["at"]) if row else None

    @use_case("propose a change", OWN_DESK)
    def others(self, actor: Actor, path: str) -> tuple[Typing, ...]:
        """Who else has been typing at a document today, last typed first."""
        since = datetime.fromisoformat(self.clock.stamp()) - RECENT
        found = ((row, *row["place"].partition(":")[::2]) for row in self.rows.others(actor.id, path))
        return tuple(
            Typing(row["name"], int(change), row["at"])
            for row, change, where in found
            if where == path and change.isdecimal() and datetime.fromisoformat(row["at"]) >= since
        )

    @use_case("propose a change", OWN_DESK)
    def forget(self, actor: Actor, place: str) -> None:
        self.rows.drop(actor.id, place)
