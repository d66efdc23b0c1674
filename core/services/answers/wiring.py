"""The room of answers, wired: the checks, and after the questions without an answer what they come to."""

from __future__ import annotations

from dataclasses import dataclass

from core.services.answers.answer_checks import JOB, AnswerChecks, FindabilityReport
from core.services.answers.writing import AnswerWriting
from core.services.inbox.owners import Owners
from core.services.jobs.jobs import Jobs
from core.services.knowledge.gaps import Gaps
from core.services.platform.base import Base
from core.services.search.wiring import Search


@dataclass(frozen=True, slots=True)
class AnswerRoom:
    """The `answers:` of documents as tests of search."""

    checks: AnswerChecks
    writing: AnswerWriting
    loop: FindabilityReport


def wire_checks(base: Base, jobs: Jobs, search: Search, owners: Owners) -> AnswerChecks:
    checks = AnswerChecks(base, search.searcher, owners, jobs)
    base.events.served.then(checks.start)
    base.upkeep.daily.append(checks.nightly)
    base.upkeep.works[JOB] = checks.work
    return checks


def wire(base: Base, search: Search, checks: AnswerChecks, gaps: Gaps) -> AnswerRoom:
    writing = AnswerWriting(search.searcher, base.vectors, base.texts)
    return AnswerRoom(checks, writing, FindabilityReport(search.queries, gaps, checks, base.repository, base.database))
