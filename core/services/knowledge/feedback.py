"""Feedback on a document outside a review: this is wrong, still right, or a comment; it reaches the owner."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from core.access import ANYONE, READS, Actor, use_case
from core.curation.review.proposals import check_text
from core.curation.text.render import plain
from core.cures import FEEDBACK
from core.errors import BadInput, NotFound, Refused, one_of
from core.ports import Clock
from core.services.inbox.messages import Subject
from core.services.inbox.news import ChangeNews, Landing
from core.services.inbox.owners import Owners
from core.services.knowledge.documents import Documents
from core.services.people.audit import Audit
from core.storage.state.records import Feedback
from core.types import Document

if TYPE_CHECKING:
    from core.storage.state.database import Database, State

KINDS = {"wrong": "This is wrong", "right": "Still right", "comment": "Comment"}
MAX_QUOTE = 400


class ReadSpan(NamedTuple):
    """A passage of a document as somebody read it; nothing of it if empty."""

    start: int = 0
    stop: int = 0
    version: int = 0  # the newest if not said


class FeedbackBoard:
    """Takes feedback, shows it to those who write, and tells whoever gave it how it ended."""

    def __init__(
        self, database: Database, documents: Documents, owners: Owners, news: ChangeNews, audit: Audit, clock: Clock
    ) -> None:
        self.database, self.documents, self.owners = database, documents, owners
        self.news, self.audit, self.clock = news, audit, clock

    @use_case("give feedback")
    def give(self, actor: Actor, name: str, kind: str, note: str = "", about: ReadSpan = ReadSpan()) -> Feedback:
        """Say something about a document or about a passage of a version of it; the owner is told."""
        document, text = self.documents.show(name), check_text(note)
        one_of(kind, KINDS, "feedback", "Kinds")
        if kind != "right" and not text:
            raise BadInput("Say in a few words what is wrong." if kind == "wrong" else "The comment is empty.")
        place = self._place(document, about)
        with self.database.transaction() as state:
            if kind == "right" and (same := self._confirmed(state, actor, document)):
                return same
            number = state.feedback.add(
                path=document.path,
                kind=kind,
                note=text,
                **place,
                account=actor.id,
                name=actor.name,
                at=self.clock.stamp(),
            )
            self._tell(state, actor, document, kind, text, place)
            self.audit.record(state, actor, "give feedback", document.title, detail=f"{kind}: {document.path}")
        return self._known(self.database, number)

    @use_case("answer feedback", READS)
    def open(self, actor: Actor, name: str = "") -> tuple[Feedback, ...]:
        """What nobody has answered, newest first: on one document or on all."""
        path = self.documents.show(name).path if name else ""
        seen = self.documents.readership.now()
        rows = (row for row in self.database.feedback.open() if not path or row.path == path)
        return tuple(row for row in rows if seen is None or seen.path(row.path))

    @use_case(ANYONE)
    def confirmations(self, name: str) -> tuple[Feedback, ...]:
        """Who said that the present version is still right, newest first."""
        document = self.documents.show(name)
        return tuple(
            row
            for row in self.database.feedback.of(document.path)
            if row.kind == "right" and row.version == document.version
        )

    @use_case("answer feedback")
    def close(self, actor: Actor, number: int, answer: str = "") -> Feedback:
        """Answered: whoever gave it is told, with a few words if there are some."""
        text = check_text(answer)
        with self.database.transaction() as state:
            before = self._known(state, number)
            if before.closed:
                raise Refused(f"{before.closed_by} has answered this already.")
            state.feedback.close(number, closed=self.clock.stamp(), closed_by=actor.name, answer=text)
            title = self._title(before.path)
            subject = Subject("document", before.path, title)
            self.news.messages.tell(
                state, actor, [before.account], "answered", subject, text or "Your feedback was dealt with."
            )
            self.audit.record(state, actor, "answer feedback", title, detail=str(number))
        return self._known(self.database, number)

    def landed(self, state: State, actor: Actor, landing: Landing) -> None:
        """Feedback follows a document that moves."""
        for edit in landing.edits:
            if edit.kind == "renamed":
                state.feedback.move(edit.old_path, edit.path)

    def _tell(
        self, state: State, actor: Actor, document: Document, kind: str, text: str, place: dict[str, Any]
    ) -> None:
        shown = {name: value for name, value in (("start", place["start"]), ("end", place["stop"])) if place["stop"]}
        if shown:
            shown["version"] = place["version"]
        subject = Subject("document", document.path, document.title, shown)
        named = self.news.named(state, actor, subject, text, "read documents")
        words = f"{KINDS[kind]}: {text}" if text else KINDS[kind]
        self.news.messages.tell(state, actor, self.owners.of([document]) - named, "feedback", subject, words)

    def _place(self, document: Document, about: ReadSpan) -> dict[str, Any]:
        """The passage as it stands now, where it still does."""
        start, stop, version = about
        span = self.documents.passage(document, start, stop, version or document.version) if start < stop else None
        if span is None or not 0 <= span[0] < span[1] <= len(document.text):
            return {"start": 0, "stop": 0, "quote": "", "version": document.version}
        quote = " ".join(plain(document.text[span[0] : span[1]]).split())[:MAX_QUOTE]
        return {"start": span[0], "stop": span[1], "quote": quote, "version": document.version}

    def _confirmed(self, state: State, actor: Actor, document: Document) -> Feedback | None:
        """What this person said about this version before."""
        for row in state.feedback.of(document.path):
            if (row.kind, row.account, row.version) == ("right", actor.id, document.version):
                return row
        return None

    def _known(self, state: State, number: int) -> Feedback:
        row, seen = state.feedback.get(number), self.documents.readership.now()
        if row is None or (seen is not None and not seen.path(row.path)):
            raise NotFound(f"There is no feedback {number}.", FEEDBACK)
        return row

    def _title(self, path: str) -> str:
        try:
            return self.documents.show(path).title
        except NotFound:
            return path
