"""The composition root: settings in, a wired App out. It alone makes adapters and storage."""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cache, partial
from pathlib import Path
from typing import Any

from core import strict
from core.access import SYSTEM, Actor, require
from core.adapters.conversion import ocr
from core.adapters.conversion.converter import Converters, Originals
from core.adapters.conversion.texts import TextReader
from core.adapters.conversion.word import WordWriter
from core.adapters.models import spacy_ner, weights
from core.adapters.models.alphas import AlphaModelFiles
from core.adapters.models.finetune import LocalTrainer
from core.adapters.models.rankers import RankerFiles
from core.adapters.models.registry import ModelRegistry
from core.adapters.system.archives import Archives
from core.adapters.system.clock import SystemClock
from core.adapters.system.later import Later
from core.adapters.system.memory import ProcessMemory
from core.adapters.system.passwords import Argon2
from core.adapters.system.private import close_to_others, exposed, write_privately
from core.adapters.system.processes import SystemProcesses, worker_limit
from core.adapters.web import endpoints
from core.adapters.web.oidc import OidcProvider
from core.adapters.web.smtp import SmtpMailer, parse_server
from core.adapters.web.webhook import WebhookPoster
from core.analysis import analyser
from core.bulk import InlineBulk
from core.curation.review.remotes import safe_address
from core.errors import ConcordError, Unavailable
from core.evaluation.learning.triplets import TUNED
from core.ports import Clock, Models, Processes, Progress
from core.services.answers.checks import JOB as ANSWERS
from core.services.answers.checks import AnswerChecks
from core.services.answers.loop import FindabilityReport
from core.services.answers.writing import AnswerWriting
from core.services.deliveries.board import DeliveryBoard
from core.services.deliveries.choices import MailChoices
from core.services.deliveries.digests import DigestContent, Digests
from core.services.deliveries.letters import Letterhead
from core.services.deliveries.outbox import Outbox
from core.services.deliveries.sender import Sender
from core.services.deliveries.webhooks import Webhooks
from core.services.disagreements.base import ClaimBase
from core.services.disagreements.finder import Disagreements
from core.services.disagreements.opinions import SecondOpinion
from core.services.evaluation import collections
from core.services.evaluation.editing import QuerySetEditor
from core.services.evaluation.experiments import Experiments
from core.services.evaluation.experiments.context import ExperimentContext
from core.services.evaluation.jobs import EvaluationJobs
from core.services.evaluation.querysets import QuerySets
from core.services.evaluation.runs import Runs
from core.services.graph.communities import Communities
from core.services.graph.explorer import GraphExplorer
from core.services.impact.impacts import JOB, Impacts
from core.services.impact.states import ChangeStates
from core.services.inbox.landings import MergeNotifier
from core.services.inbox.messages import Messages
from core.services.inbox.news import ChangeNews
from core.services.inbox.owners import Owners
from core.services.inbox.reminders import Reminders
from core.services.inbox.watches import Watches
from core.services.index.admin import IndexAdmin
from core.services.index.builder import IndexBuilder
from core.services.index.entities import EntityExtractor
from core.services.index.following import IndexSync
from core.services.index.jobs import IndexJobs
from core.services.index.verify import Verifier
from core.services.jobs.crew import Crew
from core.services.jobs.jobs import Jobs, Work
from core.services.jobs.workers import Workers
from core.services.knowledge.documents import Documents
from core.services.knowledge.drafts import Drafts
from core.services.knowledge.exports import Exports
from core.services.knowledge.feedback import FeedbackBoard
from core.services.knowledge.freshness import FreshnessBoard
from core.services.knowledge.gaps import Gaps
from core.services.knowledge.home import Home
from core.services.knowledge.pictures import Pictures
from core.services.models.checker import ModelChecker
from core.services.models.estimates import CallEstimator
from core.services.models.fitness import Fitness
from core.services.models.ledger import Ledger
from core.services.models.metered import MeteredModels
from core.services.models.offered import OfferedModels, offered
from core.services.models.prices import Prices, read_prices
from core.services.people.accounts import Accounts, checked_role
from core.services.people.audit import Audit
from core.services.people.keys import AccountKeys
from core.services.people.provider import ProviderSignIn
from core.services.people.replies import Replies
from core.services.people.sessions import Sessions
from core.services.people.tokens import Tokens
from core.services.people.tries import Tries
from core.services.platform import doctor
from core.services.platform.backups import Backups
from core.services.platform.daily import Daily
from core.services.platform.doctor import Doctor
from core.services.platform.following import RepositorySync
from core.services.platform.guard import WorkspaceGuard
from core.services.platform.settings import TeamSettings
from core.services.platform.workspace import Workspace
from core.services.playground.compare import Comparer
from core.services.playground.examples import Examples
from core.services.playground.grades import Grades
from core.services.playground.notebook import Notebook
from core.services.playground.pools import Pools
from core.services.playground.where import Locator
from core.services.remote.incoming import IncomingCommits
from core.services.remote.pull_requests import PullRequests
from core.services.remote.remotes import JOB as REMOTE
from core.services.remote.remotes import Remotes
from core.services.reviews.changes import Changes
from core.services.reviews.diff import ReviewerViews
from core.services.reviews.discussion import Discussion
from core.services.reviews.merge import Merger
from core.services.sample.erasing import Eraser
from core.services.sample.past import SamplePast
from core.services.sample.sample import JOB as SAMPLE
from core.services.sample.sample import Sample
from core.services.sample.script import PastClock
from core.services.search.answers import Answerer
from core.services.search.as_of import AsOf
from core.services.search.page import SearchPage
from core.services.search.pending import VectorProgress
from core.services.search.queries import QueryLog
from core.services.search.searcher import Searcher
from core.services.tuning.alpha import AlphaTraining
from core.services.tuning.confidence import ConfidenceTuning
from core.services.tuning.embedders import EmbedderTuning
from core.services.tuning.production import ProductionSettings
from core.services.tuning.prompts import PromptTuning
from core.services.tuning.rankers import RankerTraining
from core.services.tuning.recommendation import Recommendation
from core.services.tuning.sweeps import Sweeps
from core.services.upload.duplicates import DuplicateFinder
from core.services.upload.statuses import StatusWords
from core.services.upload.uploads import Uploads
from core.services.words.house import HouseFiles
from core.services.words.words import SynonymsAndPins
from core.settings import PROJECT, ProviderSettings, Settings, node_name
from core.storage.cache.memo import JsonCache
from core.storage.cache.shipped import ShippedVectors
from core.storage.cache.texts import TextCache
from core.storage.cache.vectors import EmbeddingCache
from core.storage.git.remote import GitRemote
from core.storage.git.repository import Repository
from core.storage.git.shared import SharedRepository
from core.storage.git.transport import RemoteAccess
from core.storage.index.generations import Generations
from core.storage.index.ray_cluster import RayCluster
from core.storage.object_store.backups import StoredBackups
from core.storage.object_store.collection import Collector
from core.storage.object_store.conformance import Conformance
from core.storage.object_store.copies import PublishedGenerations
from core.storage.object_store.folders import SharedFolder
from core.storage.object_store.objects import ObjectStore
from core.storage.object_store.published import PublishedIndex
from core.storage.state.urls import open_database
from core.types import Document, Hit

