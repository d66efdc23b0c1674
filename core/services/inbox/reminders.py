"""Reminders: owners learn once that a review date comes near, and once that it has passed."""

from __future__ import annotations

from collections import defaultdict
from datetime import date
from typing import TYPE_CHECKING

from core.access import SYSTEM, UPKEEP, use_case
from core.services.inbox.messages import Messages, Subject
from core.services.inbox.owners import Owners
from core.services.knowledge.freshness import FreshnessBoard
from core.types import Document

if TYPE_CHECKING:
    from core.storage.state.database import State

NAMED = 5  # documents that a message about several names


class Reminders:
    """Messages about review dates. Asked at the start and when somebody comes; a day's second call does nothing."""

    def __init__(self, board: FreshnessBoard, owners: Owners, messages: Messages) -> None:
        self.board, self.owners, self.messages = board, owners, messages
        self._done = ("", "")

    @use_case(UPKEEP)
    def remind(self) -> int:
        """Tell owners what became due since they were last told; how many messages that makes."""
        today = (self.board.repository.head(), self.board.clock.today().isoformat())
        if self._done == today:
            return 0
        attention = self.board.attention()
        due = [(document, "overdue") for document, _ in attention.overdue]
        due += [(document, "due soon") for document, _ in attention.due_soon]
        told = self._tell(due) if due else 0
        self._done = today
        return told

    def _tell(self, due: list[tuple[Document, str]]) -> int:
        with self.messages.database.transaction() as state:
            told = self._new(state, due)
            for account, documents in told.items():
                self.messages.tell(state, SYSTEM, [account], "due", *_about(documents, self.board.clock.today()))
        return len(told)

    def _new(self, state: State, due: list[tuple[Document, str]]) -> dict[str, list[tuple[Document, str]]]:
        """By account what it was not told about yet; written down as told."""
        known, new = state.reminders.all(), defaultdict(list)
        for document, when in due:
            for account in sorted(self.owners.of([document])):
                row = (account, document.path, str(document.meta.review_due), when)
                if row not in known and self.messages.readable(state, account, document.path):
                    new[account].append((document, when))
                    state.reminders.add(*row)
        return new


def _about(documents: list[tuple[Document, str]], today: date) -> tuple[Subject, str]:
    """One document by name, several as the list of a day."""
    document, when = documents[0]
    if len(documents) == 1:
        words = "Its review date has passed" if when == "overdue" else "Its review date comes near"
        return Subject("document", document.path, document.title), f"{words}: {document.meta.review_due}."
    titles = [document.title for document, _ in documents]
    more = f" and {len(titles) - NAMED} more" if len(titles) > NAMED else ""
    paths = tuple(document.path for document, _ in documents)
    subject = Subject("freshness", today.isoformat(), f"{len(titles)} documents", names=paths)
    return subject, ", ".join(titles[:NAMED]) + more
