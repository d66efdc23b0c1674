"""How current a document is, from its dates."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date

SOON = 60  # days before the review date


@dataclass(frozen=True, slots=True)
class Freshness:
    """`state`: upcoming, overdue, due soon, current or undated; `days` until (or since, if negative) the date that matters."""

    state: str
    days: int = 0


STATES = ("current", "due soon", "overdue", "upcoming", "undated")


def freshness(effective: date | None, review_due: date | None, today: date) -> Freshness:
    """The state of a document on a day.

    >>> freshness(None, date(2026, 11, 1), date(2026, 11, 15))
    Freshness(state='overdue', days=-14)
    >>> freshness(date(2029, 1, 1), date(2030, 1, 1), date(2026, 11, 15)).state
    'upcoming'
    """
    if effective and effective > today:
        return Freshness("upcoming", (effective - today).days)
    if review_due is None:
        return Freshness("undated")
    days = (review_due - today).days
    return Freshness("overdue" if days < 0 else "due soon" if days <= SOON else "current", days)


def parse_date(text: str) -> date | None:
    """ISO text to a date; "" to None."""
    return date.fromisoformat(text) if text else None
