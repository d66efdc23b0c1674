"""The impact of a change: measured when it is submitted, after each edit of it, and when main moved under it."""

from __future__ import annotations

import time
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from functools import partial
from itertools import islice
from threading import Lock
from typing import TYPE_CHECKING, Any

from core.access import ALREADY_CHECKED, READS, SYSTEM, UPKEEP, Actor, reading_as, use_case
from core.curation.review.readers import Readable, Shared
from core.curation.text.render import plain
from core.curation.words import pins
from core.errors import Busy, ConcordError, Refused, StorageFailed
from core.evaluation import impact as impacts
from core.evaluation.impact import Contradiction, FoundDocument, Impact, ImpactQuestion, Shift, contradicted, shift
from core.evaluation.querysets.queryset import QuerySet
from core.evaluation.runs.run import label
from core.ports import Index, Progress, no_progress
from core.retrieval import config as configs
from core.retrieval import pipeline
from core.retrieval.cache import CachedReranker
from core.retrieval.pipeline import SearchContext
from core.retrieval.reader_index import seen_by
from core.retrieval.snippets import snippet
from core.retrieval.trace import Trace
from core.services.answers.ranks import free_of_charge
from core.services.disagreements.finder import Disagreement
from core.services.impact.change_questions import MOST_ASKED, Popular, questions
from core.services.impact.states import ChangeStates
from core.services.jobs.jobs import Job, Jobs
from core.services.people.accounts import COMMAND_LINE
from core.services.platform.settings import TeamSettings
from core.services.reviews.changes import Change, Changes
from core.services.search.searcher import Searcher
from core.types import Profile, SearchConfig

if TYPE_CHECKING:
    import numpy as np

    from core.services.platform.base import Base
    from core.storage.cache.vectors import EmbeddingCache

JOB = "impact"
LONG = 200_000  # bytes of documents that the server indexes at once for whoever waits; longer ones are a worker's
AT_ONCE = 2  # changes that it indexes at a time, one of each person
TOO_LONG = (
    "The documents of change {number} have {size:,} bytes; up to {most:,} are measured at once. A worker "
    "measures it when it is submitted for review."
)
ANOTHER = "What another change does to search is being measured. Ask again when that is done."
WORDS = 180  # characters of a passage that are kept
_LEFT_OUT = "What asks a language model was left out of it: every edit would run up a bill."


@dataclass(frozen=True, slots=True)
class ImpactEvidence:
    """Where the questions come from that a change is measured on, and what it contradicts."""

    guards: Callable[[], Iterable[QuerySet]]
    popular: Popular
    disagreeing: Callable[[Actor, int], Iterable[Disagreement]]


