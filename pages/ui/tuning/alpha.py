"""The Alpha tab: a measure over alpha with its interval, by category, and the best alpha."""

from __future__ import annotations

import streamlit as st

from core.evaluation.reports import charts as drawn
from core.retrieval import config as configs
from core.services.tuning.sweeps import AlphaCurve
from pages.ui import charts, flash, style
from pages.ui.configurations import called
from pages.ui.tuning import state
from pages.ui.tuning.state import TuningSet
from pages.ui.workspace import app


def draw(tuning_set: TuningSet) -> None:
    """The curve of 101 alphas."""
    config, measure = state.convex(), state.measure()
    curve = tuning_set.curve(config, measure)
    overall = curve.overall
    best = overall.points[overall.alphas.index(overall.best)]
    with st.container(horizontal=True, vertical_alignment="center"):
        st.markdown(
            f"Best alpha **{overall.best:.2f}**: {measure} {best.mean:.3f} ({best.low:.3f} to {best.high:.3f}) "
            f"on {style.count(overall.questions, 'question')}, normalised by {config.normalisation}.",
            width="stretch",
        )
        st.button(
            "Take it to the sliders",
            key="alpha_take",
            icon=":material/tune:",
            on_click=_take,
            args=(float(overall.best),),
        )
    if curve.note:
        st.info(flash.plain(curve.note), icon=":material/science:")
    figure = drawn.curve(overall.alphas, overall.points, "alpha", measure, overall.best)
    _mark_production(figure)
    charts.show(figure, "alpha_curve")
    if len(curve.by_category) > 1:
        _by_category(curve, measure)


def _mark_production(figure: drawn.Figure) -> None:
    """A second line where production stands, if it weighs two legs by alpha."""
    now = app().platform.settings.production().config
    if all(knob.name != "alpha" for knob in configs.knobs(now)):
        st.caption(f"Production is {flash.plain(called(now))}; it has no alpha to mark.")
    else:
        _mark(figure, now.alpha, f"production {now.alpha:g}", drawn.GREY)


def _mark(figure: drawn.Figure, alpha: float, text: str, colour: str) -> None:
    line = {"type": "line", "x0": alpha, "x1": alpha, "y0": 0, "y1": 1, "yref": "paper"}
    words = {"x": alpha, "y": 0.02, "yref": "paper", "text": text, "showarrow": False}
    side = "left" if alpha < 0.8 else "right"
    layout = figure["layout"]
    layout["shapes"] = [*layout.get("shapes", []), {**line, "line": {"color": colour, "width": 2, "dash": "dash"}}]
    layout["annotations"] = [*layout.get("annotations", []), {**words, "xanchor": side, "yanchor": "bottom"}]


def small(tuning_set: TuningSet, alpha: float) -> None:
    """The curve beside the sliders, with the place where they stand."""
    curve = tuning_set.curve(state.convex(), state.measure()).overall
    figure = drawn.curve(curve.alphas, curve.points, "alpha", state.measure())
    _mark(figure, alpha, f"here {alpha:.2f}, best {curve.best:.2f}", style.CONFIGURATIONS[0])
    figure["layout"] |= {"height": 230, "showlegend": False}
    charts.show(figure, "tune_curve")


def _by_category(curve: AlphaCurve, measure: str) -> None:
    st.header("By category", anchor=False)
    means = {
        f"{name.replace('_', ' ')} (best {category_curve.best:.2f})": [point.mean for point in category_curve.points]
        for name, category_curve in curve.by_category.items()
    }
    figure = drawn.lines(curve.overall.alphas, means, "alpha", measure)
    for trace, colour in zip(figure["data"], style.colours(list(means)).values(), strict=True):
        trace["line"] = {"color": colour, "width": 2}
    charts.show(figure, "alpha_categories")


def _take(best: float) -> None:
    """Move the sliders there and go to them."""
    state.put(state.FUSION, "convex")
    state.put(state.ALPHA, best)
    state.put(state.TAB, "Sliders")
    flash.say(f"The sliders stand at alpha {best:.2f} now.")
