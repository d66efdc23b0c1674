"""The status of a document: our four words, and what the words of other tools count as."""

from __future__ import annotations

import re
from collections.abc import Mapping

from core.errors import BadInput

STATUSES = ("draft", "approved", "superseded", "retired")
COUNTS_AS: Mapping[str, tuple[str, ...]] = {
    "approved": ("published", "active", "final", "stable", "current", "live", "accepted", "released", "public", "done",
                 "complete", "completed", "effective", "in force", "in effect", "valid", "adopted", "ok", "ready"),
    "draft": ("wip", "work in progress", "in progress", "in review", "under review", "review", "proposed", "proposal", "pending",
              "todo", "planned", "unpublished", "private", "idea", "drafting", "incomplete"),
    "superseded": ("replaced", "deprecated", "outdated"),
    "retired": ("archived", "archive", "obsolete", "withdrawn", "inactive", "expired", "rejected", "cancelled", "canceled", "removed"),
}  # fmt: skip
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
        if status not in STATUSES:
            raise BadInput(f"There is no status {status!r}. Statuses: {', '.join(STATUSES)}.")
    return dict(sorted(plain.items()))
