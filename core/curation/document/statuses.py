"""The status of a document: our four words, what the words of other tools count as; and how current it is, from its
dates.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date

from core.errors import BadInput, one_of

STATUSES = ("draft", "approved", "superseded", "retired")
COUNTS_AS: Mapping[str, tuple[str, ...]] = {
    "approved": (
        "published",
        "active",
        "final",
        "stable",
        "current",
        "live",
        "accepted",
        "released",
        "public",
        "done",
        "complete",
        "completed",
        "effective",
        "in force",
        "in effect",
        "valid",
        "adopted",
        "ok",
        "ready",
    ),
    "draft": (
        "wip",
        "work in progress",
        "in progress",
        "in review",
        "under review",
        "review",
        "proposed",
        "proposal",
        "pending",
        "todo",
        "planned",
        "unpublished",
        "private",
        "idea",
        "drafting",
        "incomplete",
    ),
    "superseded": ("replaced", "deprecated", "outdated"),
    "retired": (
        "archived",
        "archive",
        "obsolete",
        "withdrawn",
        "inactive",
        "expired",
        "rejected",
        "cancelled",
        "canceled",
        "removed",
    ),
}
WORDS: Mapping[str, str] = {word: status for status, words in COUNTS_AS.items() for word in words}
MAX_WORDS, MAX_WORD = 200, 60
SOURCE = "source_status"  # the key that keeps the word of a file whose status was written anew


def spelled(word: str) -> str:
    """A word in comparable form.

    >>> spelled(" Work-in_Progress ")
    'work in progress'
    """
    return " ".join(re.sub(r"[-_]", " ", word).lower().split())


def counts_as(word: str) -> str:
    """Which of our statuses a word stands for; "" for one that nobody knows, which counts as approved.

    >>> counts_as("Draft"), counts_as("Published"), counts_as("beta")
    ('draft', 'approved', '')
    """
    plain = spelled(word)
    return plain if plain in STATUSES else WORDS.get(plain, "")


def checked(words: Mapping[str, str]) -> dict[str, str]:
    """A team's own words, each with the status it stands for.

    >>> checked({"Beta": "draft"})
    {'beta': 'draft'}
    """
    if len(words) > MAX_WORDS:
        raise BadInput(f"There are {len(words):,} words; {MAX_WORDS} are enough for everybody.")
    plain = {spelled(word): status for word, status in words.items()}
    for word, status in plain.items():
        if not word or len(word) > MAX_WORD or not word.isprintable():
            raise BadInput(f"A word has 1 to {MAX_WORD} letters, and {word[:80]!r} has not.")
        if word in STATUSES:
            raise BadInput(f"{word!r} is a status already. Name a word that other tools use.")
        one_of(status, STATUSES, "status", "Statuses")
    return dict(sorted(plain.items()))


SOON = 60  # days before the review date


@dataclass(frozen=True, slots=True)
class Freshness:
    """`state`: upcoming, overdue, due soon, current or undated; `days` until (or since, if negative) the date that
    matters.
    """

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
    if days < 0:
        return Freshness("overdue", days)
    return Freshness("due soon" if days <= SOON else "current", days)


def parse_date(text: str) -> date | None:
    """ISO text to a date; "" to None."""
    return date.fromisoformat(text) if text else None
