"""Unsaved text of editors, kept per person and place, so that leaving a page loses nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING

from core.access import Actor, require
from core.curation.frontmatter import MAX_BYTES
from core.errors import BadInput
from core.ports import Clock

if TYPE_CHECKING:
    from core.adapters.state.knowledge import DraftRows


class Drafts:
    """Drafts; each is visible to its writer alone."""

    def __init__(self, rows: DraftRows, clock: Clock) -> None:
        self.rows, self.clock = rows, clock

    def keep(self, actor: Actor, place: str, text: str) -> None:
        require(actor, "propose a change")
        if len(text.encode("utf-8", "replace")) > MAX_BYTES:
            raise BadInput(f"The text is longer than {MAX_BYTES:,} bytes, so it was not kept. Split the document.")
        self.rows.keep(actor.id, place, text, self.clock.stamp())

    def find(self, actor: Actor, place: str) -> tuple[str, str] | None:
        """The text and when it was kept; None when there is none."""
        require(actor, "propose a change")
        row = self.rows.get(actor.id, place)
        return (row["text"], row["at"]) if row else None

    def forget(self, actor: Actor, place: str) -> None:
        require(actor, "propose a change")
        self.rows.drop(actor.id, place)