SILENCE = 15.0  # seconds that the shared repository may be silent
NEAR = 20  # passages that are looked at to find the documents nearest to a question


@dataclass(frozen=True, slots=True)
class People:
    """Accounts, who is signed in, access tokens with what they were answered, and the audit of what they did."""

    accounts: Accounts
    sessions: Sessions
    tokens: Tokens
    provider: ProviderSignIn
    audit: Audit
    replies: Replies


@dataclass(frozen=True, slots=True)
class Knowledge:
    """Documents at any version, and questions that none answers."""

    repository: Repository
    documents: Documents
    home: Home
    freshness: FreshnessBoard
    drafts: Drafts
    gaps: Gaps
    feedback: FeedbackBoard
    pictures: Pictures
    exports: Exports
    disagreements: Disagreements


@dataclass(frozen=True, slots=True)
class Reviews:
    """From a proposed change to a merge."""

    changes: Changes
    discussion: Discussion
    merger: Merger
    looks: ReviewerViews
    impacts: Impacts


@dataclass(frozen=True, slots=True)
class RemoteRoom:
    """The repository elsewhere that merges are pushed to, and pull requests in somebody's own."""

    remotes: Remotes
    pull_requests: PullRequests


@dataclass(frozen=True, slots=True)
class Inbox:
    """What reaches people."""

    messages: Messages
    watches: Watches
    reminders: Reminders
    owners: Owners


@dataclass(frozen=True, slots=True)
class Deliveries:
    """What leaves the app: mail and webhooks, as people and admins chose."""

    choices: MailChoices
    webhooks: Webhooks
    board: DeliveryBoard
    sender: Sender


@dataclass(frozen=True, slots=True)
class Upload:
    """Uploaded files on their way to a change, and where texts of people are parsed."""

    uploads: Uploads
    reader: TextReader
    statuses: StatusWords


