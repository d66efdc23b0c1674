"""Runs: start them, rank them, compare two, and follow one configuration over commits."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import streamlit as st

from core.evaluation.reports import charts as figures
from core.evaluation.runs.run import Run, latest, over_commits
from pages.ui import charts, empty, identity, keys, progress, style
from pages.ui.evaluation import compare, leaderboard, new_run
from pages.ui.evaluation.run_names import names, shared_measures
from pages.ui.workspace import app
from pages.ui.workspace import leaderboard as ranked

MOST = 40


def draw(queryset: str) -> None:
    if not queryset:
        empty.state("quiz", "No query set yet", "Make one under Query sets; then configurations can be run.", "no_sets")
        return
    every = app().evaluation.runs.listed(identity.me(), queryset)
    new_run.draw(queryset, not every)
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
    points = [ranked((run.id,), measure, identity.me())[0].figure for run in history]
    labels = [f"{run.commit[:7]} · {style.day(run.created[:10])}" for run in history]
    charts.show(figures.trend(labels, points, measure, style.colours(ids)[chosen]), "trend")
