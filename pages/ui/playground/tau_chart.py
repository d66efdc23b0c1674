"""The tau line: how sure this query is of its first hit beside tau, on the calibration curve where one is known."""

from __future__ import annotations

from typing import Any

import streamlit as st

from core.evaluation.tuning.calibration import SCORE
from core.retrieval.rerankers.rerank import BY_TAU
from core.services.playground.best_score import BestScore, best_score, place_on_curve
from core.services.playground.compare import Comparison
from core.services.playground.notebook import Setup
from pages.ui import flash, identity, style
from pages.ui.playground import state
from pages.ui.playground.strip_chart import pick_column
from pages.ui.workspace import app

_ADVICE = "How good such questions are is not known yet: calibrate tau on the Tuning page."


def draw(now: Setup, comparison: Comparison) -> None:
    """The line of one column that reranks by tau."""
    conditional = [
        n for n, outcome in enumerate(comparison.outcomes) if outcome.result and outcome.column.config.rerank in BY_TAU
    ]
    if not conditional:
        st.info(
            "No column reranks by tau. Choose Conditional rerank to see where this query stands.",
            icon=":material/linear_scale:",
        )
        return
    n = pick_column(comparison, conditional, "tau_column")
    column = now.columns[n]
    score = best_score(now.query, column, state.searches(now)[column.profile])
    on_curve = place_on_curve(app().evaluation.runs, identity.me(), column, score)
    st.plotly_chart(figure(on_curve, n), width="stretch", config={"displayModeBar": False}, key="tau_line")
    st.caption(flash.plain(on_curve.sentence) + ("" if on_curve.curve else f" {_ADVICE}"))


def figure(on_curve: BestScore, n: int) -> Any:
    """Precision of skipped questions over tau with its interval; this query and tau as lines across."""
    from plotly import graph_objects as go

    chart, colour = go.Figure(), style.CONFIGURATIONS[n]
    points = [point for point in on_curve.curve if point.skipped]
    if points:
        xs = [point.tau for point in points]
        chart.add_scatter(
            x=[*xs, *reversed(xs)],
            y=[*(p.upper for p in points), *(p.lower for p in reversed(points))],
            fill="toself",
            fillcolor="rgba(0,158,115,0.14)",
            line={"width": 0},
            hoverinfo="skip",
            showlegend=False,
        )
        chart.add_scatter(
            x=xs,
            y=[p.precision for p in points],
            mode="lines",
            line={"color": "#009E73", "width": 2.4},
            customdata=[p.skipped for p in points],
            showlegend=False,
            hovertemplate="%{x:.2f} or more: %{customdata} questions, %{y:.0%} answered<extra></extra>",
        )
    chart.add_vrect(x0=0, x1=on_curve.tau, fillcolor=colour, opacity=0.06, line_width=0)
    for x, text, dash in (
        (on_curve.tau, f"tau {on_curve.tau:g}", "dot"),
        (on_curve.score, f"this query {on_curve.score:.2f}", "solid"),
    ):
        side = "top left" if x > 0.5 else "top right"
        chart.add_vline(
            x=x,
            line={"color": colour, "width": 2, "dash": dash},
            annotation_position=side,
            annotation={
                "text": text,
                "yanchor": "bottom",
                "yshift": 0 if dash == "solid" else 15,
            },  # two lines of words
        )
    chart.update_layout(
        height=260 if points else 130,
        margin={"l": 52, "r": 46, "t": 44, "b": 42},
        xaxis={
            "title": (
                f"{'best fused score' if on_curve.scale == SCORE else 'chance that the first hit answers'}; below tau"
                " the query is reranked"
            ),
            "range": [0, 1.02],
            "zeroline": False,
            "showgrid": False,
            "dtick": 0.1,
        },
        yaxis={
            "title": "answered" if points else "",
            "range": [0, 1.03],
            "tickformat": ".0%",
            "visible": bool(points),
            "zeroline": False,
        },
    )
    return chart