@dataclass(frozen=True, slots=True)
class IndexRoom:
    """Generations: built, verified, rolled back."""

    generations: Generations
    builder: IndexBuilder
    admin: IndexAdmin
    verifier: Verifier
    jobs: IndexJobs
    following: IndexSync


@dataclass(frozen=True, slots=True)
class Search:
    """The one search, what the Search page shows, answers from it, what people asked, the index of an earlier day, and how far
    vectors are that are still being computed."""

    searcher: Searcher
    page: SearchPage
    queries: QueryLog
    as_of: AsOf
    answerer: Answerer
    progress: VectorProgress


@dataclass(frozen=True, slots=True)
class AnswerRoom:
    """The `answers:` of documents as tests of search."""

    checks: AnswerChecks
    writing: AnswerWriting
    loop: FindabilityReport


@dataclass(frozen=True, slots=True)
class WordRoom:
    """Synonyms and pinned answers."""

    house: SynonymsAndPins


@dataclass(frozen=True, slots=True)
class GraphRoom:
    """Entities, how they relate, and the communities they form."""

    explorer: GraphExplorer
    communities: Communities


@dataclass(frozen=True, slots=True)
class Playground:
    """Configurations side by side, and why a passage ranks where it does."""

    comparer: Comparer
    locator: Locator
    notebook: Notebook
    grades: Grades
    pools: Pools
    examples: Examples


@dataclass(frozen=True, slots=True)
class Evaluation:
    """Query sets, runs over them, experiments."""

    querysets: QuerySets
    editor: QuerySetEditor
    runs: Runs
    experiments: Experiments
    jobs: EvaluationJobs


@dataclass(frozen=True, slots=True)
class Tuning:
    """Alpha and tau over whole query sets, and what is in production."""

    sweeps: Sweeps
    training: AlphaTraining
    alphas: AlphaModelFiles
    production: ProductionSettings
    prompts: PromptTuning
    confidence: ConfidenceTuning
    recommendation: Recommendation
    rankers: RankerTraining
    ranker_files: RankerFiles
    embedders: EmbedderTuning


@dataclass(frozen=True, slots=True)
class ModelRoom:
    """Models by name, what they cost, and what they are fit for."""

    registry: Models
    ledger: Ledger
    fitness: Fitness
    checker: ModelChecker


@dataclass(frozen=True, slots=True)
class Platform:
    """What everything else builds on."""

    workspace: Workspace
    backups: Backups
    jobs: Jobs
    workers: Workers
    settings: TeamSettings
    daily: Daily
    follower: RepositorySync
    memory: ProcessMemory
    sample: Sample
    doctor: Doctor


@dataclass(frozen=True, slots=True)
class App:
    """Everything a door needs: one field per room of `core/services`."""

    settings: Settings
    people: People
    knowledge: Knowledge
    reviews: Reviews
    remote: RemoteRoom
    inbox: Inbox
    deliveries: Deliveries
    upload: Upload
    index: IndexRoom
    search: Search
    answers: AnswerRoom
    words: WordRoom
    graph: GraphRoom
    playground: Playground
    evaluation: Evaluation
    tuning: Tuning
    models: ModelRoom
    platform: Platform


