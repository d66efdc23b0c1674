"""Typed text that was not saved yet: kept per person and place, so that leaving a page loses nothing."""

from __future__ import annotations

from core.access import Actor, require
from core.curation.frontmatter import MAX_BYTES
from core.errors import BadInput
from core.ports import Clock, Database


class Drafts:
    """Keeps and forgets drafts. A draft is seen by its writer alone."""

    def __init__(self, database: Database, clock: Clock) -> None:
        self.database, self.clock = database, clock

    def keep(self, actor: Actor, place: str, text: str) -> None:
        """Remember what stands in an editor."""
        require(actor, "propose a change")
        if len(text.encode("utf-8", "replace")) > MAX_BYTES:
            raise BadInput(f"The text is longer than {MAX_BYTES:,} bytes, so it was not kept. Split the document.")
        self.database.execute(
            "INSERT INTO drafts (who, place, text, at) VALUES (?, ?, ?, ?)"
            " ON CONFLICT (who, place) DO UPDATE SET text = excluded.text, at = excluded.at",
            (actor.id, place, text, self.clock.stamp()),
        )

    def find(self, actor: Actor, place: str) -> tuple[str, str] | None:
        """The text and when it was kept; None when there is none."""
        rows = self.database.query("SELECT text, at FROM drafts WHERE who = ? AND place = ?", (actor.id, place))
        return (rows[0]["text"], rows[0]["at"]) if rows else None

    def forget(self, actor: Actor, place: str) -> None:
        """After it was saved, or thrown away."""
        self.database.execute("DELETE FROM drafts WHERE who = ? AND place = ?", (actor.id, place))
