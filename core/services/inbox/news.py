"""What people learn about changes: comments, mentions, verdicts and merges; and owners of review dates, once near and
once passed.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from datetime import date
from typing import TYPE_CHECKING

from core.access import SYSTEM, UPKEEP, Actor, allowed, use_case
from core.curation.text.mentions import mentioned
from core.services.inbox.messages import Messages, Subject
from core.services.inbox.owners import Owners
from core.services.knowledge.freshness import FreshnessBoard
from core.services.people.accounts import Accounts
from core.services.people.directory import callnames
from core.storage.state.records import ChangeRow
from core.types import Document, Edit

if TYPE_CHECKING:
    from core.storage.state.database import State


@dataclass(frozen=True, slots=True)
class Landing:
    """What reached the main line in one commit; `change` is its row, None for an import or a commit made elsewhere."""

    commit: str
    title: str
    edits: tuple[Edit, ...]
    change: ChangeRow | None = None


class ChangeNews:
    """Tells those who take part in a change, inside the transaction of what happened."""

    def __init__(self, messages: Messages, accounts: Accounts) -> None:
        self.messages, self.accounts = messages, accounts

    def commented(self, state: State, actor: Actor, row: ChangeRow, comment: int, thread: int, body: str) -> None:
        """Whoever is named, whoever speaks in the conversation, and the authors of the change."""
        said = state.comments.of_change(row.id) if thread else []
        people = {remark.who for remark in said if thread in (remark.id, remark.thread)} | _authors(state, row)
        subject = _subject(row, side="Discussion", comment=str(thread or comment))
        named = self.named(state, actor, subject, body)
        self.messages.tell(state, actor, people - named, "answered", subject, body)

    def judged(self, state: State, actor: Actor, row: ChangeRow, verdict: str, note: str) -> None:
        """The authors, and whoever the note names."""
        named = self.named(state, actor, _subject(row), note)
        self.messages.tell(state, actor, _authors(state, row) - named, verdict, _subject(row), note)

    def merged(self, state: State, actor: Actor, landing: Landing) -> None:
        """The authors, those who were asked, and those who judged it."""
        if landing.change is None:
            return
        row = landing.change
        asked = {request.account for request in state.requests.of_changes([row.id])}
        judges = {verdict.who for verdict in state.verdicts.of_changes([row.id])}
        self.retire(state, row.id)
        self.messages.tell(state, actor, _authors(state, row) | asked | judges, "merged", _subject(row))

    def retire(self, state: State, number: int) -> None:
        """Take unread requests for a review back: the change has ended."""
        for request in state.requests.of_changes([number]):
            state.messages.drop(request.account, "asked", "change", str(number))

    def named(
        self, state: State, actor: Actor, subject: Subject, text: str, action: str = "propose a change"
    ) -> set[str]:
        """Tell whoever a text names with an @ and may see what it is about; who that was."""
        people = {account.id: account for account in self.accounts.all()}
        named = {who for who in mentioned(text, callnames(people.values())) if allowed(people[who].actor, action)}
        self.messages.tell(state, actor, named, "mentioned", subject, text)
        return named


def _authors(state: State, row: ChangeRow) -> set[str]:
    """Whose the change is."""
    return {row.author, *(invited.account for invited in state.co_authors.of_changes([row.id]))}


def _subject(row: ChangeRow, **place: str) -> Subject:
    return Subject("change", str(row.id), row.title, place)


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