def build(
    settings: Settings,
    *,
    clock: Clock | None = None,
    models: Models | None = None,
    processes: Processes | None = None,
    dated: bool = False,
) -> App:
    """Wire the parts; tests pass their own clock, models and processes. With `dated`, commits carry the clock's time."""
    write_privately()
    clock = clock or SystemClock()
    cache_folder = settings.cache or settings.home / "cache"
    access = RemoteAccess(
        settings.remote_user,
        settings.remote_token,
        settings.remote_key,
        settings.remote_ssh,
        settings.remote_timeout,
    )
    repository = _repository(settings, access)
    repository.git.stamp = clock.stamp if dated else None
    opening = partial(open_database, file=settings.home / "app.db")
    database = opening(settings.database)
    ledger = Ledger(database, clock, read_prices(settings.prices, endpoints.free(settings)), settings.monthly_budget)
    audit = Audit(database, repository, clock)
    fitness = Fitness(database, clock, audit)
    models = models or _models(settings, ledger, fitness)
    place = partial(_generations, settings)
    generations = place(settings.home / "index", settings.keep_generations, _copies(settings))
    reader = TextReader()
    team_settings = TeamSettings(repository)
    documents = Documents(repository, reader.admit, team_settings.statuses)
    vectors, texts = (
        EmbeddingCache(cache_folder / "embeddings.db", shipped_vectors()),
        TextCache(cache_folder / "texts.db"),
    )
    outbox = Outbox(clock, bool(settings.smtp_url))
    messages = Messages(database, clock, outbox)
    accounts = Accounts(database, Argon2(), audit, clock, Tries(AccountKeys(database)), messages)
    shared = bool(settings.database)
    limit = worker_limit(settings.workers, shared)
    workers = processes or SystemProcesses(settings.home, limit, settings.worker_memory)
    jobs = Jobs(database, Crew(database, workers, shared=shared), clock, accounts, audit)
    progress = VectorProgress(jobs)
    owners = Owners(accounts)
    news = ChangeNews(messages, accounts)
    changes = Changes(
        repository,
        database,
        accounts,
        audit,
        clock,
        news,
        reader.read,
        rewritten=lambda actor: impacts.start(actor),
        ended=lambda number: impacts.ended(number),
    )

    checker = ModelChecker(models.probed if isinstance(models, MeteredModels) else models.llm, fitness, jobs)

    def share() -> None:
        following.share()

    alphas = AlphaModelFiles(settings.home / "models" / "alpha", share)
    house_files = HouseFiles(repository)
    ranker_files = RankerFiles(settings.home / "models" / "rankers", share)
    searcher = Searcher(
        generations,
        models,
        team_settings,
        clock,
        alphas,
        ranker_files,
        lambda number, profile: states.open(number, profile),
        fitness.caveat,
        house_files.house,
        lambda when, profile: as_of.open(when, profile),
        progress.of,
    )
    page = SearchPage(searcher, team_settings, clock)
    queries = QueryLog(database, searcher, team_settings, audit, clock)
    estimator = CallEstimator(models, ledger, settings.llm_concurrency)
    communities = Communities(searcher, vectors, JsonCache(cache_folder / "communities"), estimator)
    duplicates = DuplicateFinder(documents, searcher, team_settings, models, vectors)
    comparer, answerer = Comparer(searcher), Answerer(models, searcher, fitness.require)

    entities = EntityExtractor(models, spacy_ner.entities, settings.llm_concurrency)
    builder = IndexBuilder(
        repository,
        documents,
        generations,
        models,
        vectors,
        clock,
        texts,
        entities,
        settings.llm_concurrency,
        settings.words_first,
    )
    guard = WorkspaceGuard(repository, database, generations)
    looks = (
        ("who may read the workspace", partial(exposed, settings.home)),
        ("repository and database", guard.damaged),
        ("the index", generations.damaged),
        ("the vectors", vectors.damaged),
        ("the texts", texts.damaged),
        ("the answers", TextCache(cache_folder / "answers.db").damaged),
        ("the models", partial(weights.damaged, settings.models)),
    )
    verifier = Verifier(repository, generations, team_settings, audit, accounts, looks)
    querysets = QuerySets(database, documents, clock, audit)
    runs = Runs(database, querysets, searcher, team_settings, jobs, clock, audit, estimator, settings.llm_concurrency)
    measured = fitness if isinstance(models, MeteredModels) else None  # models of tests have no probes
    production = ProductionSettings(team_settings, runs, audit, measured)
    states = ChangeStates(settings.home / "impact", repository, builder, place, partial(_measured, changes))
    memory = ProcessMemory(settings.memory * 1_000_000)
    as_of = AsOf(settings.home / "as_of", documents.line, builder, place, memory.require_room)
    opinion = SecondOpinion(models.llm, texts, settings.llm)
    disagreements = Disagreements(ClaimBase(documents, clock), repository, changes, database, audit, opinion)
    popular = lambda limit: [(asked.question, asked.times) for asked in queries.most_asked(limit)]
    impacts = Impacts(changes, states, searcher, vectors, jobs, querysets.guards, popular, disagreements.of_change)
    aside = partial(_scratch_workspace, settings, models, team_settings, clock)
    recogniser = spacy_ner.names if spacy_ner.installed() else None
    context = ExperimentContext(runs, builder, documents, models, names=recogniser, aside=aside)
    experiments = Experiments(context, settings.home / "reports", jobs, share)
    admin = IndexAdmin(
        documents,
        generations,
        team_settings,
        jobs,
        models,
        vectors,
        audit,
        ledger.prices,
        partial(_offered, settings, ledger.prices),
        measured,
        estimator,
        texts,
        spacy_ner.check_graph,
    )
    trainer = LocalTrainer(
        settings.home / "models" / "embedders",
        settings.models,
        cache_folder / "torch",
        settings.offline,
        settings.device,
        share,
    )
    embedders = EmbedderTuning(runs, builder, admin, trainer)
    sweeps, training, rankers = Sweeps(runs), AlphaTraining(runs, alphas), RankerTraining(runs, ranker_files)
    prompts = PromptTuning(runs, audit)
    evaluation_jobs = EvaluationJobs(context, sweeps, training, prompts, rankers, embedders, jobs)
    watches = Watches(database, messages, clock, lambda question: searcher.search(question, k=NEAR).hits)
    feedback = FeedbackBoard(database, documents, owners, news, audit, clock)
    answers = AnswerChecks(database, searcher, vectors, messages, owners, audit, jobs)
    near = partial(_nearest, searcher, documents)
    gaps = Gaps(database, clock, audit, messages, owners, team_settings.questions, near, answers.answered)
    landings = MergeNotifier(repository, news, watches, gaps, feedback)
    watched = partial(production.watched, SYSTEM)

    def built() -> None:
        watches.evaluate()
        gaps.served()
        if sample.start() is None:  # which moves what is in production, and starts them when it ends
            impacts.start()

    cluster = lambda address: RayCluster(address, settings, InlineBulk(models))
    seed: list[Callable[[], object]] = [accounts.seed] if settings.sign_in == "demo" else []
    elsewhere = bool(settings.database or settings.repository or settings.store)
    anew: list[Callable[[], object]] = [*seed, partial(team_settings.start, SYSTEM.person)]
    eraser = Eraser(settings.home, repository, database, generations, team_settings, anew, elsewhere)
    sample = Sample(team_settings, jobs, partial(_past, settings, models, clock), eraser, lambda: impacts.start())
    index_jobs = IndexJobs(builder, generations, team_settings, verifier, jobs, watched, answers, built, cluster)

    def moved(cause: Actor) -> None:
        index_jobs.catch_up(cause)
        remotes.start(cause)

    merger = Merger(changes, moved, landings.landed, lambda actor: remotes.start(actor))
    git_remote = GitRemote(repository, access)
    incoming = IncomingCommits(changes, merger, git_remote)
    remotes = Remotes(git_remote, incoming, jobs, settings.remote_token, settings.remote_minutes)
    drafts = Drafts(database.drafts, clock)
    freshness = FreshnessBoard(documents, repository, merger.moving_main, audit, clock, moved)
    reminders = Reminders(freshness, owners, messages)
    choices, poster = MailChoices(database), WebhookPoster(settings.webhooks_private)
    standing = DigestContent(database, changes, freshness).of
    digests = Digests(database, outbox, accounts, standing, settings.digest_hour, settings.time_zone)
    head = Letterhead(settings.url.rstrip("/"), settings.smtp_from)
    sender = Sender(database, outbox, choices, digests, messages, head, _mailer(settings, head), poster)
    replies = Replies(database)
    works_of_day: list[Callable[[], object]] = [
        reminders.remind,
        queries.sweep,
        gaps.look,
        answers.nightly,
        sender.sweep,
        replies.sweep,
        lambda: following.sweep(),
    ]
    node = node_name(settings)
    claim = lambda name, seconds: not settings.database or database.workers.claim(name, node, seconds)
    daily = Daily(clock, works_of_day, claim)

    def warm_search() -> None:
        if generations.current(team_settings.production().profile) is not None:
            page.warm()

    def make_ready(progress: Progress) -> tuple[str, ...]:
        for step in (*setup, *repairs):
            step()
        if repository.head():
            builder.build(team_settings.profile(), progress=progress, words=True)
        return verifier.problems(progress)

    folders = _shared_folders(settings, generations)
    following = IndexSync(
        settings.store,
        node,
        generations,
        team_settings.profiles,
        clock,
        repository.workspace,
        folders,
        index_jobs.catch_up,
    )
    setup: list[Callable[[], object]] = [partial(close_to_others, settings.home), guard.open]
    repairs: list[Callable[[], object]] = [following.start, merger.repair]
    backups = Backups(
        settings.home,
        repository,
        database,
        generations,
        team_settings,
        Archives(),
        audit,
        clock,
        opening,
        make_ready,
        StoredBackups(),
    )
    return App(
        settings=settings,
        people=People(
            accounts,
            Sessions(database, audit, settings.session_idle, settings.session_life),
            Tokens(database, accounts, audit),
            ProviderSignIn(database, accounts, audit),
            audit,
            replies,
        ),
        knowledge=Knowledge(
            repository,
            documents,
            Home(documents, freshness, repository, generations, team_settings),
            freshness,
            drafts,
            gaps,
            feedback,
            Pictures(repository, drafts),
            Exports(documents, WordWriter().write),
            disagreements,
        ),
        reviews=Reviews(changes, Discussion(changes), merger, ReviewerViews(changes), impacts),
        remote=RemoteRoom(remotes, PullRequests(git_remote, remotes, changes, impacts.measure)),
        inbox=Inbox(messages, watches, reminders, owners),
        deliveries=Deliveries(
            choices,
            Webhooks(database, outbox, poster, sender, audit),
            DeliveryBoard(database, sender, audit),
            sender,
        ),
        upload=Upload(
            Uploads(
                documents,
                duplicates,
                Converters(ocr=ocr.installed() if settings.ocr else None),
                reader,
                clock,
                changes,
                Originals(),
                team_settings.statuses,
            ),
            reader,
            StatusWords(team_settings, audit),
        ),
        index=IndexRoom(
            generations,
            builder,
            admin,
            verifier,
            index_jobs,
            following,
        ),
        search=Search(searcher, page, queries, as_of, answerer, progress),
        answers=AnswerRoom(
            answers,
            AnswerWriting(searcher, vectors, texts),
            FindabilityReport(queries, gaps, answers, repository, database),
        ),
        words=WordRoom(SynonymsAndPins(house_files, documents, changes)),
        graph=GraphRoom(GraphExplorer(searcher, documents, communities), communities),
        playground=Playground(
            comparer,
            Locator(comparer, documents),
            Notebook(database, clock, audit),
            Grades(database, clock, audit),
            Pools(database, searcher, partial(_as_shown, page), answerer, clock, audit),
            Examples(runs, documents),
        ),
        evaluation=Evaluation(querysets, QuerySetEditor(querysets), runs, experiments, evaluation_jobs),
        tuning=Tuning(
            sweeps,
            training,
            alphas,
            production,
            prompts,
            ConfidenceTuning(runs),
            Recommendation(production),
            rankers,
            ranker_files,
            embedders,
        ),
        models=ModelRoom(models, ledger, fitness, checker),
        platform=Platform(
            Workspace(
                guard=guard,
                setup=[backups.refuse_half_restored, *setup],
                repairs=[eraser.resume, *repairs, *seed],
                sweeps=[following.look, generations.sweep, repository.sweep, merger.sweep, impacts.sweep, daily.run],
                jobs=jobs,
                behind=index_jobs.catch_up,
                warmup=[lambda: Later("core.storage.serving.kernels").warm(), warm_search],
                works=_following(
                    [*([repository.follow] if repository.clone else []), *([following.look] if settings.store else [])],
                    {
                        "evaluate": runs.work,
                        "drift": production.work,
                        ANSWERS: answers.work,
                        JOB: impacts.work,
                        REMOTE: remotes.work,
                        SAMPLE: sample.work,
                        "experiment": experiments.work,
                        "check-model": checker.work,
                        **index_jobs.works(),
                        **evaluation_jobs.works(),
                    },
                ),
            ),
            backups,
            jobs,
            Workers(database, jobs),
            team_settings,
            daily,
            RepositorySync(repository, database, lambda: (merger.repair(), index_jobs.catch_up())),
            memory,
            sample,
            Doctor(
                {
                    "permissions": partial(doctor.permissions, settings.home, exposed),
                    "disk": partial(doctor.disk, settings.home),
                    "clock": partial(doctor.time, clock, repository),
                    "database": partial(doctor.database, database),
                    "index": partial(doctor.index, builder, team_settings),
                    "models": partial(doctor.models, models, team_settings, partial(weights.damaged, settings.models)),
                    "jobs": partial(doctor.jobs, SYSTEM, Workers(database, jobs)),
                    "backup": partial(doctor.backup, database, clock),
                    **_counterparts(settings, head, following),
                }
            ),
        ),
    )


