"""The App behind the pages, and every cache: keyed by commit or generation, and by audience, which is equal for those
who may
read the same documents.

`_actor` is no part of a key: pages ask `identity.require` on every run, and the services ask whoever fills the cache.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from functools import cache, wraps
from typing import Any, ParamSpec, TypeVar

import streamlit as st

from core import strict
from core.access import SYSTEM, Actor
from core.bootstrap import App, build
from core.curation.document.links import backlinks
from core.errors import StorageFailed, Unavailable
from core.evaluation.querysets.anchoring import Anchored
from core.evaluation.runs import comparisons
from core.evaluation.runs.comparisons import LeaderboardRow, RunComparison, compare
from core.evaluation.runs.run import Run
from core.retrieval import config as configs
from core.services.answers.answer_checks import LoopPoint
from core.services.knowledge.home import Overview
from core.services.playground.compare import CachedSearch, Column
from core.services.tuning.sweeps import AlphaCurves, SweepData, SweepScope
from core.settings import load
from core.types import Filters

P = ParamSpec("P")
R = TypeVar("R")


@cache
def app() -> App:
    """The one App of this server.

    A page asks for it thirty times, and Streamlit's own cache takes a fiftieth of a search for each.
    """
    return _opened_once()


current_app = app  # for modules where `app` is something else


@st.cache_resource(show_spinner="Opening the knowledge base")
def _opened_once() -> App:
    """Whoever comes while it is being opened waits for it."""
    return open_app()


def open_app() -> App:
    """The workspace named by the environment; interrupted jobs resume and the index catches up."""
    opened = build(load())
    opened.platform.upgrades.begin()
    opened.platform.workspace.create()
    with suppress(StorageFailed, Unavailable):  # a workspace that cannot be written is opened as it is
        opened.platform.settings.start(SYSTEM.person)
    opened.platform.workspace.catch_up()
    opened.platform.memory.releases.append(forget)
    return opened


def forget() -> None:
    """Empty the caches that hold the most: what is asked for again is computed again."""
    for cached in (_cached_search, run, leaderboard, run_comparison, sweep_data, alpha_curves, evidence):
        cached.clear()  # type: ignore[attr-defined, union-attr]


def audience() -> str:
    """Of whoever is signed in: a part of the key of every cache here."""
    return app().knowledge.documents.audience()


def kept(most: int, spinner: bool | str = False) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Keep what a function gives, by its arguments and the audience; the last argument is who asks, and no part of the
    key.
    """

    def made(function: Callable[P, R]) -> Callable[P, R]:
        def filled(audience: str, given: tuple[Any, ...], _actor: Actor) -> R:
            return function(*given, _actor)  # type: ignore[call-arg, arg-type]

        filled.__qualname__ = function.__qualname__  # by which Streamlit tells caches apart
        cached = st.cache_resource(max_entries=most, show_spinner=spinner)(filled)

        @wraps(function)
        def asked(*given: P.args, **named: P.kwargs) -> R:
            return cached(audience(), given[:-1], given[-1])  # type: ignore[no-any-return, arg-type]

        asked.clear = cached.clear  # type: ignore[attr-defined]
        return asked

    return made


def overview() -> Overview:
    """The state of the knowledge base, cached until documents, index or day change."""
    current = app()
    serving = current.index.generations.current(current.platform.settings.production().profile)
    return _overview(
        current.knowledge.repository.head(),
        serving.folder if serving else "",
        str(current.search.page.clock.today()),
        audience(),
    )


@st.cache_data(max_entries=4, show_spinner=False)
def _overview(head: str, generation: str, day: str, audience: str) -> Overview:
    return app().knowledge.home.overview()


def loop_points() -> tuple[LoopPoint, ...]:
    """Findability by merge, cached until a commit or a check adds to it."""
    current = app()
    return _loop_points(current.knowledge.repository.head(), current.answers.checks.last_asked(), audience())


@st.cache_resource(max_entries=2, show_spinner=False)
def _loop_points(head: str, asked: str, audience: str) -> tuple[LoopPoint, ...]:
    return app().answers.loop.points()


def links_to(path: str) -> tuple[tuple[str, str], ...]:
    """Documents that link to a path, as (path, link text)."""
    return _backlinks(app().knowledge.repository.head(), audience()).get(path, ())


@st.cache_data(max_entries=2, show_spinner=False)
def _backlinks(head: str, audience: str) -> dict[str, tuple[tuple[str, str], ...]]:
    return dict(backlinks(app().knowledge.documents.all()))


def cached_search(actor: Actor, run: str, profile: str, filters: Filters) -> CachedSearch | None:
    """One run's search of one profile, so that sliders need no new one; None without an index."""
    return _cached_search(run, profile, strict.canonical(filters), actor).get(profile)


@kept(32)
def _cached_search(run: str, profile: str, filters: str, _actor: Actor) -> dict[str, CachedSearch]:
    return app().playground.comparer.cached_searches(
        _actor, [Column(profile)], strict.parse(Filters, json.loads(filters), "filters")
    )


@kept(64)
def run(number: str, _actor: Actor) -> Run:
    """A run with all its questions; runs are immutable."""
    return app().evaluation.runs.show(_actor, number)


@kept(64)
def leaderboard(numbers: tuple[str, ...], measure: str, baseline: str, _actor: Actor) -> tuple[LeaderboardRow, ...]:
    """Runs ordered by their mean, with intervals, against one of them or the best."""
    return comparisons.leaderboard([run(number, _actor) for number in numbers], measure, baseline)


@kept(16)
def run_comparison(before: str, after: str, measure: str, _actor: Actor) -> RunComparison:
    """Two runs, question by question."""
    return compare(run(before, _actor), run(after, _actor), measure)


def generation() -> str:
    """The folder of the serving generation, as a cache key; "" when there is none."""
    current = app()
    serving = current.index.generations.current(current.platform.settings.production().profile)
    return serving.folder if serving else ""


@dataclass(frozen=True, slots=True)
class SweepKey:
    """A query set over the serving index: what its arrays are cached by."""

    queryset: str
    digest: str
    generation: str
    day: str
    depth: int
    production: str


@kept(4, "Searching every question once")
def sweep_data(asked: SweepKey, _actor: Actor) -> SweepData:
    """A query set as arrays, so that a slider needs no search; loaded again when the set, the index or the
    day changes.
    """
    production = configs.parse(asked.production)
    return app().tuning.sweeps.load(_actor, asked.queryset, SweepScope(depth=asked.depth), config=production)


@kept(16, "Drawing the curve")
def alpha_curves(asked: SweepKey, config: str, measure: str, _actor: Actor) -> AlphaCurves:
    """A measure over alpha for one way of searching."""
    production = configs.parse(asked.production)
    return app().tuning.sweeps.curves_of(sweep_data(asked, _actor), configs.parse(config), measure, production)


@kept(16, "Weighing against production")
def evidence(
    run: str, measure: str, depends: tuple[str, ...], _actor: Actor
) -> tuple[RunComparison, tuple[RunComparison, ...]]:
    """A run against what is in production, and the same on the other query sets that production was measured on.

    It `depends` on production, the index, the sets, and the newest run: every new one is another try.
    """
    weigh = app().tuning.production
    return weigh.evidence(_actor, run, measure), weigh.guardrails(_actor, run, measure)


@kept(8)
def unmapped(queryset: str, digest: str, generation: str, _actor: Actor) -> tuple[Anchored, ...]:
    """Judgments of a set that find no place in the serving generation."""
    current = app()
    return current.evaluation.querysets.unmapped(_actor, queryset, current.search.searcher.index(words=True))
