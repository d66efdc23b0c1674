"""What people learn about changes: comments, mentions, verdicts and merges."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from core.access import Actor, allowed
from core.curation.text.mentions import mentioned
from core.services.inbox.messages import Messages, Subject
from core.services.people.accounts import Accounts
from core.services.people.directory import callnames
from core.storage.state.records import ChangeRow
from core.types import Edit

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
        self.messages.tell(state, actor, _authors(state, row) | asked | judges, "merged", _subject(row))

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
