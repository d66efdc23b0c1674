"""Gaps: questions that found nothing good. One closes when a document that lists it is found for it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial
from statistics import median
from typing import TYPE_CHECKING, Any

from core.access import NIGHTLY, READS, SYSTEM, UPKEEP, Actor, allowed, reading_as, use_case
from core.curation.document.names import top_folder
from core.curation.document.questions import one_line, same_form
from core.cures import GAPS
from core.errors import BadInput, ConcordError, NotFound, Refused
from core.services.answers.ranks import Place
from core.services.inbox.messages import Subject
from core.services.inbox.owners import Owners
from core.services.people.readership import PUBLIC
from core.services.platform.settings import QuestionSettings
from core.storage.state.records import AskedInVain, Gap
from core.types import Document, DocumentFacts

if TYPE_CHECKING:
    from core.services.platform.base import Base
    from core.storage.state.database import State

MAX_NOTE = 2000
MOST_OPEN = 100  # gaps of one account
NOBODY = "People who searched"  # where the question comes from the log, which names nobody
SOURCES = {
    "reported": "reported",
    "doubted": "found nothing good",
    "unopened": "asked often, never opened",
}

Answered = Callable[[str], "tuple[DocumentFacts, Place] | None"]
"""The document in the index that lists a question, and where a search finds it."""


@dataclass(frozen=True, slots=True)
class GapCounts:
    """Gaps that are open and closed, and the median of days until they closed; None before the first."""

    open: int = 0
    closed: int = 0
    days: float | None = None


class Gaps:
    """Reports, finds, lists and closes gaps. `near` finds the documents nearest to a question: their owners look after
    it.
    """

    def __init__(
        self, base: Base, owners: Owners, near: Callable[[str], Sequence[Document]], answered: Answered
    ) -> None:
        """`near` has the documents nearest to a question, `answered` says which one lists it."""
        self.database = base.database
        self.clock = base.clock
        self.audit = base.audit
        self.messages = base.messages
        self.settings = base.team_settings.questions
        self.owners = owners
        self.near = near
        self.answered = answered
        self.readership = base.messages.readership

    @use_case("report a gap")
    def report(self, actor: Actor, query: str, note: str = "", hits: int = 0, commit: str = "") -> Gap:
        """Reporting the same question again adds nothing; a new one reaches the owners of the nearest documents."""
        text = one_line(query)
        if not text:
            raise BadInput("There is no question to report. Search for something first.")
        if len(note) > MAX_NOTE:
            raise BadInput(f"The note has {len(note):,} characters; the limit is {MAX_NOTE:,}.")
        near = self._near(text)
        place = near[0].path if near else "/"
        with self.database.transaction() as state:
            asked = {"note": note.strip(), "who": actor.name, "account": actor.id}
            every = state.gaps.open()
            known = [row for row in every if same_form(row.query) == same_form(text)]
            if mine := next((row for row in known if row.account == actor.id), None):
                return self._shown(mine)
            if sum(row.account == actor.id for row in every) >= MOST_OPEN:
                raise Refused(f"{MOST_OPEN} questions that you reported are open. Report more when some are answered.")
            nobodys = next((row for row in known if not row.account), None)
            if nobodys and self.readership.may_read(PUBLIC, place):
                number = nobodys.id
                state.gaps.set(number, **asked, source="reported")
            else:
                number = self._add(state, near, query=text, hits=hits, commit_id=commit, **asked)
            gap = self._known(state, number)
            self.audit.record(state, actor, "report a gap", text, detail=gap.near)
            self.messages.tell(state, actor, self.owners.of(near), "gap", _subject(gap), note)
        return self._shown(gap)

    @use_case("see reported gaps", READS)
    def open(self, actor: Actor) -> tuple[Gap, ...]:
        """Unanswered questions, newest first."""
        return self._visible(self.database.gaps.open())

    def _visible(self, gaps: Iterable[Gap]) -> tuple[Gap, ...]:
        """Those near a document that the present reader may read, and the reader's own."""
        seen = self.readership.now()
        return tuple(self._shown(gap) for gap in gaps if self.readership.sees_gap(gap, seen))

    def _shown(self, gap: Gap) -> Gap:
        """Without the documents and the folder that the present reader may not read."""
        seen = self.readership.now()
        if seen is None or seen.paths(filter(None, (gap.path, gap.near))):
            return gap
        return replace(gap, path="", rank=0, folder="", near="/", owner="")

    @use_case("see reported gaps", READS)
    def counts(self, actor: Actor) -> dict[str, GapCounts]:
        """How the loop goes: under "" for all, and by folder."""
        groups: dict[str, list[Gap]] = defaultdict(list)
        for gap in self._visible(self.database.gaps.all()):
            groups[""].append(gap)
            groups[gap.folder or "top level"].append(gap)
        return {folder: _counted(gaps) for folder, gaps in groups.items()} or {"": GapCounts()}

    @use_case("look after gaps")
    def assign(self, actor: Actor, number: int, account: str) -> Gap:
        """Let somebody else look after a gap; they are told."""
        person = self.owners.accounts.get(account)
        if not person.active or not allowed(person.actor, "propose a change"):
            raise Refused(f"{person.name} cannot write documents. Choose an author or somebody above.")
        with self.database.transaction() as state:
            gap = self._known(state, number)
            if not self.readership.sees_gap(gap, self.readership.of(person.actor)):
                raise Refused(f"{person.name} may not read what this question is about. Choose one of its readers.")
            state.gaps.set(number, owner=person.id)
            self.audit.record(state, actor, "assign a gap", gap.query, detail=_detail(person.id, gap))
            self.messages.tell(state, actor, [person.id], "gap", _subject(gap), "It is yours to answer.")
        return self._shown(self._known(self.database, number))

    @use_case("look after gaps")
    def close(self, actor: Actor, number: int) -> None:
        """Answered, or no question of ours: whoever asked is told."""
        with self.database.transaction() as state:
            gap = self._known(state, number)
            if not gap.closed:
                self._answer(state, actor, gap, _subject(gap), "A document answers it now.")

    # ------------------------------------------------------------ by themselves

    @use_case("look after gaps", NIGHTLY, whole=True)
    def look(self, actor: Actor = SYSTEM) -> int:
        """Make gaps of questions that people asked in vain; how many are new. An asking before a gap was closed does
        not count.
        """
        settings, made = self.settings(), 0
        for row in self.database.queries.in_vain(settings.doubted, settings.often):
            source = self._source(row, settings)
            if source and not self._found(row.question):
                with reading_as(PUBLIC):
                    near = self._near(row.question)
                with self.database.transaction() as state:
                    values = {"query": row.question, "who": NOBODY, "source": source, "hits": 0, "commit_id": ""}
                    number = self._add(state, near, note=f"asked {row.times} times", **values)
                    gap = self._known(state, number)
                    self.audit.record(state, actor, "report a gap", gap.query, detail=_detail(SOURCES[source], gap))
                    words = f"Asked {row.times} times: {SOURCES[source]}."
                    self.messages.tell(state, SYSTEM, [gap.owner], "gap", _subject(gap), words)
                made += 1
        return made

    def _source(self, row: AskedInVain, settings: QuestionSettings) -> str:
        """Why a question is a gap; "" if it is none, is one already, or was answered since."""
        public = partial(self.readership.may_read, PUBLIC)
        same = [gap for gap in self.database.gaps.all() if same_form(gap.query) == row.key and public(gap.near)]
        if any(not gap.closed for gap in same):
            return ""
        times, found, opened = row.times, row.found, row.opened
        if same:
            since = self.database.queries.totals(row.key, max(gap.closed for gap in same))
            times, found, opened = since.asked, since.found, since.opened
        if times >= settings.doubted and not found:
            return "doubted"
        return "unopened" if times >= settings.often and not opened else ""

    def _found(self, question: str) -> bool:
        """Whether a document lists the question and is found for it."""
        listed = self._listed(question)
        return listed is not None and listed[1].within(self.settings().first)

    def landed(self, state: State, actor: Actor, documents: Iterable[Document]) -> None:
        """Note which document lists a question since a merge; whether it is found is known when the index serves it."""
        waiting: dict[str, list[Gap]] = defaultdict(list)
        for row in state.gaps.open():
            waiting[same_form(row.query)].append(row)
        for document in documents if waiting else ():
            for question in document.meta.answers:
                for gap in waiting.get(same_form(question), ()):
                    if self._may_read(state, gap, document.path):
                        state.gaps.set(gap.id, path=document.path, rank=0, writer=actor.id)

    @use_case(UPKEEP)
    def served(self) -> int:
        """After an index build: close the questions that a document lists and is found for, and tell whoever asked."""
        closed = 0
        for gap in self.database.gaps.open():
            listed = self._listed(gap.query)
            if listed is None or not self._may_read(self.database, gap, listed[0].path):
                continue
            facts, place = listed
            with self.database.transaction() as state:
                state.gaps.set(gap.id, path=facts.path, rank=place.rank)
                if place.within(self.settings().first):
                    subject = Subject("document", facts.path, facts.title, names=(gap.near,))
                    self._answer(state, self._writer(gap), gap, subject, f"It answers what you asked: {gap.query}")
                    closed += 1
        return closed

    # ------------------------------------------------------------ parts

    def _add(self, state: State, near: Sequence[Document], **values: Any) -> int:
        path = near[0].path if near else "/"
        readers = (each for each in sorted(self.owners.of(near[:1])) if self.messages.readable(state, each, path))
        return state.gaps.add(
            **values, owner=next(readers, ""), folder=top_folder(path), near=path, created=self.clock.stamp()
        )

    def _answer(self, state: State, actor: Actor, gap: Gap, subject: Subject, words: str) -> None:
        state.gaps.set(gap.id, closed=self.clock.stamp())
        self.audit.record(state, actor, "close a gap", gap.query, detail=_detail(str(gap.id), gap))
        self.messages.tell(state, actor, [gap.account], "answered", subject, words)

    def _may_read(self, state: State, gap: Gap, path: str) -> bool:
        """Whether a document is an answer to whoever asked; of those whom nobody knows, to everybody."""
        if gap.account:
            return self.messages.readable(state, gap.account, path)
        return self.readership.may_read(PUBLIC, path)

    def _writer(self, gap: Gap) -> Actor:
        """Who merged what answers it; the system where that is not known, or is who asked."""
        known = {account.id: account.actor for account in self.owners.accounts.all()}
        return known.get(gap.writer, SYSTEM) if gap.writer != gap.account else SYSTEM

    def _near(self, question: str) -> Sequence[Document]:
        """The documents that a search finds; none while there is no index."""
        try:
            return self.near(question)
        except ConcordError:
            return ()

    def _listed(self, question: str) -> tuple[DocumentFacts, Place] | None:
        try:
            return self.answered(question)
        except ConcordError:
            return None

    def _known(self, state: State, number: int) -> Gap:
        row = state.gaps.get(number)
        if row is None or not self.readership.sees_gap(row, self.readership.now()):
            raise NotFound(f"There is no question {number}.", GAPS)
        return row


def _subject(gap: Gap) -> Subject:
    """What messages about a gap are about: for those who may read the document nearest to it."""
    return Subject("question", gap.query, gap.query, names=(gap.near,))


def _detail(words: str, gap: Gap) -> str:
    """What the audit adds to a question: the path lets it hide the line with its document."""
    return f"{words}: {gap.near}"


def _counted(gaps: Sequence[Gap]) -> GapCounts:
    closed = [gap for gap in gaps if gap.closed]
    spans = [datetime.fromisoformat(gap.closed) - datetime.fromisoformat(gap.created) for gap in closed]
    days = median(span.total_seconds() for span in spans) / 86400 if spans else None
    return GapCounts(len(gaps) - len(closed), len(closed), days)
