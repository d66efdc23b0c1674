"""The room of evaluation, wired: query sets and runs before tuning, which learns from them, and jobs after it."""

from __future__ import annotations

from dataclasses import dataclass

from core.adapters.models import spacy_ner
from core.services.evaluation.editing import QuerySetEditor
from core.services.evaluation.measurement_jobs import EvaluationJobs
from core.services.evaluation.querysets import QuerySets
from core.services.evaluation.question_generator import QuestionGenerator
from core.services.evaluation.runs import Runs
from core.services.index.builder import IndexBuilder
from core.services.jobs.jobs import Jobs
from core.services.models.wiring import ModelRoom, estimator
from core.services.platform.base import Base, shipped_scores
from core.services.search.searcher import Searcher
from core.services.tuning.wiring import Tuning


@dataclass(frozen=True, slots=True)
class Evaluation:
    """Query sets, and runs over them."""

    querysets: QuerySets
    editor: QuerySetEditor
    runs: Runs
    generator: QuestionGenerator
    jobs: EvaluationJobs


def wire_runs(base: Base, jobs: Jobs, models: ModelRoom, searcher: Searcher) -> Runs:
    querysets = QuerySets(base.database, base.documents, base.clock, base.audit)
    runs = Runs(base, querysets, searcher, jobs, estimator(base, models), shipped_scores().get)
    base.upkeep.works["evaluate"] = runs.work
    return runs


def wire(base: Base, models: ModelRoom, runs: Runs, builder: IndexBuilder, tuning: Tuning) -> Evaluation:
    recogniser = spacy_ner.names if spacy_ner.installed() else None
    generator = QuestionGenerator(runs, builder, base.documents, models.registry, recogniser)
    jobs = EvaluationJobs(generator, tuning.sweeps, runs.jobs)
    base.upkeep.works.update(jobs.works())
    return Evaluation(runs.querysets, QuerySetEditor(runs.querysets), runs, generator, jobs)
