"""The picture of the desk: a measure over alpha and over tau with intervals, production, the best place and where one stands."""

from __future__ import annotations

import streamlit as st

from core.evaluation.reports import charts as drawn
from core.evaluation.statistics import Interval
from core.evaluation.tuning.sweep import Curve
from core.retrieval import config as configs
from core.services.tuning.sweeps import AlphaCurve
from pages.ui import charts, flash, style
from pages.ui.configurations import called
from pages.ui.tuning import state, tau
from pages.ui.tuning.state import TuningSet
from pages.ui.workspace import app


def draw(tuning_set: TuningSet) -> None:
    """The picture, and below it what it says."""
    config, measure = state.convex(), state.measure()
    curve = tuning_set.curve(config, measure)
    here, at_tau = float(config.alpha), tau.calibrated(tuning_set.queryset)
    figure = drawn.curve(curve.overall.alphas, curve.overall.points, "alpha", measure)
    drawn.mark(figure, curve.overall.best, f"best {curve.overall.best:.2f}", drawn.RED, 0.18)
    production = app().platform.settings.production().config
    weighed = any(knob.name == "alpha" for knob in configs.knobs(production))
    if weighed:
        drawn.mark(figure, production.alpha, f"production {production.alpha:.2f}", drawn.GREY, 0.1)
    drawn.mark(figure, here, f"here {here:.2f}", style.CONFIGURATIONS[0], 0.02)
    if at_tau:
        tau.beside(figure, at_tau)
    figure["layout"] |= {"height": 300, "showlegend": False}
    charts.show(figure, "tune_curve")
    with st.container(horizontal=True, vertical_alignment="center"):
        unweighed = "" if weighed else f" Production is {called(production)}; it has no alpha to mark."
        st.markdown(flash.plain(_sentence(curve.overall, here, measure) + unweighed), width="stretch")
        if round(here, 2) != round(curve.overall.best, 2):
            st.button("Go to the best", key="alpha_take", icon=":material/tune:", on_click=_take, args=(float(curve.overall.best),))  # fmt: skip
    st.caption(flash.plain(tau.sentence(at_tau)))
    if curve.note:
        st.caption(f":material/science: {flash.plain(curve.note)}")
    if len(curve.by_category) > 1:
        with st.expander("The curve by kind of question", key="tune_kinds"):
            _by_category(curve, measure)


def _sentence(curve: Curve, here: float, measure: str) -> str:
    """Where one stands and the best place, with what is known about both."""
    at = min(range(len(curve.alphas)), key=lambda n: abs(curve.alphas[n] - here))
    best = curve.alphas.index(curve.best)
    said = f"Alpha {curve.alphas[at]:.2f}: {measure} {_shown(curve.points[at])} on {style.count(curve.questions, 'question')}"
    return (
        f"{said}, the best." if at == best else f"{said}; the best is {curve.best:.2f}: {_shown(curve.points[best])}."
    )


def _shown(point: Interval) -> str:
    return f"{point.mean:.3f} ({point.low:.3f} to {point.high:.3f})"


def _by_category(curve: AlphaCurve, measure: str) -> None:
    means = {
        f"{name.replace('_', ' ')} (best {category_curve.best:.2f})": [point.mean for point in category_curve.points]
        for name, category_curve in curve.by_category.items()
    }
    figure = drawn.lines(curve.overall.alphas, means, "alpha", measure)
    for trace, colour in zip(figure["data"], style.colours(list(means)).values(), strict=True):
        trace["line"] = {"color": colour, "width": 2}
    charts.show(figure, "alpha_categories")


def _take(best: float) -> None:
    state.put(state.FUSION, "convex")
    state.put(state.ALPHA, best)