def _counterparts(settings: Settings, head: Letterhead, following: IndexSync) -> dict[str, doctor.Look]:
    """What the doctor asks of others: mail server, sign-in provider, store."""
    letters = "Check CONCORD_SMTP_URL, CONCORD_SMTP_PASSWORD and CONCORD_SMTP_CA; docs/messages.md says how."
    people = "Check the section [auth] of .streamlit/secrets.toml; docs/accounts.md shows one."
    files = "Check CONCORD_STORE and the credentials of the store; docs/cluster.md says which it needs."
    return {
        "mail": partial(
            doctor.answering, "mail", bool(settings.smtp_url), lambda: _mail_refusal(settings, head), letters
        ),
        "provider": partial(doctor.answering, "provider", settings.sign_in == "oidc", _provider_refusal, people),
        "store": partial(doctor.answering, "store", bool(settings.store), lambda: _store_refusal(following), files),
    }


def _mail_refusal(settings: Settings, head: Letterhead) -> str:
    mailer = _mailer(settings, head)
    return mailer.refusal() if mailer else ""


def _provider_refusal() -> str:
    """Why nobody can sign in through the provider of the section [auth]; "" where it answers."""
    places = (PROJECT / ".streamlit" / "secrets.toml", Path.home() / ".streamlit" / "secrets.toml")
    file = next((place for place in places if place.is_file()), None)
    if file is None:
        return "there is no section [auth]"
    try:
        sign_in_provider(tomllib.loads(file.read_text(encoding="utf-8")).get("auth", {})).metadata()
    except (ConcordError, tomllib.TOMLDecodeError) as error:
        return str(error)
    return ""


