"""The room of search, wired."""

from __future__ import annotations

from dataclasses import dataclass

from core.adapters.models.trained_files import TrainedFiles
from core.adapters.system.later import Later
from core.retrieval.alpha.learned import ALPHA
from core.retrieval.method_values import AlphaModel, RankerModel
from core.retrieval.rerankers.learned import RANKER
from core.services.impact.states import ChangeStates
from core.services.jobs.jobs import Jobs
from core.services.models.wiring import ModelRoom
from core.services.platform.base import Base
from core.services.search.as_of import AsOf
from core.services.search.page import SearchPage
from core.services.search.pending import VectorProgress
from core.services.search.queries import QueryLog
from core.services.search.searcher import LearnedModels, OtherStates, Searcher
from core.services.search.written_answers import Answerer


@dataclass(frozen=True, slots=True)
class Search:
    """The one search, what the Search page shows, answers from it, what people asked, the index of an earlier day, and
    how far vectors are that are still being computed."""

    searcher: Searcher
    page: SearchPage
    queries: QueryLog
    as_of: AsOf
    answerer: Answerer
    progress: VectorProgress


@dataclass(frozen=True, slots=True)
class LearnedFiles:
    """What was trained here and a search uses."""

    alphas: TrainedFiles[AlphaModel]
    rankers: TrainedFiles[RankerModel]


def learned(base: Base) -> LearnedFiles:
    folder, written = base.settings.home / "models", base.events.written
    return LearnedFiles(TrainedFiles(ALPHA, folder, written), TrainedFiles(RANKER, folder, written))


def wire(base: Base, jobs: Jobs, models: ModelRoom, states: ChangeStates, files: LearnedFiles) -> Search:
    progress = VectorProgress(jobs)
    as_of = AsOf(
        base.settings.home / "as_of",
        base.documents.line,
        states.builder,
        base.scratch_generations,
        base.memory.require_room,
        base.documents.readership.view_aside,
    )
    elsewhere = OtherStates(states.open, as_of.open)
    trained = LearnedModels(files.alphas, files.rankers)
    searcher = Searcher(base, models.registry, trained, elsewhere, models.fitness.caveat, progress.of)
    page = SearchPage(searcher, base.team_settings, base.clock)
    queries = QueryLog(base.database, searcher, base.team_settings, base.audit, base.clock)
    base.upkeep.daily.append(queries.sweep)
    base.upkeep.warmup.extend([lambda: Later("core.storage.index.arrays.kernels").warm(), page.warm])
    return Search(searcher, page, queries, as_of, Answerer(models.registry, searcher, models.fitness.require), progress)
