"""The real time."""

from __future__ import annotations

from datetime import date, datetime


class SystemClock:
    """The `Clock` port on the machine's clock."""

    def today(self) -> date:
        """The date here."""
        return date.today()

    def stamp(self) -> str:
        """Now, to the second, with the zone."""
        return datetime.now().astimezone().isoformat(timespec="seconds")
