"""The `answers:` of documents, asked after every build and every night: ranks over time, what is not found,
and the way of a question from the search that missed to its answer."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from core.access import ANYONE, READS, SYSTEM, UPKEEP, Actor, use_case
from core.curation.document.names import top_folder
from core.curation.document.questions import same_form
from core.curation.review.readers import Readable
from core.errors import ConcordError
from core.ports import Progress, no_progress
from core.services.answers.ranks import AnswerSearch, Listed, Place
from core.services.inbox.messages import Subject
from core.services.inbox.owners import Owners
from core.services.jobs.jobs import Job, Jobs
from core.services.knowledge.gaps import GapCounts, Gaps
from core.services.platform.settings import TeamSettings
from core.services.search.queries import QueryLog
from core.services.search.searcher import Searcher
from core.storage.state.records import AnswerRankRow, FindabilityRow, QueryTotals
from core.types import DocumentFacts, Frozen

if TYPE_CHECKING:
    from core.services.platform.base import Base
    from core.storage.git.repository import Repository
    from core.storage.state.database import Database, State


JOB = "answers"
PLACE = Frozen(show="Answers")  # the tab of the page that a message leads to
NAMED = 3  # questions that a message about several names


@dataclass(frozen=True, slots=True)
class AnswerState:
    """A question that a document answers, and where it was found when it was last asked; `place` is None before
    that.
    """

    doc: str
    path: str
    title: str
    owner: str
    question: str
    place: Place | None
    since: str = ""

    def fails(self, first: int) -> bool:
        """Whether it was asked and is not among the first."""
        return self.place is not None and not self.place.within(first)


@dataclass(frozen=True, slots=True)
class Findability:
    """How many of all questions were found among the first `within` documents at a commit; by folder (questions,
    found).
    """

    commit: str
    at: str
    questions: int
    found: int
    within: int
    folders: Mapping[str, tuple[int, int]] = Frozen()

    @property
    def share(self) -> float:
        """Between 0 and 1."""
        return self.found / self.questions if self.questions else 0.0


class AnswerChecks:
    """Asks, keeps and shows. Owners are told once when a question of theirs is no longer found."""

    def __init__(self, base: Base, searcher: Searcher, owners: Owners, jobs: Jobs) -> None:
        self.database = base.database
        self.vectors = base.vectors
        self.messages = base.messages
        self.audit = base.audit
        self.searcher = searcher
        self.owners = owners
        self.jobs = jobs
        self.clock = base.clock

    @property
    def team_settings(self) -> TeamSettings:
        return self.searcher.team_settings

    @property
    def first(self) -> int:
        """Among how many documents an answer must stand."""
        return self.team_settings.questions().first

    # ------------------------------------------------------------ show

    @use_case(ANYONE)
    def listed(self, name: str = "") -> tuple[AnswerState, ...]:
        """Every question that a document in the index answers, or those of one by id or path, the worst first."""
        known = {(row.doc, row.key): row for row in self.database.answers.newest()}
        seen = self.messages.readership.now()
        states = [
            _state(asked, known.get(asked.key), seen) for asked in AnswerSearch(self.searcher, self.vectors).listed()
        ]
        wanted = [state for state in states if not name or name in (state.doc, state.path)]
        return tuple(sorted(wanted, key=_worst_first))

    @use_case(ANYONE)
    def failing(self) -> tuple[AnswerState, ...]:
        """What is not found among the first; nothing while there is no index."""
        try:
            return tuple(state for state in self.listed() if state.fails(self.first))
        except ConcordError:
            return ()

    @use_case(ANYONE)
    def history(self, doc: str, question: str) -> tuple[tuple[str, Place], ...]:
        """Each place that a question had, with the time from which on, oldest first."""
        seen = self.messages.readership.now()
        rows = () if seen and doc in seen.hidden_ids else self.database.answers.of(doc, same_form(question))
        return tuple((row.at, _place(row, seen)) for row in rows)

    def answered(self, question: str) -> tuple[DocumentFacts, Place] | None:
        """The document in the index that lists a question, and where a search finds it; the best where several do."""
        search = AnswerSearch(self.searcher, self.vectors)
        listed = [asked.facts for asked in search.listed() if asked.key[1] == same_form(question)]
        places = [(facts, search.place(question, facts.path)) for facts in listed]
        return min(places, key=lambda pair: pair[1].rank or 1_000_000, default=None)

    @use_case(ANYONE)
    def last_asked(self) -> str:
        """When everything was asked last; "" before the first time."""
        return self.database.answers.last_asked()

    @use_case(ANYONE)
    def findability(self) -> tuple[Findability, ...]:
        """One point per commit that was served and asked, oldest first."""
        points = tuple(map(_point, self.database.answers.points()))
        seen = self.messages.readership.now()
        return tuple(replace(point, folders=_shown(point.folders, seen)) for point in points) if seen else points

    # ------------------------------------------------------------ ask

    @use_case("run an evaluation", whole=True)
    def check(self, actor: Actor, progress: Progress = no_progress) -> Findability:
        """Ask everything now, in this process."""
        point = self._check(progress)
        self.audit.note(actor, "check answers", f"{point.found} of {point.questions} found")
        seen = self.messages.readership.of(actor)
        return replace(point, folders=_shown(point.folders, seen)) if seen else point

    def start(self, cause: Actor = SYSTEM) -> Job | None:
        """Ask as a job of its own; None where no document lists a question."""
        try:
            return self.jobs.start(JOB, {}, cause=cause) if AnswerSearch(self.searcher, self.vectors).listed() else None
        except ConcordError:
            return None

    @use_case(UPKEEP)
    def nightly(self) -> Job | None:
        """The same once a day, from the day on which they were asked for the first time."""
        last = self.last_asked()
        return self.start() if last and last[:10] < self.clock.today().isoformat() else None

    def work(self, arguments: Mapping[str, Any], progress: Progress) -> Any:
        self.jobs.actor(arguments, "run an evaluation")
        point = self._check(progress)
        return {"questions": point.questions, "found": point.found, "commit": point.commit}

    def _check(self, progress: Progress) -> Findability:
        search = AnswerSearch(self.searcher, self.vectors)
        asked = search.listed()
        search.prepare([one.question for one in asked])
        places: dict[tuple[str, str], Place] = {}
        for n, one in enumerate(asked, 1):
            places[one.key] = search.place(one.question, one.facts.path)
            progress(n, len(asked), "Asking what documents answer")
        return self._keep(asked, places, search.index.generation.commit)

    def _keep(self, asked: Sequence[Listed], places: Mapping[tuple[str, str], Place], commit: str) -> Findability:
        now, first = self.clock.stamp(), self.first
        with self.database.transaction() as state:
            known = {(row.doc, row.key): row for row in state.answers.newest()}
            broken: list[Listed] = []
            for one in asked:
                place, before = places[one.key], known.get(one.key)
                if before is None or before.rank != place.rank:
                    self._add(state, one, place, commit, now)
                was_found = before is None or 0 < before.rank <= first
                if was_found and not place.within(first):
                    broken.append(one)
            point = _counted(asked, places, commit, now, first)
            folders = json.dumps({name: list(counts) for name, counts in point.folders.items()})
            counts = {"questions": point.questions, "found": point.found, "within": first, "folders": folders}
            state.answers.keep_point(commit_id=commit, at=now, checked=now, **counts)
            self._tell(state, broken, places)
        return point

    def _add(self, state: State, one: Listed, place: Place, commit: str, now: str) -> None:
        doc, key = one.key
        state.answers.add(
            doc=doc, key=key, question=one.question, rank=place.rank, note=place.note, commit_id=commit, at=now
        )

    def _tell(self, state: State, broken: Sequence[Listed], places: Mapping[tuple[str, str], Place]) -> None:
        """One message per person, whether one question of theirs broke or many."""
        theirs: dict[str, list[Listed]] = defaultdict(list)
        for one in broken:
            for account in self.owners.named(one.facts.owner):
                if self.messages.readable(state, account, one.facts.path):
                    theirs[account].append(one)
        for account, asked in theirs.items():
            facts = asked[0].facts
            if len({one.facts.path for one in asked}) == 1:
                words = " · ".join(f"{one.question} {places[one.key].words}" for one in asked[:NAMED])
                subject = Subject("document", facts.path, facts.title)
            else:
                words = " · ".join(one.question for one in asked[:NAMED])
                day, paths = self.clock.today().isoformat(), tuple(one.facts.path for one in asked)
                subject = Subject("answers", day, f"{len(asked)} questions", PLACE, paths)
            self.messages.tell(state, SYSTEM, [account], "not found", subject, words)


def _shown(folders: Mapping[str, tuple[int, int]], seen: Readable) -> Mapping[str, tuple[int, int]]:
    """Without the folders that may not be read."""
    return Frozen({name: counts for name, counts in folders.items() if seen.path(f"{name}/")})


def _place(row: AnswerRankRow, seen: Readable | None) -> Place:
    """A place as it was kept; earlier versions named hidden documents in its note."""
    return Place(row.rank, "" if row.note and seen and seen.names(row.note) else row.note)


def _state(asked: Listed, row: AnswerRankRow | None, seen: Readable | None) -> AnswerState:
    facts: DocumentFacts = asked.facts
    place = _place(row, seen) if row else None
    return AnswerState(facts.doc, facts.path, facts.title, facts.owner, asked.question, place, row.at if row else "")


def _worst_first(state: AnswerState) -> tuple[float, str, str]:
    rank = state.place.rank or 1_000_000 if state.place else 0
    return -rank, state.path, state.question


def _counted(
    asked: Sequence[Listed], places: Mapping[tuple[str, str], Place], commit: str, now: str, first: int
) -> Findability:
    folders: dict[str, tuple[int, int]] = {}
    for one in asked:
        name = top_folder(one.facts.path)
        every, found = folders.get(name, (0, 0))
        folders[name] = (every + 1, found + places[one.key].within(first))
    found_in_all = sum(found for _, found in folders.values())
    return Findability(commit, now, len(asked), found_in_all, first, Frozen(folders))


def _point(row: FindabilityRow) -> Findability:
    folders = {name: tuple(counts) for name, counts in json.loads(row.folders).items()}
    return Findability(row.commit_id, row.at, row.questions, row.found, row.within, Frozen(folders))


POINTS = 60  # commits that a chart shows


@dataclass(frozen=True, slots=True)
class LoopFigures:
    """Askings that are kept, for how many days, and the gaps: of all under "", and by folder."""

    days: int
    questions: QueryTotals
    gaps: Mapping[str, GapCounts]


@dataclass(frozen=True, slots=True)
class LoopPoint:
    """Findability at a commit, what that commit says, and the newest change merged since the point before (0: none)."""

    found: Findability
    title: str
    change: int


class FindabilityReport:
    """What Home shows of it."""

    def __init__(
        self, queries: QueryLog, gaps: Gaps, checks: AnswerChecks, repository: Repository, database: Database
    ) -> None:
        self.queries, self.gaps, self.checks = queries, gaps, checks
        self.repository, self.database = repository, database

    @use_case("see reported gaps", READS)
    def figures(self, actor: Actor) -> LoopFigures:
        """For those who write."""
        days = self.queries.team_settings.questions().days
        return LoopFigures(days, self.queries.totals(), self.gaps.counts(actor))

    @use_case(ANYONE)
    def points(self) -> tuple[LoopPoint, ...]:
        """The last commits that were served and asked, oldest first."""
        known = self.checks.findability()[-POINTS:]
        if not known:
            return ()
        head = self.repository.head()
        steps = [step for step, _ in self.repository.log(head)]
        places = {step.id: place for place, step in enumerate(steps)}
        seen, rows = self.checks.messages.readership.now(), self.database.changes.all()
        merged = {
            row.merged: row.id for row in rows if row.merged and self.checks.messages.readership.sees_change(row, seen)
        }
        shown = None if seen is None else {step.id for step, edits in self.repository.log(head) if seen.edits(edits)}
        points, before = [], len(steps)
        for found in (point for point in known if point.commit in places):
            place = places[found.commit]
            change = next((merged[step.id] for step in steps[place:before] if step.id in merged), 0)
            message = steps[place].message.partition("\n")[0]
            points.append(LoopPoint(found, message if shown is None or found.commit in shown else "", change))
            before = place
        return tuple(points)
