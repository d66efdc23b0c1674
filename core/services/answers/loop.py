"""From a question to its answer: what people asked, what they found, which gaps are open, and findability by merge."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from core.access import EVERYBODY, READS, Actor, use_case
from core.services.answers.answer_checks import AnswerChecks, Findability
from core.services.knowledge.gaps import GapCounts, Gaps
from core.services.search.queries import QueryLog
from core.storage.state.records import QueryTotals

if TYPE_CHECKING:
    from core.storage.git.repository import Repository
    from core.storage.state.database import Database

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

    @use_case(EVERYBODY)
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
