"""The system clock."""

from __future__ import annotations

from datetime import date, datetime


class SystemClock:
    """The `Clock` port."""

    def today(self) -> date:
        return date.today()

    def stamp(self) -> str:
        """ISO 8601, to the second, with the zone."""
        return datetime.now().astimezone().isoformat(timespec="seconds")
