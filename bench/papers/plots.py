"""Charts that only the replays draw."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape

from core.evaluation.reports.charts import BLUE, GREY, RED, Figure, figure

SHADES = (BLUE, "#c77d0a", "#2e7d4f", RED, "#7fa8d6", "#0f3d73", GREY)


def dots(names: Sequence[str], xs: Sequence[float], ys: Sequence[float], x: str, y: str) -> Figure:
    """Named dots: what something costs against what it gives."""
    trace = {
        "type": "scatter",
        "mode": "markers+text",
        "x": [round(value, 4) for value in xs],
        "y": [round(value, 4) for value in ys],
        "text": list(names),
        "textposition": "top center",
        "marker": {"color": BLUE, "size": 10},
    }
    return figure([trace], height=420, x=x, y=y)


def against_by(groups: Mapping[str, tuple[Sequence[float], Sequence[float]]], x: str, y: str) -> Figure:
    """Pairs of values in 0..1 with the diagonal, one colour for each group."""
    traces = [
        {
            "type": "scatter",
            "mode": "markers",
            "name": name,
            "x": [round(value, 4) for value in xs],
            "y": [round(value, 4) for value in ys],
            "marker": {"color": SHADES[n % len(SHADES)], "size": 8, "opacity": 0.8},
        }
        for n, (name, (xs, ys)) in enumerate(groups.items())
    ]
    same = {"type": "scatter", "mode": "lines", "x": [0, 1], "y": [0, 1], "line": {"color": GREY, "dash": "dot"}}
    return figure([*traces, {**same, "showlegend": False}], height=360, x=x, y=y)


def beeswarm(
    features: Sequence[str], values: Sequence[Sequence[float]], pushes: Sequence[Sequence[float]], x: str
) -> Figure:
    """One dot per query and feature: how far the feature pushes, coloured by its own value from low (blue) to high
    (red).

    Dots that lie on each other are spread a little, in a fixed order.
    """
    traces = []
    for n, name in enumerate(features):
        own = [row[n] for row in values]
        low, high = min(own, default=0.0), max(own, default=0.0)
        spread = [n + 0.3 * ((turn * 0.618) % 1 - 0.5) for turn in range(len(own))]
        marker = {
            "color": [(value - low) / (high - low) if high > low else 0.5 for value in own],
            "colorscale": [[0.0, BLUE], [1.0, RED]],
            "cmin": 0,
            "cmax": 1,
            "size": 7,
            "opacity": 0.8,
            "showscale": n == 0,
            "colorbar": {"title": {"text": "value"}, "tickvals": [0, 1], "ticktext": ["low", "high"]},
        }
        pushed = [round(row[n], 5) for row in pushes]
        traces.append(
            {
                "type": "scatter",
                "mode": "markers",
                "name": name,
                "x": pushed,
                "y": spread,
                "marker": marker,
                "text": [f"{value:.3g}" for value in own],
                "hovertemplate": f"{escape(name)} %{{text}}: %{{x:+.3f}}<extra></extra>",
            }
        )
    axis = {"tickvals": list(range(len(features))), "ticktext": list(features), "autorange": "reversed"}
    chart = figure(traces, height=120 + 34 * len(features), x=x, showlegend=False)
    chart["layout"]["yaxis"] |= axis
    return chart
