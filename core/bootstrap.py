"""The composition root: settings in, a wired App out. Rooms wire themselves; here is the order."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial

from core.access import Actor, require
from core.adapters.system.processes import SystemClock
from core.ports import Clock, Models, Processes
from core.services.answers import wiring as answers_
from core.services.deliveries import wiring as deliveries_
from core.services.evaluation import wiring as evaluation_
from core.services.graph import wiring as graph_
from core.services.impact import wiring as impact_
from core.services.inbox import wiring as inbox_
from core.services.inbox.owners import Owners
from core.services.index import wiring as index_
from core.services.jobs import wiring as jobs_
from core.services.knowledge import wiring as knowledge_
from core.services.models import wiring as models_
from core.services.people import wiring as people_
from core.services.platform import wiring as platform_
from core.services.platform.base import Step, lay
from core.services.playground import wiring as playground_
from core.services.remote import wiring as remote_
from core.services.reviews import wiring as reviews_
from core.services.sample import wiring as sample_
from core.services.sample.past import PastClock, SamplePast
from core.services.search import wiring as search_
from core.services.tuning import wiring as tuning_
from core.services.upload import wiring as upload_
from core.services.words import wiring as words_
from core.settings import PROJECT, Settings


@dataclass(frozen=True, slots=True)
class App:
    """Everything a door needs: one field per room of `core/services`."""

    settings: Settings
    people: people_.People
    knowledge: knowledge_.Knowledge
    reviews: reviews_.Reviews
    remote: remote_.RemoteRoom
    inbox: inbox_.Inbox
    deliveries: deliveries_.Deliveries
    upload: upload_.Upload
    index: index_.IndexRoom
    search: search_.Search
    answers: answers_.AnswerRoom
    words: words_.WordRoom
    graph: graph_.GraphRoom
    playground: playground_.Playground
    evaluation: evaluation_.Evaluation
    tuning: tuning_.Tuning
    models: models_.ModelRoom
    platform: platform_.Platform


def build(
    settings: Settings,
    *,
    clock: Clock | None = None,
    models: Models | None = None,
    processes: Processes | None = None,
    dated: bool = False,
) -> App:
    """Wire the rooms; tests pass their own clock, models and processes. With `dated`, commits carry the clock's time
    and start nothing."""
    base = lay(settings, clock or SystemClock(), dated)
    people = people_.wire(base)
    accounts, owners = people.accounts, Owners(people.accounts)
    jobs = jobs_.wire(base, accounts, processes)
    room = models_.wire(base, jobs, models)
    merger = reviews_.wire_changes(base, accounts)
    builder = index_.wire_builder(base, room)
    states = impact_.wire_states(base, merger.changes, builder)
    learned = search_.learned(base)
    search = search_.wire(base, jobs, room, states, learned)
    searcher = search.searcher
    checks = answers_.wire_checks(base, jobs, search, owners)
    knowledge = knowledge_.wire(base, room, searcher, merger, checks, owners)
    inbox = inbox_.wire(base, merger.changes.news, searcher, knowledge, owners)
    runs = evaluation_.wire_runs(base, jobs, room, searcher)
    impacts = impact_.wire(base, jobs, states, search, runs.querysets, knowledge.disagreements)
    reviews = reviews_.wire(merger, impacts)
    index = index_.wire(base, jobs, accounts, room, builder, checks)
    remote = remote_.wire(base, jobs, reviews)
    tuning = tuning_.wire(base, room, runs, index, learned)
    evaluation = evaluation_.wire(base, room, runs, builder, tuning)
    seed: list[Step] = [accounts.seed] if settings.sign_in == "demo" else []
    sample = sample_.wire(base, impacts, partial(_past, settings, room.registry, base.clock), seed)
    return App(
        settings=settings,
        people=people,
        knowledge=knowledge,
        reviews=reviews,
        remote=remote,
        inbox=inbox,
        deliveries=deliveries_.wire(base, merger.changes, knowledge.freshness),
        upload=upload_.wire(base, room.registry, searcher, merger, remote.remotes),
        index=index,
        search=search,
        answers=answers_.wire(base, search, checks, knowledge.gaps),
        words=words_.wire(base, merger.changes),
        graph=graph_.wire(base, room, searcher),
        playground=playground_.wire(base, search, runs),
        evaluation=evaluation,
        tuning=tuning,
        models=room,
        platform=platform_.wire(base, jobs, room.registry, index, sample, seed),
    )


def _alone(settings: Settings, name: str) -> Settings:
    """Those of a workspace under the cache, with vectors and models shared."""
    home = settings.home / "cache" / "evaluation" / name
    return replace(settings, home=home, cache=settings.caches, repository="", store="", database="", workers=0)


def evaluation_workspace(app: App, actor: Actor, name: str) -> App:
    """A workspace of its own for a collection."""
    require(actor, "run an evaluation")
    other = build(_alone(app.settings, name), clock=app.evaluation.runs.clock, models=app.models.registry)
    other.platform.workspace.create(migrate=True)  # it is a cache
    return other


def _past(settings: Settings, models: Models, clock: Clock) -> SamplePast:
    """The same workspace with a clock that can be set back; what happens there starts no job."""
    back = PastClock(clock)
    app = build(replace(settings, workers=0), clock=back, models=models, dated=True)
    return SamplePast(
        PROJECT / "kb",
        back,
        app.people,
        app.knowledge,
        app.reviews,
        app.words.rules,
        app.inbox.watches,
        app.search.queries,
        app.evaluation.runs,
        app.tuning,
        app.evaluation.jobs,
    )