class Impacts:
    """Measures, keeps and shows impacts; the gate reads what is kept."""

    def __init__(
        self,
        base: Base,
        changes: Changes,
        states: ChangeStates,
        searcher: Searcher,
        jobs: Jobs,
        evidence: ImpactEvidence,
    ) -> None:
        self.changes = changes
        self.states = states
        self.searcher = searcher
        self.jobs = jobs
        self.vectors = base.vectors
        self.database, self.repository, self.clock = base.database, base.repository, base.clock
        self.guards, self.popular, self.disagreeing = evidence.guards, evidence.popular, evidence.disagreeing
        self._measuring, self._lock = set[str](), Lock()

    @property
    def team_settings(self) -> TeamSettings:
        return self.searcher.team_settings

    # ------------------------------------------------------------ show

    @use_case("propose a change", READS)
    def show(self, actor: Actor, number: int) -> Impact | None:
        """What was measured last; None if nothing was. `fresh` says whether it is about the change as it is now."""
        packed = self.database.impacts.packed(self.changes.get(number).id)
        return self._seen(impacts.unpack(packed)) if packed else None

    def _seen(self, impact: Impact) -> Impact:
        """Questions about documents that may not be read stay in the counts and verdicts; their places are not
        shown.
        """
        seen = self.changes.readership.now()
        if seen is None:
            return impact
        secret = self._secret(seen)

        def hide(found: Iterable[FoundDocument]) -> tuple[FoundDocument, ...]:
            return tuple(one for one in found if seen.path(one.path))

        shifts = tuple(
            replace(
                shift,
                top_before=hide(shift.top_before),
                top_after=hide(shift.top_after),
                disagreement="" if seen.names(shift.disagreement) else shift.disagreement,
            )
            for shift in impact.shifts
            if seen.path(shift.source) and not (shift.kind == impacts.GUARD and shift.text in secret)
        )
        told = tuple(one for one in impact.contradictions if seen.paths(filter(None, (one.path, one.other))))
        return replace(impact, shifts=shifts, contradictions=told, notes=tuple(map(seen.redacted, impact.notes)))

    def _secret(self, seen: Readable) -> set[str]:
        """Questions of guards that documents answer which may not be read."""
        found = set[str]()
        for queryset in self.guards():
            gone = {judgment.question for judgment in queryset.judgments if not seen.path(judgment.path)}
            found |= {question.text for question in queryset.questions if question.id in gone}
        return found

    @use_case(ALREADY_CHECKED)
    def fresh(self, change: Change, impact: Impact | None) -> bool:
        """Whether an impact is about this text on this main line; that of an ended change is final."""
        if impact is None or impact.head != change.head:
            return False
        return not change.open or impact.main == self.repository.head()

    @use_case("propose a change", READS)
    def open(self, actor: Actor, number: int, profile: Profile) -> Index:
        """The knowledge base as it would be with a change, to search in."""
        return self.states.open(number, profile)

    # ------------------------------------------------------------ measure

    @use_case("propose a change", READS)
    def measure(self, actor: Actor, number: int, progress: Progress = no_progress) -> Impact:
        """Measure now, in this process, unless that is known."""
        known, change = self.show(actor, number), self.changes.get(number)
        if known is not None and self.fresh(change, known):
            return known
        if not change.open:
            raise Refused(f"Change {number} is {change.state}; its impact was not measured while it was open.")
        if change.conflicts:
            raise Refused("It conflicts with what was merged meanwhile. Solve that first, then its impact is measured.")
        with self._turn(actor, change):
            with reading_as(SYSTEM):
                measured = self._measure(change, progress, AnswersByCommit())
            return self._seen(measured)

    @contextmanager
    def _turn(self, actor: Actor, change: Change) -> Iterator[None]:
        """Indexing a change takes the time of its texts, in the process that serves everybody: short ones, and few at
        a time.
        """
        if actor.door == COMMAND_LINE:
            yield
            return
        paths = [edit.path for edit in change.documents if edit.kind != "deleted"]
        size = sum(len(self.repository.read(change.head, path)) for path in paths)
        if size > LONG:
            raise Refused(TOO_LONG.format(number=change.id, size=size, most=LONG))
        with self._lock:
            if actor.id in self._measuring or len(self._measuring) >= AT_ONCE:
                raise Busy(ANOTHER)
            self._measuring.add(actor.id)
        try:
            yield
        finally:
            self._measuring.discard(actor.id)

    @use_case(UPKEEP)
    def start(self, cause: Actor = SYSTEM) -> Job | None:
        """Measure every change in review that is not measured as it is now, as a job; None if there is none."""
        with suppress(StorageFailed):  # whoever submitted has submitted; the page asks again
            return self.jobs.start(JOB, {}, cause=cause) if self._next() else None
        return None

    def work(self, arguments: Mapping[str, Any], progress: Progress) -> Any:
        """The job: one change after the other, until none waits. One that fails is named and does not stop the
        others.
        """
        self.jobs.actor(arguments, "propose a change")  # whether they still may
        self.sweep()
        measured: list[int] = []
        failed: dict[int, str] = {}
        known = AnswersByCommit()
        while change := self._next(failed):
            try:
                self._measure(change, progress, known)
                measured.append(change.id)
            except ConcordError as error:
                failed[change.id] = str(error)
        return {"measured": measured, "failed": failed}

    @use_case(UPKEEP)
    def sweep(self) -> None:
        """Give back the disk of states that a kill left behind."""
        self.states.sweep(set(self.changes.heads("open")))

    def ended(self, number: int) -> None:
        """A change was merged or closed: its state goes, what was measured stays."""
        self.states.forget(number)

    def _next(self, failed: Container[int] = ()) -> Change | None:
        """A change in review that is not measured as it is now, the one last touched first."""
        main, known = self.repository.head(), self.database.impacts.measured()
        for number, head in self.changes.heads("in review").items():
            if number not in failed and known.get(number) != (head, main):
                change = self.changes.get(number)
                if change.open and change.state != "draft" and not change.conflicts:
                    return change
        return None

    def measure_merged(self, merged: Sequence[Change]) -> Iterator[Impact]:
        """What changes did to search that were merged unmeasured, the oldest first, for services; each on main as it
        was then.
        """
        steps = [(self.repository.log(change.merged, limit=2)[1][0].id, change.merged) for change in merged]
        states, known = self.states.replayed(self.team_settings.production().profile, steps), AnswersByCommit()
        for change, (main, _), (before, after) in zip(merged, steps, states, strict=True):
            yield self._compare(change, main, (before, after), (), known, no_progress)

    def _measure(self, change: Change, progress: Progress, known: AnswersByCommit) -> Impact:
        main = self.repository.head()
        contradictions = tuple(
            _contradiction(found) for found in self.disagreeing(SYSTEM, change.id) if found.state == "open"
        )
        progress(0, 1, f"Change {change.id}: indexing")
        profile = self.team_settings.production().profile
        with self.states.both(change.id, profile, main, change.head, progress) as (before, after):
            return self._compare(change, main, (before, after), contradictions, known, progress)

    def _compare(
        self,
        change: Change,
        main: str,
        states: tuple[Index, Index],
        contradictions: tuple[Contradiction, ...],
        known: AnswersByCommit,
        progress: Progress,
    ) -> Impact:
        """Ask both states, and keep what differs."""
        before, after = states
        started, production = time.perf_counter(), self.team_settings.production()
        config, notes = _without_bills(production.config)
        rules = (self.searcher.rules(before), self.searcher.rules(after))
        asked = questions(before, after, change.documents, self.guards(), self.popular(MOST_ASKED), rules)
        search = _BothStates(self.searcher, self.vectors, states, config, contradictions, known)
        search.prepare([question.text for question in asked])
        shifts = [search.shift(question, n, len(asked), progress) for n, question in enumerate(asked, 1)]
        impact = Impact(
            change.id,
            change.head,
            main,
            production.profile.name,
            label(config),
            _counts(asked),
            tuple(
                search.in_brief(question, each)
                for question, each in zip(asked, shifts, strict=True)
                if each.moved or each.disagreement or each.kind == impacts.OWN
            ),
            impacts.verdicts(shifts),
            _chunks(before, after),
            self.clock.stamp(),
            round(time.perf_counter() - started, 3),
            notes,
            contradictions,
        )
        self.database.impacts.keep(
            change=change.id, head=change.head, main=main, created=impact.created, result=impacts.pack(impact)
        )
        return impact