def _store_refusal(following: IndexSync) -> str:
    try:
        following.check(SYSTEM)
    except ConcordError as error:
        return str(error)
    return ""


def _repository(settings: Settings, access: RemoteAccess) -> Repository:
    """The repository of the workspace, or the clone of the one that nodes share."""
    path = settings.home / "kb.git"
    if not settings.repository:
        return Repository(path)
    url = safe_address(settings.repository, settings.remote_token)
    patience = min(access.patience, SILENCE)  # everybody who writes waits meanwhile
    return Repository(path, SharedRepository(path.resolve(), url, replace(access, patience=patience)))


def _following(looks: Sequence[Callable[[], object]], works: Mapping[str, Work]) -> dict[str, Work]:
    """Work that begins with what every node has written."""

    def followed(work: Work, arguments: Mapping[str, Any], progress: Progress) -> Any:
        for look in looks:
            with suppress(Unavailable):  # then with what this node has seen
                look()
        return work(arguments, progress)

    return {kind: partial(followed, work) for kind, work in works.items()} if looks else dict(works)


def _mailer(settings: Settings, head: Letterhead) -> SmtpMailer | None:
    """The mail server that is configured, if one is."""
    if not settings.smtp_url:
        return None
    server = parse_server(settings.smtp_url, settings.smtp_password)
    return SmtpMailer(server, settings.smtp_from, head.host, settings.smtp_ca)


