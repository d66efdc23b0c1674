"""What the playground component shows, as plain values: for the page, and for what its knobs ask."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import isfinite, nan
from typing import Any

from core import strict
from core.access import Actor
from core.errors import BadInput
from core.retrieval.parameters import PARAMETERS
from core.retrieval.presets import follow, presets
from core.services.playground.compare import MOST, CachedSearch, Column, Comparison
from core.services.playground.examples import ExampleQuestion, difference
from core.services.playground.notebook import Setup, check
from core.services.search.searcher import CHANGE
from core.types import Hit
from pages.ui import style
from pages.ui.configurations import built_profiles, choices
from pages.ui.playground import column_data
from pages.ui.workspace import app, cached_search

_RUN = 64  # characters


@dataclass(frozen=True, slots=True)
class Board:
    """What somebody has before them: the setup, the run whose searches are cached, the passages that are looked at."""

    setup: Setup
    run: str
    looked: Sequence[str] = ()


def cached_searches(actor: Actor, now: Setup, run: str) -> dict[str, CachedSearch]:
    """The cached searches of a run, by profile."""
    names = sorted({column.profile for column in now.columns})
    return {name: search for name in names if (search := cached_search(actor, run[:_RUN], name, now.filters))}


def compare(now: Setup, searches: Mapping[str, CachedSearch]) -> Comparison:
    """Every column, ranked from the cache where possible."""
    return app().playground.comparer.rank(now.query, now.columns, searches)


def update(actor: Actor, shown: Board, turns: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Turn knobs of the board that a component shows, and return what changes there."""
    now = check(shown.setup)
    for turn in turns:
        now = apply_turn(actor, now, turn)
    board = replace(shown, setup=now)
    if not now.query or not now.columns:
        return ranked(actor, board, None, {}, ())
    searches = cached_searches(actor, now, shown.run)
    page = compare(shown.setup, searches) if turns else None
    comparison = compare(now, searches)
    return {
        **ranked(actor, board, comparison, searches, (), page),
        "scores": _scores(actor, comparison, searches),
    }


def view(actor: Actor, board: Board, comparison: Comparison | None) -> dict[str, Any]:
    """Everything that the component shows."""
    now = board.setup
    searches = cached_searches(actor, now, board.run) if comparison else {}
    judged = [*hits(comparison).values(), *added(actor, now, searches)] if comparison else []
    own = app().playground.grades.grades(actor, now.query, judged) if judged else {}
    return {
        "most": MOST,
        "profiles": [*built_profiles(actor), *_proposed(now)],
        "grades": {chunk: grade.grade for chunk, grade in own.items()},
        "notes": {chunk: grade.note for chunk, grade in own.items() if grade.note},
        "scores": _scores(actor, comparison, searches) if comparison else [],
        **ranked(actor, board, comparison, searches, list(choices(actor))),
    }


def _scores(actor: Actor, comparison: Comparison, searches: Mapping[str, CachedSearch]) -> list[dict[str, Any] | None]:
    """What the judgments so far say of each column."""
    ranked_columns = [
        (searches[outcome.column.profile].index, outcome.result.hits) if outcome.result else None
        for outcome in comparison.outcomes
    ]
    asked = [column for column in ranked_columns if column]
    scores = iter(app().playground.grades.scores(actor, comparison.query, asked))
    return [column_data.live_score(next(scores)) if column else None for column in ranked_columns]


def ranked(
    actor: Actor,
    board: Board,
    comparison: Comparison | None,
    searches: Mapping[str, CachedSearch],
    names: Sequence[str],
    page: Comparison | None = None,
) -> dict[str, Any]:
    """The part that knobs change; given what the page shows already, only the differences."""
    now = board.setup
    return {
        "setup": strict.plain(now),
        "run": board.run,
        "looked": list(board.looked),
        "query": now.query,
        "blind": now.blind and comparison is not None,
        "link": strict.digest(now, 10),
        "said": difference(comparison.outcomes, now.document) if comparison and not now.blind else "",
        "summary": _summary(comparison) if comparison else "",
        "legend": column_data.legend(comparison) if comparison else [],
        "columns": column_data.columns(comparison, searches, names, page)
        if comparison and not now.blind
        else [column_data.head(column, n, names) for n, column in enumerate(now.columns)],
        "around": _around(comparison, searches, board.looked) if comparison else {},
        "pool": _pool(actor, now, comparison, searches) if comparison and now.blind else [],
    }


def hits(comparison: Comparison) -> dict[str, Hit]:
    """Every hit of every column, by chunk."""
    return {hit.chunk: hit for outcome in comparison.outcomes if outcome.result for hit in outcome.result.hits}


