"""Runs: start them, rank them, compare two, and follow one configuration over commits."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial

import streamlit as st

from core.access import Actor
from core.evaluation.querysets.queryset import UNITS
from core.evaluation.reports import charts as figures
from core.evaluation.runs.run import Run, latest, over_commits
from core.retrieval.presets import spell
from core.services.playground.compare import Column
from pages.ui import actions, charts, identity, keys, progress, style
from pages.ui.configurations import built_profiles, choices
from pages.ui.evaluation import compare, leaderboard
from pages.ui.evaluation.selection import names, shared_measures
from pages.ui.home import empty
from pages.ui.workspace import app
from pages.ui.workspace import leaderboard as ranked

MOST = 40
FIRST = ("Production", "Documents 0.9", "TM2C2 0.9", "Vectors", "BM25")


def draw(queryset: str) -> None:
    if not queryset:
        empty.state("quiz", "No query set yet", "Make one under Query sets; then configurations can be run.", "no_sets")
        return
    every = app().evaluation.runs.listed(identity.me(), queryset)
    _new_run(queryset, not every)
    progress.draw(("evaluate",))
    if not every:
        empty.state(
            "leaderboard",
            "No run yet",
            "Start one above: every configuration answers every question, and the same run again is free.",
            "no_runs",
        )
        return
    units = list(dict.fromkeys(run.unit for run in every))
    unit = units[0]
    if len(units) > 1:
        unit = str(st.segmented_control("Ranked", units, default=unit, key="runs_unit", required=True))
    shown = latest(every, unit)[:MOST]
    run_names = names(shown)
    leaderboard.draw(shown, run_names)
    measure = str(st.session_state.get(keys.MEASURE) or shared_measures(shown)[0])
    compare.draw(shown, run_names, measure)
    _trend(every, shown, run_names, measure)


def _trend(every: Sequence[Run], shown: Sequence[Run], run_names: Mapping[str, str], measure: str) -> None:
    """One configuration from commit to commit."""
    st.header("Trend over commits", anchor=False)
    ids = [run.id for run in shown]
    chosen = str(st.selectbox("Configuration", ids, format_func=run_names.__getitem__, key="trend_of", width=360))
    history = over_commits(every, next(run for run in shown if run.id == chosen))
    if len(history) < 2:
        st.caption("Measured at one commit so far. Run it again after the next merge, and the line begins.")
        return
    points = [ranked((run.id,), measure, "", identity.me())[0].figure for run in history]
    labels = [f"{run.commit[:7]} · {style.day(run.created[:10])}" for run in history]
    charts.show(figures.trend(labels, points, measure, style.colours(ids)[chosen]), "trend")


def _new_run(queryset: str, first: bool) -> None:
    """The form, open while there is no run yet."""
    _confirm()
    with st.expander("New run", icon=":material/play_circle:", expanded=first, key="new_run"):
        known, profile_names = choices(identity.me()), built_profiles(identity.me())
        with st.form("run_form", border=False):
            st.multiselect(
                "Configurations", list(known), [name for name in FIRST if name in known], key="run_configurations"
            )
            profiles, unit, depth = st.columns([2, 1, 2], vertical_alignment="bottom")
            profiles.multiselect(
                "Profiles", profile_names, [app().platform.settings.production().profile.name], key="run_profiles"
            )
            unit.selectbox("Ranked", UNITS, format_func=lambda unit: f"{unit}s".capitalize(), key="run_unit")
            production_depth = app().platform.settings.production().config.depth
            depth.toggle(
                f"All as deep as production ({production_depth})",
                True,
                key="run_depth",
                help="Candidates per leg. The same depth for all compares methods, not depths.",
            )
            st.form_submit_button(
                "Start",
                type="primary",
                icon=":material/play_arrow:",
                key="run_start",
                on_click=_start,
                args=(queryset,),
            )


def _start(queryset: str) -> None:
    chosen, profiles = st.session_state["run_configurations"], st.session_state["run_profiles"]
    pairs = pairs_of(chosen, profiles, same_depth=bool(st.session_state["run_depth"]))
    st.session_state[keys.RUN_WAITING] = {"queryset": queryset, "pairs": pairs, "unit": st.session_state["run_unit"]}


def _confirm() -> None:
    """Start what was chosen, after the estimate where a language model is asked."""
    waiting = st.session_state.pop(keys.RUN_WAITING, None)
    if waiting:
        calls = app().evaluation.runs.estimate(identity.me(), waiting["queryset"], waiting["pairs"])
        actions.after_estimate("This measurement", calls, partial(start, **waiting))


def pairs_of(names: list[str], profiles: list[str], *, same_depth: bool) -> list[tuple[str, str]]:
    """(profile, configuration) as `runs.start` takes them; a saved configuration keeps the profile it was
    saved with.
    """
    me = identity.me()
    known, saved = choices(me), app().playground.notebook.saved(me)
    depth = app().platform.settings.production().config.depth
    columns = [
        Column(profile, known[name])
        for name in names
        for profile in ([saved[name].profile] if name in saved else profiles)
    ]
    return [
        (column.profile, spell(replace(column.config, depth=depth) if same_depth else column.config))
        for column in columns
    ]


def start(actor: Actor, queryset: str, pairs: list[tuple[str, str]], unit: str) -> str:
    if not pairs:
        return "Choose at least one configuration and one profile."
    job = app().evaluation.runs.start(actor, queryset, pairs, unit)
    return f"{style.count(len(pairs), 'configuration')} started as job {job.id}; what has been run before is free."
