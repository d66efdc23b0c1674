"""Charts as plotly JSON: pages draw them, reports embed them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

from core.evaluation.statistics import Interval

Figure = dict[str, Any]

BLUE, GREY, RED = "#1f5fa8", "#9aa5b1", "#b3402a"
TICKS = 6  # dates below a line
ONE_HUE = [[0.0, "#f6f9fc"], [1.0, "#8fb8e6"]]  # dark figures are readable on all of it


def figure(traces: Sequence[Mapping[str, Any]], *, height: int, x: str = "", y: str = "", **layout: Any) -> Figure:
    base = {
        "height": height,
        "margin": {"l": 10, "r": 20, "t": 10, "b": 40},
        "font": {"family": "system-ui, sans-serif", "size": 13},
        "paper_bgcolor": "rgba(0,0,0,0)",
        "plot_bgcolor": "rgba(0,0,0,0)",
        "xaxis": {"title": {"text": x, "standoff": 12}, "gridcolor": "#e3e8ee", "automargin": True},
        "yaxis": {"title": {"text": y}, "gridcolor": "#e3e8ee", "automargin": True},
        "legend": {"orientation": "h", "y": -0.2},
    }
    return {"data": [dict(trace) for trace in traces], "layout": {**base, **layout}}


def leaderboard(names: Sequence[str], figures: Sequence[Interval], measure: str, colours: Sequence[str] = ()) -> Figure:
    """One dot per configuration with its interval, the best on top; a line at 0, where that is in view."""
    names, figures, colours = list(names)[::-1], list(figures)[::-1], list(colours)[::-1]
    dots = {
        "type": "scatter",
        "mode": "markers",
        "x": [round(interval.mean, 4) for interval in figures],
        "y": names,
        "marker": {"color": colours or BLUE, "size": 9},
        "error_x": {
            "type": "data",
            "symmetric": False,
            "array": [round(interval.high - interval.mean, 4) for interval in figures],
            "arrayminus": [round(interval.mean - interval.low, 4) for interval in figures],
            "color": GREY,
        },
    }
    zero = {"type": "line", "x0": 0, "x1": 0, "yref": "paper", "y0": 0, "y1": 1, "line": {"color": GREY, "dash": "dot"}}
    shapes = [zero] if any(interval.low <= 0 for interval in figures) else []
    lines = f"{measure},<br>mean and interval".replace(" from ", "<br>from ")  # a phone has no room for one
    return figure([dots], height=112 + 26 * len(names), x=lines, shapes=shapes)


def findability(days: Sequence[str], shares: Sequence[float], labels: Sequence[str]) -> Figure:
    """The share of questions that are found, one dot per commit in their order, some of them dated."""
    dated = range(0, len(days), max(1, len(days) // TICKS))
    line = {
        "type": "scatter",
        "mode": "lines+markers",
        "x": list(range(len(days))),
        "y": [round(share, 4) for share in shares],
        "text": [_escaped(label) for label in labels],
        "hovertemplate": "%{y:.1%}<br>%{text}<extra></extra>",
        "line": {"color": BLUE, "shape": "hv"},
        "marker": {"color": BLUE, "size": 10},
    }
    chart = figure([line], height=260)
    chart["layout"]["xaxis"] |= {
        "tickvals": list(dated),
        "ticktext": [days[n] for n in dated],
        "range": [-0.5, len(days) - 0.5],
    }
    low = max(0.0, min(shares, default=0.0) - 0.1)
    chart["layout"]["yaxis"] |= {"tickformat": ".0%", "range": [low, 1.02]}
    return chart


def _escaped(text: str) -> str:
    """Text for a hover label, which reads some tags; line breaks stay.

    >>> _escaped("a <b> & c<br>d")
    'a &lt;b&gt; &amp; c<br>d'
    """
    return "<br>".join(escape(part) for part in text.split("<br>"))


def heatmap(rows: Sequence[str], columns: Sequence[str], values: Sequence[Sequence[float]], measure: str) -> Figure:
    """Configurations against categories in one hue, with the figures written into the cells."""
    cells = {
        "type": "heatmap",
        "x": list(columns),
        "y": list(rows),
        "z": [[round(value, 4) for value in line] for line in values],
        "text": [[f"{value:.3f}" for value in line] for line in values],
        "texttemplate": "%{text}",
        "colorscale": ONE_HUE,
        "colorbar": {"title": {"text": measure}},
    }
    axis = {"autorange": "reversed", "automargin": True}
    return figure([cells], height=110 + 28 * len(rows), yaxis=axis)


def bars(
    names: Sequence[str],
    values: Mapping[str, Sequence[float]],
    y: str,
    stacked: bool = False,
    colours: Sequence[str] = (),
) -> Figure:
    """Groups of bars, or stacks of them."""
    shades = list(colours) or [BLUE, "#7fa8d6", "#0f3d73", "#c9d8ea", GREY, "#4f6d8f", RED]
    traces = [
        {
            "type": "bar",
            "name": name,
            "x": list(names),
            "y": [round(value, 4) for value in heights],
            "marker": {"color": shades[n % len(shades)]},
        }
        for n, (name, heights) in enumerate(values.items())
    ]
    return figure(traces, height=380, y=y, barmode="stack" if stacked else "group")


def plot_curve(xs: Sequence[float], points: Sequence[Interval], x: str, y: str, marked: float | None = None) -> Figure:
    """A line with its 95 % band and a marked x."""
    band = {
        "type": "scatter",
        "x": [*xs, *list(xs)[::-1]],
        "y": [*(round(p.high, 5) for p in points), *(round(p.low, 5) for p in list(points)[::-1])],
        "fill": "toself",
        "fillcolor": "rgba(31,95,168,0.15)",
        "line": {"color": "rgba(0,0,0,0)"},
        "name": "95 % interval",
        "hoverinfo": "skip",
    }
    line = {
        "type": "scatter",
        "mode": "lines",
        "x": list(xs),
        "y": [round(p.mean, 5) for p in points],
        "line": {"color": BLUE, "width": 2},
        "name": y,
    }
    shapes = (
        []
        if marked is None
        else [
            {
                "type": "line",
                "x0": marked,
                "x1": marked,
                "y0": 0,
                "y1": 1,
                "yref": "paper",
                "line": {"color": RED, "dash": "dot"},
            }
        ]
    )
    return figure([band, line], height=360, x=x, y=y, shapes=shapes)


def mark(figure: Figure, x: float, text: str, colour: str, height: float, axis: str = "x") -> None:
    """A labelled line across a chart."""
    layout = figure["layout"]
    line = {"type": "line", "x0": x, "x1": x, "xref": axis, "y0": 0, "y1": 1, "yref": "paper"}
    words = {"x": x, "y": height, "xref": axis, "yref": "paper", "text": text, "showarrow": False}
    sides = {"xanchor": "left" if x < 0.7 else "right", "yanchor": "bottom"}
    layout["shapes"] = [*layout.get("shapes", []), {**line, "line": {"color": colour, "width": 2, "dash": "dash"}}]
    layout["annotations"] = [*layout.get("annotations", []), {**words, **sides}]


def level(figure: Figure, y: float, colour: str) -> None:
    """A line across a chart at a height."""
    line = {
        "type": "line",
        "xref": "x domain",
        "x0": 0,
        "x1": 1,
        "y0": y,
        "y1": y,
        "line": {"color": colour, "width": 2},
    }
    figure["layout"]["shapes"] = [*figure["layout"].get("shapes", []), line]


def beside(
    figure: Figure, xs: Sequence[float], values: Mapping[str, Sequence[float]], x: str, marked: float, colour: str
) -> None:
    """A second, narrower chart to the right with an axis of shares of its own, and a place marked on it."""
    for (name, heights), dash in zip(values.items(), ("solid", "dot"), strict=True):
        trace = {"type": "scatter", "mode": "lines", "name": name, "x": list(xs), "y": [round(y, 5) for y in heights]}
        figure["data"] += [{**trace, "line": {"color": BLUE, "width": 2, "dash": dash}, "xaxis": "x2", "yaxis": "y2"}]
    layout = figure["layout"]
    layout["xaxis"] = {**layout.get("xaxis", {}), "domain": [0, 0.62]}
    layout["xaxis2"] = {"domain": [0.7, 1], "title": {"text": x}, "anchor": "y2"}
    layout["yaxis2"] = {"anchor": "x2", "range": [0, 1.02], "title": {"text": " · ".join(values)}}
    mark(figure, marked, f"here {marked:.2f}", colour, 0.02, "x2")


def lines(xs: Sequence[float], values: Mapping[str, Sequence[float]], x: str, y: str) -> Figure:
    """Several lines over the same axis."""
    traces = [
        {"type": "scatter", "mode": "lines", "name": name, "x": list(xs), "y": [round(value, 5) for value in heights]}
        for name, heights in values.items()
    ]
    return figure(traces, height=380, x=x, y=y)


def trend(labels: Sequence[str], points: Sequence[Interval], measure: str, colour: str = BLUE) -> Figure:
    """A figure with its interval from commit to commit, the oldest first."""
    trace = {
        "type": "scatter",
        "mode": "lines+markers",
        "x": list(labels),
        "y": [round(interval.mean, 4) for interval in points],
        "line": {"color": colour, "width": 2},
        "marker": {"color": colour, "size": 9},
        "error_y": {
            "type": "data",
            "symmetric": False,
            "array": [round(interval.high - interval.mean, 4) for interval in points],
            "arrayminus": [round(interval.mean - interval.low, 4) for interval in points],
            "color": GREY,
        },
    }
    axis = {"type": "category", "title": {"text": "commit"}, "automargin": True}
    return figure([trace], height=300, y=measure, xaxis=axis)
