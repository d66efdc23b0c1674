"""What a change does to search, wired: the states of changes, which a search can open, and what is measured in them."""

from __future__ import annotations

from functools import partial

from core.services.disagreements.finder import Disagreements
from core.services.evaluation.querysets import QuerySets
from core.services.impact.impacts import JOB, ImpactEvidence, Impacts
from core.services.impact.states import ChangeStates
from core.services.index.builder import IndexBuilder
from core.services.jobs.jobs import Jobs
from core.services.platform.base import Base
from core.services.reviews.changes import Changes
from core.services.search.wiring import Search


def wire_states(base: Base, changes: Changes, builder: IndexBuilder) -> ChangeStates:
    root = base.settings.home / "impact"
    return ChangeStates(root, base.repository, builder, base.scratch_generations, partial(_measured, changes))


def wire(
    base: Base, jobs: Jobs, states: ChangeStates, search: Search, querysets: QuerySets, disagreements: Disagreements
) -> Impacts:

    def popular(limit: int) -> list[tuple[str, int]]:
        return [(asked.question, asked.times) for asked in search.queries.most_asked(limit)]

    evidence = ImpactEvidence(querysets.guards, popular, disagreements.of_change)
    impacts = Impacts(base, disagreements.changes, states, search.searcher, jobs, evidence)
    base.events.rewritten.then(impacts.start)
    base.events.ended.then(impacts.ended)
    base.upkeep.sweeps.append(impacts.sweep)
    base.upkeep.works[JOB] = impacts.work
    return impacts


def _measured(changes: Changes, number: int) -> tuple[str, str] | None:
    """Head and main of an open change as they were measured last."""
    return changes.database.impacts.measured().get(number) if changes.get(number).open else None