def examples(actor: Actor) -> tuple[ExampleQuestion, ...]:
    """Questions to begin with, where there is an index to ask."""
    current = app()
    built = current.index.generations.current(current.platform.settings.production().profile)
    return current.playground.examples.listed(actor) if built and not built.pending else ()


def _summary(comparison: Comparison) -> str:
    passages = hits(comparison)
    times = [sum(stage.ms for stage in outcome.result.stages) for outcome in comparison.outcomes if outcome.result]
    slowest = f", slowest column {style.duration(max(times))}" if times else ""
    return style.count(len(passages), "passage") + slowest


def added(actor: Actor, now: Setup, searches: Mapping[str, CachedSearch]) -> tuple[Hit, ...]:
    """What judges added to the pool of the query, while it is judged blind."""
    search = searches.get(now.columns[0].profile)
    return app().playground.pools.added(actor, now.query, search.index) if now.blind and search else ()


def pooled(actor: Actor, now: Setup, comparison: Comparison, searches: Mapping[str, CachedSearch]) -> tuple[Hit, ...]:
    """What judges of the query grade: the hits of all columns and what was added, shuffled."""
    found = [outcome.result.hits for outcome in comparison.outcomes if outcome.result]
    search = searches.get(now.columns[0].profile)
    return app().playground.pools.pool(actor, now.query, found, search.index) if search else ()


def _pool(
    actor: Actor, now: Setup, comparison: Comparison, searches: Mapping[str, CachedSearch]
) -> list[dict[str, Any]]:
    first = now.columns[0]
    lists = [(outcome.column.profile, outcome.result.hits) for outcome in comparison.outcomes if outcome.result]
    profile_of = {hit.chunk: profile for profile, column_hits in lists for hit in column_hits}
    return [
        column_data.hit_view(
            replace(hit, rank=0), now.query, first.config, searches[profile_of.get(hit.chunk, first.profile)], 420
        )
        for hit in pooled(actor, now, comparison, searches)
    ]


def _around(
    comparison: Comparison, searches: Mapping[str, CachedSearch], looked: Sequence[str]
) -> dict[str, dict[str, str]]:
    shown: dict[str, dict[str, str]] = {}
    for outcome in comparison.outcomes:
        for hit in outcome.result.hits if outcome.result else ():
            if hit.chunk in looked and hit.chunk not in shown:
                shown[hit.chunk] = column_data.around(
                    app().playground.comparer.around(searches[outcome.column.profile], hit.chunk)
                )
    return shown


def apply_turn(actor: Actor, now: Setup, turn: Mapping[str, Any]) -> Setup:
    """The setup after a knob of a column was turned, or a column was added or removed."""
    columns, n, knob = list(now.columns), int(_number("column", turn.get("column", 0))), str(turn.get("knob"))
    if knob == "add" and len(columns) < MOST:
        columns.append(_next_column(columns))
    elif not 0 <= n < len(columns):
        return now  # a second click on a column that is gone
    elif knob == "remove" and len(columns) > 1:
        columns.pop(n)
    else:
        columns[n] = _column(actor, columns[n], knob, turn.get("value"))
    return check(replace(now, columns=tuple(columns)))


def _column(actor: Actor, column: Column, knob: str, value: Any) -> Column:
    if knob == "preset":
        saved = app().playground.notebook.saved(actor).get(str(value))
        return saved or Column(column.profile, choices(actor).get(str(value), column.config), str(value))
    if knob == "profile":
        return replace(column, profile=str(value))
    if knob not in PARAMETERS:
        return column
    given = _number(knob, value)
    number: Any = int(given) if PARAMETERS[knob].whole else given
    config = replace(column.config, **{knob: number})
    return replace(column, config=config, name=follow(column.name, config, choices(actor)))


def _number(name: str, value: Any) -> float:
    """A finite number, as a component or a program sends it."""
    try:
        number = float(value)
    except (TypeError, ValueError, OverflowError):
        number = nan
    if not isfinite(number):
        raise BadInput(f"{name}: expected a number.")
    return number


def _next_column(columns: Sequence[Column]) -> Column:
    """A column with a preset that is not shown yet."""
    used = {column.name for column in columns}
    name = next((name for name in presets() if name not in used), "BM25")
    return Column(columns[0].profile if columns else profile(), presets()[name], name)


def _proposed(now: Setup) -> list[str]:
    """Profiles as a change would leave them, where a column names one."""
    return list(dict.fromkeys(column.profile for column in now.columns if CHANGE in column.profile))


def profile() -> str:
    """The profile that a new column starts with."""
    return app().platform.settings.production().profile.name
