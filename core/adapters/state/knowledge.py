"""Drafts that were not saved yet, and gaps that people reported."""

from __future__ import annotations

from sqlalchemy import delete, select, update

from core.adapters.state.statements import Row, Statements
from core.adapters.state.tables import drafts, gaps


class DraftRows:
    """The table `drafts`."""

    def __init__(self, statements: Statements) -> None:
        self._run = statements

    def keep(self, who: str, place: str, text: str, at: str) -> None:
        """One text per person and place."""
        row = {"who": who, "place": place, "text": text, "at": at}
        self._run.upsert(drafts, [row], ["who", "place"], ["text", "at"])

    def get(self, who: str, place: str) -> Row | None:
        """The text and when it was kept."""
        mine = (drafts.c.who == who, drafts.c.place == place)
        return self._run.first(select(drafts.c.text, drafts.c.at).where(*mine))

    def drop(self, who: str, place: str) -> None:
        """Forget a text."""
        self._run.change(delete(drafts).where(drafts.c.who == who, drafts.c.place == place))


class GapRows:
    """The table `gaps`."""

    def __init__(self, statements: Statements) -> None:
        self._run = statements

    def add(self, query: str, note: str, who: str, hits: int, commit: str, created: str) -> None:
        """A question without an answer."""
        self._run.add(gaps, query=query, note=note, who=who, hits=hits, commit_id=commit, created=created)

    def open(self) -> list[Row]:
        """Newest first."""
        return self._run.rows(select(gaps).where(gaps.c.closed == "").order_by(gaps.c.id.desc()))

    def same(self, query: str, who: str) -> Row | None:
        """The open gap that somebody reported with the same words."""
        return self._run.first(select(gaps).where(gaps.c.query == query, gaps.c.who == who, gaps.c.closed == ""))

    def close(self, number: int, at: str) -> None:
        """Mark one as answered."""
        self._run.change(update(gaps).where(gaps.c.id == number).values(closed=at))
