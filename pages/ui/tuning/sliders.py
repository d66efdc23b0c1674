"""Sliders, and the measure of a whole query set while they move."""

from __future__ import annotations

from functools import partial

import streamlit as st

from core.access import Actor
from core.evaluation.measures.by_name import MEASURES
from core.evaluation.reports import charts as drawn
from core.evaluation.statistics import Interval, PairedComparison
from core.evaluation.tuning.sweep import Curve
from core.retrieval import config as configs
from core.retrieval.fusions import FUSIONS
from core.retrieval.normalisations import NORMALISATIONS
from core.retrieval.parameters import PARAMETERS
from core.retrieval.presets import spell
from core.retrieval.rerankers.rerank import BY_TAU
from core.services.tuning.sweeps import AlphaCurve, SweepResult, sweepable
from core.types import SearchConfig
from pages.ui import actions, charts, flash, identity, style
from pages.ui.configurations import called
from pages.ui.tuning import state, tau
from pages.ui.tuning.state import TuningSet
from pages.ui.workspace import app


@st.fragment
def draw(tuning_set: TuningSet) -> None:
    """Knobs on the left, figures on the right."""
    identity.require("run an evaluation")
    left, right = st.columns([1, 2], gap="large")
    with left:
        _knobs(tuning_set)
    with right:
        _figures(tuning_set)


def _knobs(tuning_set: TuningSet) -> None:
    fused = {name: record for name, record in FUSIONS.items() if record.several}
    fusion = fused[
        str(
            st.selectbox(
                "Fusion",
                list(fused),
                format_func=lambda name: fused[name].title,
                key=state.FUSION,
                help="\n".join(f"- **{record.title}**: {record.about}" for record in fused.values()),
                persist_state="session",
            )
        )
    ]
    if not fusion.normalisation:
        options = [name for name in NORMALISATIONS if name != "none"]
        title = lambda name: NORMALISATIONS[name].title
        st.selectbox("Normalisation", options, format_func=title, key=state.NORMALISATION, persist_state="session")
    for name in fusion.parameters:
        _slider(name, state.knob(name))
    if not tuning_set.data.searched.documents:  # how deep one looks for documents decides which passages stand for them
        _slider("depth", state.DEPTH, low=5, high=state.DEEP)
    measure, k = st.columns([1, 1.6])
    about = "\n".join(f"- **{name}**: {MEASURES[name].about}" for name in state.measures(tuning_set))
    chosen = measure.selectbox("Measure", state.measures(tuning_set), key=state.NAME, help=about, persist_state="session")  # fmt: skip
    fixed = chosen in state.PASSAGES
    k.slider("k", 1, 20, key=state.K, help="How many places count.", persist_state="session", disabled=fixed)
    st.toggle("Rerank below tau", key=state.RERANK, persist_state="session")
    if st.session_state.get(state.RERANK):
        _tau(tuning_set)


def _tau(tuning_set: TuningSet) -> None:
    """Tau, in steps of equally many questions: each place says how many of them it reranks."""
    shares = app().tuning.sweeps.shares(tuning_set.data, state.unread(), float(st.session_state.get(state.TAU, 1.0)))
    said = lambda tau: f"{tau:.2f}: {shares[tau]:.0%} reranked"
    knob = PARAMETERS["tau"]
    st.select_slider(knob.title, list(shares), format_func=said, key=state.TAU, help=knob.about, persist_state="session")  # fmt: skip


def _slider(name: str, key: str, low: float | None = None, high: float | None = None) -> None:
    """The slider of a parameter, as its record describes it."""
    knob = PARAMETERS[name]
    kind = int if knob.whole else float
    bounds = kind(knob.low if low is None else low), kind(knob.top if high is None else high)
    st.slider(knob.title, *bounds, step=kind(knob.step), key=key, help=knob.about, persist_state="session")


