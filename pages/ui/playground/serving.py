"""A playground as the component draws it, from a setup and a run alone: for the page, and for the knobs that ask directly."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from core import strict
from core.access import Actor
from core.retrieval.parameters import PARAMETERS
from core.retrieval.presets import presets
from core.services.playground.compare import MOST, Column, Comparison, Held
from core.services.playground.grades import pool
from core.services.playground.notebook import Setup, check
from core.types import Hit
from pages.ui import style
from pages.ui.configurations import built_profiles, choices
from pages.ui.playground import drawing
from pages.ui.workspace import app, memory

_RUN = 64  # characters


def held(now: Setup, run: str) -> dict[str, Held]:
    """What a run found, by profile."""
    names = sorted({column.profile for column in now.columns})
    return {name: found for name in names if (found := memory(run[:_RUN], name, now.filters))}


def compare(now: Setup, memories: Mapping[str, Held]) -> Comparison:
    """Every column, ranked from memory where it can be."""
    return app().playground.comparer.rank(now.query, now.columns, memories)


def answer(asked: Mapping[str, Any]) -> dict[str, Any]:
    """Turn knobs of a setup that a component shows, and draw what is new to it."""
    now = shown = check(strict.parse(Setup, asked.get("setup") or {}, "setup"))
    for one in asked.get("turns") or ():
        now = turned(now, one)
    run, looked = str(asked.get("run") or ""), [str(chunk) for chunk in asked.get("looked") or ()]
    if not now.query:
        return ranked(now, run, None, {}, looked, ())
    memories = held(now, run)
    page = compare(shown, memories) if asked.get("turns") else None
    return ranked(now, run, compare(now, memories), memories, looked, (), page)


def view(now: Setup, run: str, made: Comparison | None, actor: Actor, looked: Sequence[str]) -> dict[str, Any]:
    """Everything the component draws."""
    grades = app().playground.grades.grades(now.query, actor.id, list(hits(made).values())) if made else {}
    fixed = {"most": MOST, "profiles": built_profiles(), "grades": grades}
    return {**fixed, **ranked(now, run, made, held(now, run) if made else {}, looked, list(choices()))}


def ranked(
    now: Setup,
    run: str,
    made: Comparison | None,
    memories: Mapping[str, Held],
    looked: Sequence[str],
    names: Sequence[str],
    page: Comparison | None = None,
) -> dict[str, Any]:
    """The part that knobs move; beside what a page shows already, only what is new to it."""
    return {
        "setup": strict.plain(now),
        "run": run,
        "looked": list(looked),
        "query": now.query,
        "blind": now.blind and made is not None,
        "link": strict.digest(now, 10),
        "summary": _summary(made) if made else "",
        "legend": drawing.legend(made) if made else [],
        "columns": drawing.columns(made, memories, names, page)
        if made and not now.blind
        else [drawing.head(column, n, names) for n, column in enumerate(now.columns)],
        "around": _around(made, memories, looked) if made else {},
        "pool": _pool(now, made, memories) if made and now.blind else [],
    }


def hits(made: Comparison) -> dict[str, Hit]:
    """Every hit of every column, by chunk."""
    return {hit.chunk: hit for lane in made.lanes if lane.result for hit in lane.result.hits}


def _summary(made: Comparison) -> str:
    found = hits(made)
    columns = style.count(len(made.lanes), "column")
    spent = f"{1000 * made.seconds:.0f} ms" if made.seconds >= 0.001 else "under 1 ms"
    return f"{style.count(len(found), 'passage')} in {columns}, {spent}"


def _pool(now: Setup, made: Comparison, memories: Mapping[str, Held]) -> list[dict[str, Any]]:
    lanes = [(lane.column.profile, lane.result.hits) for lane in made.lanes if lane.result]
    profile_of = {hit.chunk: profile for profile, found in lanes for hit in found}
    order = pool([found for _, found in lanes], int(strict.digest(now.query, 8), 16))
    return [
        drawing.hit_view(replace(hit, rank=0), now.query, now.columns[0].config, memories[profile_of[hit.chunk]], 420)
        for hit in order
    ]


def _around(made: Comparison, memories: Mapping[str, Held], looked: Sequence[str]) -> dict[str, dict[str, str]]:
    shown: dict[str, dict[str, str]] = {}
    for lane in made.lanes:
        for hit in lane.result.hits if lane.result else ():
            if hit.chunk in looked and hit.chunk not in shown:
                shown[hit.chunk] = drawing.around(
                    app().playground.comparer.around(memories[lane.column.profile], hit.chunk)
                )
    return shown


def turned(now: Setup, what: Mapping[str, Any]) -> Setup:
    """A setup after one knob of one column was turned, or a column came or went."""
    columns, at, knob = list(now.columns), int(what.get("column", 0)), str(what.get("knob"))
    if knob == "add" and len(columns) < MOST:
        columns.append(_next(columns))
    elif not 0 <= at < len(columns):
        return now  # a second click on a column that is gone
    elif knob == "remove" and len(columns) > 1:
        columns.pop(at)
    else:
        columns[at] = _column(columns[at], knob, what.get("value"))
    return check(replace(now, columns=tuple(columns)))


def _column(column: Column, knob: str, value: Any) -> Column:
    if knob == "preset":
        saved = app().playground.notebook.saved().get(str(value))
        return saved or Column(column.profile, choices().get(str(value), column.config), str(value))
    if knob == "profile":
        return replace(column, profile=str(value))
    if knob not in PARAMETERS:
        return column
    number: Any = int(value) if PARAMETERS[knob].whole else float(value)
    return replace(column, config=replace(column.config, **{knob: number}))


def _next(columns: Sequence[Column]) -> Column:
    """A preset that is not there yet."""
    used = {column.name for column in columns}
    name = next((name for name in presets() if name not in used), "BM25")
    return Column(columns[0].profile if columns else profile(), presets()[name], name)


def profile() -> str:
    """The profile that a new column starts with."""
    return app().platform.settings.production().profile.name