Answers = dict[tuple[str, Shared | None], tuple[FoundDocument, ...]]


class AnswersByCommit:
    """What states of main answered: the one before a change is often the one before or after the last change, too."""

    def __init__(self) -> None:
        self._of: dict[tuple[str, SearchConfig], Answers] = {}

    def of(self, commits: Sequence[str], config: SearchConfig) -> list[Answers]:
        """By question and readers, of each of these commits; what others answered is forgotten."""
        self._of = {(commit, config): self._of.get((commit, config), {}) for commit in commits}
        return [self._of[commit, config] for commit in commits]


class _BothStates:
    """Two generations under one configuration: queries are embedded once, passages reranked once."""

    def __init__(
        self,
        searcher: Searcher,
        vectors: EmbeddingCache,
        states: tuple[Index, Index],
        config: SearchConfig,
        contradictions: Sequence[Contradiction],
        known: AnswersByCommit,
    ) -> None:
        self.searcher, self.vectors, self.indexes = searcher, vectors, states
        self.contradictions = contradictions
        self.config = replace(config, k=config.depth, collapse=False)  # the places of all that the legs give
        self.known: dict[str, np.ndarray] = {}
        self._reranker: CachedReranker | None = None
        self._found = known.of([index.generation.commit for index in self.indexes], self.config)

    def _ask(self, index: Index) -> SearchContext:
        ask = self.searcher.ask(index, self.config)
        return ask._replace(embed=lambda text: self._vector(text, ask), reranker=lambda: self._read_once(ask))

    def _read_once(self, ask: SearchContext) -> CachedReranker:
        self._reranker = self._reranker or CachedReranker(ask.reranker())
        return self._reranker

    def prepare(self, texts: Sequence[str]) -> None:
        """Look up the vectors of questions that were asked in earlier measurements."""
        profile = self.indexes[0].profile
        if configs.embeds(self.config) and not self.searcher.models.of(profile).parts:
            self.known = dict(self.vectors.get(self._model, list(dict.fromkeys(texts))))

    @property
    def _model(self) -> str:
        return f"query {self.searcher.models.of(self.indexes[0].profile).name}"

    def _vector(self, text: str, ask: SearchContext) -> np.ndarray:
        if text not in self.known:
            self.known[text] = ask.embed(text)
            if self.known[text].ndim == 1:
                self.vectors.put(self._model, {text: self.known[text]})
        return self.known[text]

    def shift(self, question: ImpactQuestion, n: int, of: int, progress: Progress) -> Shift:
        progress(n, of, "Asking before and after")
        before, after = map(partial(self._answer, question), self._found, self.indexes)
        return replace(shift(question, before, after), disagreement=contradicted(after, self.contradictions))

    def _answer(self, question: ImpactQuestion, known: Answers, index: Index) -> tuple[FoundDocument, ...]:
        shared = self._readers(question, index)
        if (answer := known.get((question.text, shared))) is None:
            view = seen_by(index, shared)
            answer = known[question.text, shared] = documents(question.text, self.config, view, self._ask(view))
        return answer

    def _readers(self, question: ImpactQuestion, index: Index) -> Shared | None:
        """A place is one among what all readers of the documents that answer may read: it tells of nothing else. A pin
        is for everybody."""
        answering = {**question.before, **question.after} if question.source != pins.FILE else ()
        return self.searcher.readership.shared(index, answering)

    def in_brief(self, question: ImpactQuestion, each: Shift) -> Shift:
        """A shift with the words of each passage that fit the question best."""
        views = [seen_by(index, self._readers(question, index)) for index in self.indexes]
        tops = zip(views, (each.top_before, each.top_after), strict=True)
        before, after = (tuple(_brief(each.text, found, index) for found in top) for index, top in tops)
        return replace(each, top_before=before, top_after=after)