def _figures(tuning_set: TuningSet) -> None:
    """Numbers and bars, beside those of production."""
    here, production, measure = state.reranked(), app().platform.settings.production().config, state.measure()
    data, sweeps = tuning_set.data, app().tuning.sweeps
    result = sweeps.measure_at(data, here, measure)
    production_result = sweeps.measure_at(data, production, measure) if sweepable(data, production) else None
    _numbers(result, production_result)
    if "alpha" in FUSIONS[here.fusion].parameters:
        _draw_curve(tuning_set)
    elif st.session_state.get(state.RERANK):
        st.caption(flash.plain(tau.sentence(tau.calibrated(tuning_set.queryset))))
    names = list(result.by_category)
    bars = {"Production": [production_result.by_category[name] for name in names]} if production_result else {}
    bars["Here"] = [result.by_category[name] for name in names]
    figure = drawn.bars(
        [name.replace("_", " ") for name in names],
        bars,
        measure,
        colours=(drawn.GREY, style.CONFIGURATIONS[0])[-len(bars) :],
    )
    figure["layout"] |= {"height": 260, "yaxis": {"range": [0, 1], "title": {"text": measure}}}
    charts.show(figure, "tune_bars")
    if here == production:
        st.caption("The sliders stand where production stands.")
    elif production_result:
        st.caption(flash.plain(_against(sweeps.compare_at(data, production, state.here(), measure))))
    else:
        st.caption("Production reranks or looks deeper than sliders do; measure this to compare them.")
    _measure(tuning_set.queryset, here)


def _against(compared: PairedComparison) -> str:
    """The difference from production, without a verdict: these are the questions that one chooses on."""
    gap = compared.difference
    return (
        f"Against production: {gap.mean:+.3f} ({gap.low:+.3f} to {gap.high:+.3f}), {compared.wins} wins, {compared.ties} ties, "
        f"{compared.losses} losses on the half of the questions that one chooses on; Production judges on the other half."
    )


def _numbers(result: SweepResult, production: SweepResult | None) -> None:
    cells = st.columns([1, 1.45, 1.35])
    difference = result.overall.mean - production.overall.mean if production else 0.0
    cells[0].metric(result.measure, f"{result.overall.mean:.3f}", f"{difference:+.3f}" if abs(difference) >= 0.0005 else None, border=True, height="stretch")  # fmt: skip
    cells[1].metric(
        "95 % interval", f"{result.overall.low:.3f}–{result.overall.high:.3f}", border=True, height="stretch"
    )
    if result.config.rerank in BY_TAU:
        cells[2].metric("Reranked", f"{result.reranked:.0%}", border=True, height="stretch")
    else:
        cells[2].metric(
            "Relevant one first", f"{result.answered:,} of {result.questions:,}", border=True, height="stretch"
        )


def _measure(queryset: str, config: SearchConfig) -> None:
    """Turn a position into a run, which can be promoted."""
    with st.container(horizontal=True, vertical_alignment="center"):
        if st.button("Measure this", icon=":material/straighten:", key="tune_run", help="Runs it and production, so that they can be weighed under Production."):  # fmt: skip
            actions.do(partial(run, queryset=queryset, config=spell(config)))
            st.rerun()
        st.caption(flash.plain(called(config) if config.rerank == "off" else f"{called(state.here())}, reranked below {config.tau:g}"))  # fmt: skip


def run(actor: Actor, queryset: str, config: str) -> str:
    """Run a position of the sliders and production."""
    now = app().platform.settings.production()
    pairs = [(now.profile.name, config), (now.profile.name, spell(now.config))]
    return f"Started as job {app().evaluation.runs.start(actor, queryset, list(dict.fromkeys(pairs))).id}; then weigh it under Production."


def _draw_curve(tuning_set: TuningSet) -> None:
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
    said = f"Alpha {curve.alphas[at]:.2f}: {measure} {_shown(curve.points[at])} on the {curve.questions} questions that one chooses on"
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
