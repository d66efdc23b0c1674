"""The alpha strip as a chart: one line per hit, rank over alpha, with the alphas that matter marked."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

import streamlit as st

from core.retrieval.alpha_strip import AlphaStrip
from core.services.playground.best_score import learned_alphas
from core.services.playground.compare import CachedSearch, Column, Comparison, best_alpha
from core.services.playground.notebook import Setup
from pages.ui import identity, style
from pages.ui.flash import plain
from pages.ui.playground import column_data, state
from pages.ui.workspace import app

_GREY = "rgba(122,135,148,0.45)"
_LABEL = 24  # characters


def draw(now: Setup, comparison: Comparison) -> None:
    movable = [
        n
        for n, outcome in enumerate(comparison.outcomes)
        if outcome.result and column_data.knobs(outcome.column.config)[0]["knob"] == "alpha"
    ]
    if not movable:
        st.info(
            "No column weighs its legs by alpha. Choose a convex configuration to see its strip.",
            icon=":material/show_chart:",
        )
        return
    n = pick_column(comparison, movable, "strip_column")
    column = now.columns[n]
    search = state.searches(now)[column.profile]
    strip = app().playground.comparer.strip(now.query, column, search)
    if strip is None:
        st.info(
            "In this column every hit is reranked, so alpha moves nothing on a straight line.",
            icon=":material/show_chart:",
        )
        return
    best = best_alpha(strip, _gains(now, strip, search))
    learned = learned_alphas(now.query, column, search, app().tuning.alphas.names())
    st.plotly_chart(
        figure(strip, column, search, n, best, learned), width="stretch", config={"displayModeBar": False}, key="strip"
    )
    st.caption(_words(strip, column, best, learned))


def _gains(now: Setup, strip: AlphaStrip, search: CachedSearch) -> dict[int, float]:
    """Judged passages of this query, by chunk number."""
    grades = {
        (grade.path, grade.quote[:200]): float(grade.grade)
        for grade in app().playground.grades.of(identity.me(), now.query)
        if grade.judge == identity.me().id
    }
    gains = {}
    for chunk in strip.intervals:
        path = search.index.documents[search.index.document_of(chunk)].path
        quote = " ".join(search.index.excerpt(chunk).split())[:200]
        if (path, quote) in grades:
            gains[chunk] = grades[path, quote]
    return gains


def _words(strip: AlphaStrip, column: Column, best: tuple[float, float] | None, learned: Mapping[str, float]) -> str:
    flips = len(strip.flips)
    after = next((alpha for alpha in strip.flips if alpha > column.config.alpha), None)
    before = next((alpha for alpha in reversed(strip.flips) if alpha < column.config.alpha), None)
    near = " and ".join(f"{alpha:.3f}" for alpha in (before, after) if alpha is not None)
    text = (
        f"The top {strip.k} changes at {style.count(flips, 'point')}; the nearest to alpha {column.config.alpha:g}:"
        f" {near or 'none'}."
    )
    for name, alpha in learned.items():
        text += f" The model {plain(name)} would take {alpha:.2f}."
    return text + (f" By your judgments the best alpha lies between {best[0]:.2f} and {best[1]:.2f}." if best else "")


def _label_lines(chart: Any, strip: AlphaStrip, alpha: float, search: CachedSearch) -> None:
    """Names of the lines that the present ranking shows: at their right end, or at the left one if they end before."""
    labels = _labels([chunk for chunk in strip.intervals if strip.rank(chunk, alpha)], search)
    for chunk, label in labels.items():
        right, left = strip.rank(chunk, 1.0), strip.rank(chunk, 0.0)
        text = {"text": escape(style.shortened(label, _LABEL), quote=False), "showarrow": False, "font": {"size": 11}}
        if right:
            chart.add_annotation(x=1.0, y=right, xanchor="left", xshift=6, **text)
        elif left:
            chart.add_annotation(x=0.0, y=left, xanchor="left", xshift=4, yshift=8, **text)


def _labels(chunks: Sequence[int], search: CachedSearch) -> dict[int, str]:
    """The title of a passage's document; its heading where the document has several lines."""
    passages = {chunk: search.index.passage(chunk) for chunk in chunks}
    often = Counter(passage.document for passage in passages.values())
    return {
        chunk: (
            passage.heading[-1]
            if passage.heading and often[passage.document] > 1
            else search.index.documents[passage.document].title
        )
        for chunk, passage in passages.items()
    }