def _copies(settings: Settings) -> PublishedGenerations | None:
    """Generations that machines share, if a store is configured."""
    if not settings.store:
        return None
    objects = ObjectStore(settings.store)
    index = PublishedIndex(objects, Conformance(objects, settings.home / "store.json"))
    return PublishedGenerations(index, Collector(index, settings.keep_generations))


def _shared_folders(settings: Settings, generations: Generations) -> tuple[SharedFolder, ...]:
    """Models and reports of the workspace, where machines share them."""
    if not generations.copies:
        return ()
    index = generations.copies.index
    return tuple(SharedFolder(index.objects, index.conformance, settings.home / name) for name in ("models", "reports"))


def _generations(
    settings: Settings, root: Path, keep: int = 1, copies: PublishedGenerations | None = None
) -> Generations:
    tables = f"{settings.store.rstrip('/')}/tables" if copies else ""
    return Generations(root, keep, settings.exact_limit, lambda profile: analyser(profile.lexical), copies, tables)


def _measured(changes: Changes, number: int) -> tuple[str, str] | None:
    """Head and main of an open change as they were measured last."""
    return changes.database.impacts.measured().get(number) if changes.get(number).open else None


def _nearest(searcher: Searcher, documents: Documents, question: str) -> list[Document]:
    """The documents that a search finds first."""
    paths = dict.fromkeys(hit.path for hit in searcher.search(question, k=NEAR).hits)
    known = {document.path: document for document in documents.all()}
    return [known[path] for path in list(paths)[:3] if path in known]


def _as_shown(page: SearchPage, query: str) -> list[Hit]:
    """The hits of a query in the order of the Search page."""
    return [passage.hit for group in page.find(query).groups for passage in group.passages]


def _models(settings: Settings, ledger: Ledger, fitness: Fitness) -> Models:
    """Models on this machine and behind configured endpoints; paid calls go through the ledger."""
    ends, tuned = endpoints.Endpoints(settings, ledger), settings.home / "models" / "embedders"
    registry = ModelRegistry(settings.models, settings.threads, settings.offline, ends, tuned)
    answers = TextCache((settings.cache or settings.home / "cache") / "answers.db")
    return MeteredModels(registry, ledger, answers, fitness)


