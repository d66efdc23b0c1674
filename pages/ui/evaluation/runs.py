"""Runs: start them, rank them, compare two, and follow one over commits."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import streamlit as st

from core.evaluation import charts as drawn
from core.evaluation.runs import Run
from core.evaluation.series import latest, over_commits
from pages.ui import charts, empty, keys, progress, style
from pages.ui.evaluation import leaderboard as ranking
from pages.ui.evaluation import starting, state, versus
from pages.ui.workspace import app, leaderboard

MOST = 40


def draw(chosen: str) -> None:
    """What runs, what ran, what it says."""
    if not chosen:
        empty.state("quiz", "No query set yet", "Make one under Query sets; then configurations can be run.", "no_sets")
        return
    every = app().evaluation.runs.all(chosen)
    starting.draw(chosen, not every)
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
    names = state.names(shown)
    ranking.draw(shown, names)
    measure = str(st.session_state.get(keys.MEASURE) or state.measures(shown)[0])
    versus.draw(shown, names, measure)
    _trend(every, shown, names, measure)


def _trend(every: Sequence[Run], shown: Sequence[Run], names: Mapping[str, str], measure: str) -> None:
    """One configuration from commit to commit."""
    st.subheader("Trend over commits", anchor=False)
    ids = [run.id for run in shown]
    one = str(st.selectbox("Configuration", ids, format_func=names.__getitem__, key="trend_of", width=360))
    line = over_commits(every, next(run for run in shown if run.id == one))
    if len(line) < 2:
        st.caption("Measured at one commit so far. Run it again after the next merge, and the line begins.")
        return
    points = [leaderboard((run.id,), measure)[0].figure for run in line]
    labels = [f"{run.commit[:7]} · {style.day(run.created[:10])}" for run in line]
    charts.show(drawn.trend(labels, points, measure, style.colours(ids)[one]), "trend")
