"""Gaps: questions that people could not find an answer to."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from core.access import Actor, folded, require
from core.errors import BadInput, ConcordError, NotFound
from core.ports import Clock
from core.services.inbox.messages import Messages, Subject
from core.services.inbox.owners import Owners
from core.services.people.audit import Audit
from core.types import Document

if TYPE_CHECKING:
    from core.adapters.state.database import Database, State

MAX_NOTE = 2000


@dataclass(frozen=True, slots=True)
class Gap:
    """A question without an answer."""

    id: int
    query: str
    note: str
    who: str
    hits: int
    commit_id: str
    created: str
    closed: str
    account: str = ""


class Gaps:
    """Reports and lists gaps. `near` finds the documents nearest to a question: their owners are told."""

    def __init__(
        self,
        database: Database,
        clock: Clock,
        audit: Audit,
        messages: Messages,
        owners: Owners,
        near: Callable[[str], Sequence[Document]] = lambda question: (),
    ) -> None:
        self.database, self.clock, self.audit = database, clock, audit
        self.messages, self.owners, self.near = messages, owners, near

    def report(self, actor: Actor, query: str, note: str = "", hits: int = 0, commit: str = "") -> Gap:
        """Reporting the same question again adds nothing; a new one reaches the owners of the nearest documents."""
        require(actor, "report a gap")
        text = " ".join(query.split())[:500]
        if not text:
            raise BadInput("There is no question to report. Search for something first.")
        if len(note) > MAX_NOTE:
            raise BadInput(f"The note has {len(note):,} characters; the limit is {MAX_NOTE:,}.")
        owners = self.owners.of(self._near(text))
        with self.database.transaction() as state:
            if same := state.gaps.same(text, actor.name):
                return Gap(**same)
            asked = {"query": text, "note": note.strip(), "who": actor.name, "account": actor.id}
            number = state.gaps.add(**asked, hits=hits, commit_id=commit, created=self.clock.stamp())
            self.audit.record(state, actor, "report a gap", text)
            self.messages.tell(state, actor, owners, "gap", Subject("question", text, text), note)
        return self._known(self.database, number)

    def open(self, actor: Actor) -> tuple[Gap, ...]:
        """Unanswered questions, newest first."""
        require(actor, "see reported gaps")
        return tuple(Gap(**row) for row in self.database.gaps.open())

    def close(self, actor: Actor, number: int) -> None:
        """Answered: whoever asked is told."""
        require(actor, "see reported gaps")
        with self.database.transaction() as state:
            gap = self._known(state, number)
            if not gap.closed:
                self._answer(state, actor, gap, Subject("question", gap.query, gap.query), "A document answers it now.")

    def landed(self, state: State, actor: Actor, documents: Iterable[Document]) -> None:
        """Close the questions that merged documents list under `answers:`; whoever asked is led to the document."""
        waiting = {folded(row["query"]): [] for row in state.gaps.open()}  # type: dict[str, list[Gap]]
        for row in state.gaps.open():
            waiting[folded(row["query"])].append(Gap(**row))
        for document in documents if waiting else ():
            for question in document.meta.answers:
                for gap in waiting.pop(folded(" ".join(question.split())), ()):
                    subject = Subject("document", document.path, document.title)
                    self._answer(state, actor, gap, subject, f"It answers what you asked: {gap.query}")

    def _answer(self, state: State, actor: Actor, gap: Gap, subject: Subject, words: str) -> None:
        state.gaps.close(gap.id, self.clock.stamp())
        self.audit.record(state, actor, "close a gap", gap.query, detail=str(gap.id))
        self.messages.tell(state, actor, [gap.account], "answered", subject, words)

    def _near(self, question: str) -> Sequence[Document]:
        """The documents that a search finds; none while there is no index."""
        try:
            return self.near(question)
        except ConcordError:
            return ()

    def _known(self, state: State, number: int) -> Gap:
        row = state.gaps.get(number)
        if row is None:
            raise NotFound(f"There is no question {number}. List them with: python -m core gaps list")
        return Gap(**row)