def figure(
    strip: AlphaStrip,
    column: Column,
    search: CachedSearch,
    n: int,
    best: tuple[float, float] | None,
    learned: Mapping[str, float],
) -> Any:
    """Steps of rank over alpha; hits of the present ranking in the column's colour."""
    from plotly import graph_objects as go

    chart = go.Figure()
    _draw_lines(chart, strip, column.config.alpha, search, style.CONFIGURATIONS[n])
    _label_lines(chart, strip, column.config.alpha, search)
    _mark_alphas(chart, strip, column.config.alpha, style.CONFIGURATIONS[n], learned)
    if best:
        _mark_best(chart, best)
    chart.update_layout(
        height=330,
        margin={"l": 44, "r": 150, "t": 30, "b": 42},
        hovermode="closest",
        xaxis={
            "title": "alpha: words alone at 0, meaning alone at 1",
            "range": [-0.01, 1.01],
            "showgrid": False,
            "zeroline": False,
            "dtick": 0.1,
        },
        yaxis={
            "title": "rank",
            "range": [strip.k + 1.4, 0.4],
            "tickvals": [rank for rank in range(1, strip.k + 1) if strip.k <= 10 or rank == 1 or rank % 5 == 0],
            "zeroline": False,
        },
    )
    return chart


def _draw_lines(chart: Any, strip: AlphaStrip, alpha: float, search: CachedSearch, colour: str) -> None:
    """A line per passage; those of the present ranking are drawn last, over the others."""
    for chunk in sorted(strip.intervals, key=lambda chunk: strip.rank(chunk, alpha) == 0, reverse=True):
        rank = strip.rank(chunk, alpha)
        xs, ys = [], []
        for stretch in strip.intervals[chunk]:
            xs += [stretch.low, stretch.high]
            ys += [stretch.rank or None] * 2
        passage = search.index.passage(chunk)
        title = " › ".join((search.index.documents[passage.document].title, *passage.heading[-1:]))
        chart.add_scatter(
            x=xs,
            y=ys,
            mode="lines",
            name=title,
            showlegend=False,
            connectgaps=False,
            line={"color": colour if rank else _GREY, "width": 3.2 if 0 < rank <= 3 else 1.8},
            opacity=max(0.35, 1.06 - 0.07 * rank) if rank else 1.0,
            hovertemplate="%{fullData.name}<br>rank %{y} at alpha %{x:.2f}<extra></extra>",
        )


def _mark_alphas(chart: Any, strip: AlphaStrip, alpha: float, colour: str, learned: Mapping[str, float]) -> None:
    """Where ranks flip, the alpha of now, and those that were learned."""
    chart.add_scatter(
        x=list(strip.flips),
        y=[strip.k + 0.9] * len(strip.flips),
        mode="markers",
        showlegend=False,
        marker={"symbol": "line-ns-open", "size": 7, "color": _GREY},
        hovertemplate="flip at alpha %{x:.3f}<extra></extra>",
    )
    chart.add_vline(
        x=alpha,
        line={"color": colour, "width": 2},
        annotation={"text": f"alpha {alpha:g}", "yanchor": "bottom"},
        annotation_position="top",
    )
    for name, predicted in learned.items():
        chart.add_vline(
            x=predicted,
            line={"color": "#CC79A7", "width": 2, "dash": "dash"},
            annotation={"text": f"learned {predicted:.2f}", "yanchor": "top", "hovertext": name},
            annotation_position="bottom right" if predicted < 0.8 else "bottom left",
        )


def _mark_best(chart: Any, best: tuple[float, float]) -> None:
    chart.add_vrect(
        x0=best[0],
        x1=best[1],
        fillcolor="#009E73",
        opacity=0.13,
        line_width=0,
        annotation={"text": "best by judgments", "yanchor": "bottom", "y": 1},
        annotation_position="top right",
    )


def pick_column(comparison: Comparison, columns: Sequence[int], key: str) -> int:
    """The chosen column; the control is shown only where there are several."""
    if len(columns) == 1:
        return columns[0]
    names = {n: f"{column_data.LETTERS[n]} · {comparison.outcomes[n].column.title}" for n in columns}
    chosen = st.segmented_control(
        "Column", columns, format_func=names.__getitem__, default=columns[0], key=key, label_visibility="collapsed"
    )
    return chosen if chosen is not None and chosen in columns else columns[0]