def _offered(settings: Settings, prices: Prices) -> OfferedModels:
    """What a form can choose from: fetched models, folders beside them, and models with a price."""
    here = [model for model in weights.BUNDLED if weights.present(settings.models, model)]
    bundled = {model.name for model in weights.BUNDLED}
    folders = [path.parent for path in sorted(Path(settings.models).glob("*/modules.json"))]
    embedders = [model.name for model in here if model.kind != "reranker"]
    embedders += [str(folder) for folder in folders if folder.name not in bundled]
    cards = sorted((settings.home / "models" / "embedders").glob("*/card.json"))
    embedders += [f"{TUNED}{card.parent.name}" for card in cards]
    rerankers = [model.name for model in here if model.kind == "reranker"]
    others = bool(settings.openai_url or settings.bedrock_region or not settings.offline)
    return offered(embedders, rerankers, prices, settings.llm, others)


@cache
def shipped_vectors() -> ShippedVectors:
    """Vectors of the starter knowledge base, read once in a process."""
    return ShippedVectors(
        PROJECT / "kb" / "sample" / "vectors.bin", {one.name: one.files[0][1] for one in weights.BUNDLED}
    )


def evaluation_workspace(app: App, actor: Actor, name: str) -> App:
    """A workspace of its own for a collection, under the cache; models and vectors are shared."""
    require(actor, "run an evaluation")
    home = app.settings.home / "cache" / "evaluation" / name
    shared = app.settings.cache or app.settings.home / "cache"
    alone = replace(app.settings, home=home, cache=shared, repository="", store="", database="", workers=0)
    other = build(alone, models=app.models.registry)
    other.platform.workspace.create()
    return other


def _past(settings: Settings, models: Models, clock: Clock) -> SamplePast:
    """The same workspace with a clock that can be set back; what happens there starts no job."""
    back = PastClock(clock)
    app = build(replace(settings, workers=0), clock=back, models=models, dated=True)
    app.reviews.merger.merged = app.reviews.changes.rewritten = lambda actor: None
    return SamplePast(
        PROJECT / "kb",
        back,
        app.people.accounts,
        app.knowledge.documents,
        app.reviews.changes,
        app.reviews.discussion,
        app.reviews.merger,
        app.reviews.impacts,
        app.words.house,
        app.inbox.watches,
        app.knowledge.gaps,
        app.knowledge.feedback,
        app.search.queries,
        app.evaluation.querysets,
        app.evaluation.runs,
        app.tuning.production,
        app.tuning.confidence,
    )


def _scratch_workspace(
    settings: Settings,
    models: Models,
    team_settings: TeamSettings,
    clock: Clock,
    actor: Actor,
    documents: Sequence[Document],
) -> ExperimentContext:
    """A workspace with a few documents for an experiment, under the cache; what is in production counts there, too."""
    require(actor, "run an evaluation")
    name = f"documents-{strict.digest([[document.path, document.blob] for document in documents])}"
    home, shared = settings.home / "cache" / "evaluation" / name, settings.cache or settings.home / "cache"
    alone = replace(settings, home=home, cache=shared, repository="", store="", database="", workers=0)
    other = build(alone, models=models, clock=clock)
    other.platform.workspace.create()
    if not other.knowledge.repository.head():
        files = {document.path: document.text.encode() for document in documents}
        other.knowledge.documents.save(collections.AUTHOR, files, [], "Documents of an experiment")
    other.evaluation.runs.team_settings = team_settings
    return other.evaluation.experiments.context


def sign_in_provider(auth: Mapping[str, Any]) -> OidcProvider:
    """The provider that a section [auth] describes."""
    settings = strict.parse(ProviderSettings, auth, "auth")
    for role in settings.roles:
        checked_role(role)
    return OidcProvider(settings)


def fetch_models(settings: Settings, actor: Actor, names: list[str], progress: Progress) -> list[str]:
    """Fetch bundled models; without names, the default ones."""
    require(actor, "fetch models")
    chosen = [weights.bundled(name) for name in names] or [model for model in weights.BUNDLED if model.default]
    return weights.fetch(settings.models, chosen, progress)


def list_models(settings: Settings) -> list[dict[str, Any]]:
    """Every bundled model, and whether it was fetched."""
    return [
        {
            "name": model.name,
            "kind": "embedder" if model.kind == "static" else model.kind,
            "dimension": model.dimension or None,
            "limit": model.limit,
            "default": model.default,
            "present": weights.present(settings.models, model),
            "about": model.about,
            "place": str(Path(settings.models) / model.name),
        }
        for model in weights.BUNDLED
    ]