def _brief(question: str, found: FoundDocument, index: Index) -> FoundDocument:
    best = snippet(plain(found.text), question, index.profile.lexical, index.rarity, WORDS)
    return replace(found, text=" ".join("".join(part.text for part in best.segments).split()))


def _contradiction(found: Disagreement) -> Contradiction:
    mine, theirs = found.mine, found.theirs
    sentence = f"{mine.path}, line {mine.line}: {found.sentence}"
    return Contradiction(found.key, mine.path, sentence, theirs.path, mine.heading, theirs.heading)


def documents(text: str, config: SearchConfig, index: Index, ask: SearchContext) -> tuple[FoundDocument, ...]:
    """Documents in the order of their best passages: what a search finds, without what explains it to people."""
    trace = Trace(ask.clock)
    ranked = pipeline.rank(pipeline.gather(text, config, index, ask, trace), config, index, ask, trace)
    first: dict[str, FoundDocument] = {}
    if config.parents:
        for hit in pipeline.hits(ranked, config, index, ask, trace):
            first.setdefault(hit.path, FoundDocument(hit.path, hit.title, hit.passage_heading, hit.text))
        return tuple(first.values())
    for placed in islice(pipeline.listed(ranked, config, index, ask), config.k):
        passage = index.passage(placed.chunk)
        facts = index.documents[passage.document]
        if facts.path not in first:
            first[facts.path] = FoundDocument(facts.path, facts.title, passage.heading, index.excerpt(placed.chunk))
    return tuple(first.values())


def _counts(asked: Iterable[ImpactQuestion]) -> dict[str, int]:
    counts: dict[str, int] = {}
    for question in asked:
        counts[question.kind] = counts.get(question.kind, 0) + 1
    return counts


def _chunks(before: Index, after: Index) -> dict[str, int]:
    """How many passages of the edited documents appear, vanish and stay."""
    old, new = (_passages(index, other) for index, other in ((before, after), (after, before)))
    return {"appear": len(new - old), "vanish": len(old - new), "stay": len(old & new)}


def _passages(index: Index, other: Index) -> set[str]:
    """The passages of documents that the other state has not, or with another text."""
    same = {(facts.doc, facts.blob) for facts in other.documents}
    edited = [n for n, facts in enumerate(index.documents) if (facts.doc, facts.blob) not in same]
    return {index.passage(chunk).id for document in edited for chunk in index.chunks_of(document)}


def _without_bills(config: SearchConfig) -> tuple[SearchConfig, tuple[str, ...]]:
    """The configuration without what asks a language model, and a sentence that says so."""
    free = free_of_charge(config)
    return free, (_LEFT_OUT,) if free != config else ()
