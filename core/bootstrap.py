"""The composition root: settings in, a wired App out. The only importer of adapters."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from core.adapters import endpoints, kernels, spacy_ner, weights
from core.adapters.alphas import AlphaShelf
from core.adapters.answers import AnswerCache
from core.adapters.cache import EmbeddingCache
from core.adapters.clock import SystemClock
from core.adapters.conversion import Conversion
from core.adapters.database import Database
from core.adapters.generations import Generations
from core.adapters.gitstore import GitStore
from core.adapters.memo import Memo
from core.adapters.models import ModelShelf
from core.adapters.passwords import Argon2
from core.adapters.processes import Processes
from core.adapters.texts import TextCache
from core.ports import Clock, Models, Progress
from core.ports import Processes as ProcessPort
from core.retrieval.analysis import analyser
from core.services import indexing as building
from core.services.accounts import Accounts
from core.services.administration import Administration
from core.services.asking import Asking
from core.services.auditing import Auditing
from core.services.changes import Changes
from core.services.comparing import Comparing
from core.services.documents import Documents
from core.services.drafts import Drafts
from core.services.experiments import Experiments
from core.services.experiments.bench import Workbench
from core.services.extracting import Extracting
from core.services.finding import Finding
from core.services.gaps import Gaps
from core.services.graphs import Graphs
from core.services.indexing import Indexing
from core.services.intake import Intake
from core.services.jobs import Job, Jobs, Work
from core.services.judging import Judging
from core.services.ledger import Ledger
from core.services.likeness import Likeness
from core.services.locating import Locating
from core.services.measuring import Measuring
from core.services.merging import Merging
from core.services.metered import MeteredModels
from core.services.notebook import Notebook
from core.services.overview import Overviews
from core.services.preferences import Preferences
from core.services.prices import read_prices
from core.services.production import ProductionSettings
from core.services.querysets import QuerySets
from core.services.reviewing import Reviewing
from core.services.runs import Runs
from core.services.searching import Searching
from core.services.topics import Topics
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
    accounts: Accounts
    auditing: Auditing
    changes: Changes
    reviewing: Reviewing
    merging: Merging
    drafts: Drafts
    ledger: Ledger
    alphas: AlphaShelf
    intake: Intake
    graphs: Graphs
    topics: Topics
    comparing: Comparing
    locating: Locating
    notebook: Notebook
    judging: Judging
    asking: Asking
    querysets: QuerySets
    runs: Runs
    tuning: Tuning
    production: ProductionSettings
    experiments: Experiments
    training: Training
    measuring: Measuring

    def create(self) -> None:
        """Make the workspace if it is not there, or bring it to the newest form."""
        self.settings.home.mkdir(parents=True, exist_ok=True)
        self.store.create()
        self.jobs.database.create()
        self.merging.repair()
        if self.settings.sign_in == "demo":
            self.accounts.seed()

    def catch_up(self) -> Job | None:
        """Resume interrupted work; if the index does not serve the newest commit, start to build it."""
        self.jobs.sweep()
        return catch_up(self.jobs, self.preferences, self.indexing, self.shelf)

    def warm(self) -> None:
        """Load what the first search would wait for: compiled loops, the production index, its model and its passages."""
        kernels.warm()
        profile = self.preferences.production().profile
        if self.shelf.current(profile) is not None:
            self.finding.warm()

    def kinds(self) -> Mapping[str, Work]:
        """What a worker can do."""
        return {
            "reindex": self._reindex,
            "verify": self._verify,
            "evaluate": self.runs.work,
            "drift": self.production.work,
            "experiment": self.experiments.work,
            **self.measuring.works(),
        }

    def _verify(self, arguments: Mapping[str, Any], progress: Progress) -> Any:
        problems = self.verifying.problems(progress)
        return {"ok": not problems, "problems": list(problems)}

    def _reindex(self, arguments: Mapping[str, Any], progress: Progress) -> Any:
        profile = self.preferences.profile(arguments["profile"])
        built = self.indexing.build(profile, full=arguments.get("full", False), progress=progress)
        if profile.graph != "none":
            self.shelf.open(profile).graph()  # searchable already; the first who asks the graph need not wait
        if built.fresh and profile == self.preferences.production().profile and self.production.watched():
            self.jobs.start("drift", {})
        return building.as_json(built)


def build(
    settings: Settings,
    *,
    clock: Clock | None = None,
    models: Models | None = None,
    processes: ProcessPort | None = None,
) -> App:
    """Wire the parts. Tests pass a clock, models and processes of their own."""
    clock = clock or SystemClock()
    store = GitStore(settings.home / "kb.git")
    database = Database(settings.home / "app.db")
    ledger = Ledger(database, clock, read_prices(settings.prices, endpoints.free(settings)), settings.monthly_budget)
    models = models or _models(settings, ledger)
    shelf = Generations(
        settings.home / "index",
        settings.keep_generations,
        settings.exact_limit,
        lambda profile: analyser(profile.lexical),
    )
    documents, preferences = Documents(store), Preferences(store)
    cache = EmbeddingCache((settings.cache or settings.home / "cache") / "embeddings.db")
    texts = TextCache((settings.cache or settings.home / "cache") / "texts.db")
    alphas = AlphaShelf(settings.home / "models" / "alpha")
    searching = Searching(shelf, models, preferences, clock, alphas)
    jobs = Jobs(database, processes or Processes(settings.home), clock)
    extracting = Extracting(models, spacy_ner.entities)
    indexing = Indexing(store, documents, shelf, models, cache, clock, texts, extracting)
    auditing = Auditing(database, store, clock)
    accounts = Accounts(database, Argon2(), auditing, clock)
    changes = Changes(store, database, accounts, auditing, clock)
    likeness = Likeness(documents, searching, preferences, models, cache)
    topics = Topics(searching, cache, Memo((settings.cache or settings.home / "cache") / "communities"))
    comparing = Comparing(shelf, models, preferences, clock, alphas)
    querysets = QuerySets(database, documents, clock)
    runs = Runs(database, querysets, searching, preferences, jobs, clock)
    workbench = Workbench(runs, indexing, documents, models)
    tuning, training = Tuning(runs), Training(runs, alphas)
    return App(
        settings=settings,
        store=store,
        models=models,
        documents=documents,
        preferences=preferences,
        indexing=indexing,
        searching=searching,
        jobs=jobs,
        verifying=Verifying(store, database, shelf, preferences, auditing),
        finding=Finding(searching, preferences, clock),
        overviews=Overviews(documents, store, shelf, preferences, clock),
        administration=Administration(documents, shelf, preferences, jobs, models, cache, auditing, ledger.prices),
        gaps=Gaps(database, clock),
        shelf=shelf,
        accounts=accounts,
        auditing=auditing,
        changes=changes,
        reviewing=Reviewing(changes),
        merging=Merging(changes, lambda: catch_up(jobs, preferences, indexing, shelf)),
        drafts=Drafts(database, clock),
        ledger=ledger,
        alphas=alphas,
        intake=Intake(documents, likeness, Conversion(), clock, changes),
        graphs=Graphs(searching, documents, topics),
        topics=topics,
        comparing=comparing,
        locating=Locating(comparing, documents),
        notebook=Notebook(database, clock),
        judging=Judging(database, clock),
        asking=Asking(models),
        querysets=querysets,
        runs=runs,
        tuning=tuning,
        production=ProductionSettings(preferences, runs, auditing),
        experiments=Experiments(workbench, settings.home / "reports", jobs),
        training=training,
        measuring=Measuring(workbench, tuning, training, jobs),
    )


def _models(settings: Settings, ledger: Ledger) -> Models:
    """Models on this machine and behind configured endpoints; what is paid for goes through the ledger."""
    shelf = ModelShelf(settings.models, settings.threads, settings.offline, endpoints.Endpoints(settings, ledger))
    return MeteredModels(shelf, ledger, AnswerCache((settings.cache or settings.home / "cache") / "answers.db"))


def catch_up(jobs: Jobs, preferences: Preferences, indexing: Indexing, shelf: Generations) -> Job | None:
    """If the index does not serve the newest commit, start to build it."""
    profile = preferences.production().profile
    if indexing.behind(profile) and not shelf.pinned(profile):
        return jobs.start("reindex", {"profile": profile.name, "full": False})
    return None


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
