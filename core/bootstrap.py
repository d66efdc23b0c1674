"""The composition root: settings in, a wired App out. The only importer of adapters."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from core.adapters import kernels, weights
from core.adapters.alphas import AlphaShelf
from core.adapters.cache import EmbeddingCache
from core.adapters.clock import SystemClock
from core.adapters.database import Database
from core.adapters.generations import Generations
from core.adapters.gitstore import GitStore
from core.adapters.models import ModelShelf
from core.adapters.processes import Processes
from core.ports import Clock, Models, Progress
from core.retrieval.analysis import analyser
from core.services import indexing
from core.services.administration import Administration
from core.services.documents import Documents
from core.services.experiments import Experiments
from core.services.experiments.bench import Workbench
from core.services.finding import Finding
from core.services.gaps import Gaps
from core.services.indexing import Indexing
from core.services.jobs import Job, Jobs, Work
from core.services.overview import Overviews
from core.services.preferences import Preferences
from core.services.production import ProductionSettings
from core.services.querysets import QuerySets
from core.services.runs import Runs
from core.services.searching import Searching
from core.services.training import Training
from core.services.tuning import Tuning
from core.services.verifying import Verifying
from core.settings import Settings


@dataclass(frozen=True, slots=True)
class App:
    """Everything a door needs."""

    settings: Settings
    store: GitStore
    models: Models
    documents: Documents
    preferences: Preferences
    indexing: Indexing
    searching: Searching
    jobs: Jobs
    verifying: Verifying
    finding: Finding
    overviews: Overviews
    administration: Administration
    gaps: Gaps
    shelf: Generations
    querysets: QuerySets
    runs: Runs
    tuning: Tuning
    production: ProductionSettings
    experiments: Experiments
    alphas: AlphaShelf
    training: Training

    def create(self) -> None:
        """Make the workspace if it is not there, or bring it to the newest form."""
        self.settings.home.mkdir(parents=True, exist_ok=True)
        self.store.create()
        self.jobs.database.create()

    def catch_up(self) -> Job | None:
        """Resume interrupted work; if the index does not serve the newest commit, start to build it."""
        self.jobs.sweep()
        profile = self.preferences.production().profile
        if self.indexing.behind(profile) and not self.shelf.pinned(profile):
            return self.jobs.start("reindex", {"profile": profile.name, "full": False})
        return None

    def warm(self) -> None:
        """Load what the first search would wait for: compiled loops, the production index and its model."""
        kernels.warm()
        profile = self.preferences.production().profile
        if self.shelf.current(profile) is not None:
            self.searching.search("warm up")

    def kinds(self) -> Mapping[str, Work]:
        """What a worker can do."""
        return {
            "reindex": self._reindex,
            "verify": self._verify,
            "evaluate": self.runs.work,
            "drift": self.production.work,
            "experiment": self.experiments.work,
        }

    def _verify(self, arguments: Mapping[str, Any], progress: Progress) -> Any:
        problems = self.verifying.problems(progress)
        return {"ok": not problems, "problems": list(problems)}

    def _reindex(self, arguments: Mapping[str, Any], progress: Progress) -> Any:
        profile = self.preferences.profile(arguments["profile"])
        built = self.indexing.build(profile, full=arguments.get("full", False), progress=progress)
        if built.fresh and profile == self.preferences.production().profile and self.production.watched():
            self.jobs.start("drift", {})
        return indexing.as_json(built)


def build(settings: Settings, *, clock: Clock | None = None, models: Models | None = None) -> App:
    """Wire the parts. Tests pass a clock and models of their own."""
    clock = clock or SystemClock()
    models = models or ModelShelf(settings.models, settings.threads, settings.offline)
    store = GitStore(settings.home / "kb.git")
    database = Database(settings.home / "app.db")
    shelf = Generations(
        settings.home / "index",
        settings.keep_generations,
        settings.exact_limit,
        lambda profile: analyser(profile.lexical),
    )
    documents, preferences = Documents(store), Preferences(store)
    cache = EmbeddingCache((settings.cache or settings.home / "cache") / "embeddings.db")
    alphas = AlphaShelf(settings.home / "models" / "alpha")
    searching = Searching(shelf, models, preferences, clock, alphas)
    jobs = Jobs(database, Processes(settings.home), clock)
    querysets = QuerySets(database, documents, clock)
    runs = Runs(database, querysets, searching, preferences, jobs, clock)
    building = Indexing(store, documents, shelf, models, cache, clock)
    return App(
        settings=settings,
        store=store,
        models=models,
        documents=documents,
        preferences=preferences,
        indexing=building,
        searching=searching,
        jobs=jobs,
        verifying=Verifying(store, database, shelf, preferences),
        finding=Finding(searching, preferences, clock),
        overviews=Overviews(documents, store, shelf, preferences, clock),
        administration=Administration(documents, shelf, preferences, jobs, models, cache),
        gaps=Gaps(database, clock),
        shelf=shelf,
        querysets=querysets,
        runs=runs,
        tuning=Tuning(runs),
        production=ProductionSettings(preferences, runs),
        experiments=Experiments(Workbench(runs, building, documents, models), settings.home / "reports", jobs),
        alphas=alphas,
        training=Training(runs, alphas),
    )


def beside(app: App, name: str) -> App:
    """A second workspace for an evaluation, under the first one's cache; models and vectors are shared."""
    home = app.settings.home / "cache" / "evaluation" / name
    shared = app.settings.cache or app.settings.home / "cache"
    other = build(replace(app.settings, home=home, cache=shared), models=app.models)
    other.create()
    return other


def fetch_models(settings: Settings, names: list[str], progress: Progress) -> list[str]:
    """Fetch bundled models; without names, the ones that are used by default."""
    wanted = [weights.bundled(name) for name in names] or [one for one in weights.BUNDLED if one.default]
    return weights.fetch(settings.models, wanted, progress)


def list_models(settings: Settings) -> list[dict[str, Any]]:
    """Every bundled model, and whether it is here."""
    return [
        {
            "name": one.name,
            "kind": "embedder" if one.kind == "static" else one.kind,
            "dimension": one.dimension or None,
            "limit": one.limit,
            "default": one.default,
            "present": weights.present(settings.models, one),
            "about": one.about,
            "place": str(Path(settings.models) / one.name),
        }
        for one in weights.BUNDLED
    ]
