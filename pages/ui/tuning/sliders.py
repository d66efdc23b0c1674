"""Sliders, and the measure of a whole query set while they move."""

from __future__ import annotations

from functools import partial

import streamlit as st

from core.access import Actor
from core.evaluation.measures.by_name import MEASURES
from core.evaluation.querysets.queryset import HALVED
from core.evaluation.reports import charts as drawn
from core.evaluation.statistics import Interval, PairedComparison
from core.evaluation.tuning.sweep import AlphaCurve
from core.retrieval import config as configs
from core.retrieval.fusions import FUSIONS
from core.retrieval.normalisations import NORMALISATIONS
from core.retrieval.parameters import PARAMETERS
from core.retrieval.presets import spell
from core.retrieval.rerankers.rerank import BY_TAU
from core.services.tuning.sweeps import AlphaCurves, SweepData, SweepResult, sweepable
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
        titles = {name: NORMALISATIONS[name].title for name in options}
        st.selectbox(
            "Normalisation", options, format_func=titles.__getitem__, key=state.NORMALISATION, persist_state="session"
        )
    for name in fusion.knobs:
        _slider(name, state.knob(name))
    if not tuning_set.data.searched.documents:  # how deep one looks for documents decides which passages stand for them
        _slider("depth", state.DEPTH, low=5, high=state.DEEP)
    measure, k = st.columns([1, 1.6])
    about = "\n".join(f"- **{name}**: {MEASURES[name].about}" for name in state.measures(tuning_set))
    chosen = measure.selectbox(
        "Measure", state.measures(tuning_set), key=state.NAME, help=about, persist_state="session"
    )
    fixed = chosen in state.PASSAGES
    k.slider("k", 1, 20, key=state.K, help="How many places count.", persist_state="session", disabled=fixed)
    st.toggle("Rerank below tau", key=state.RERANK, persist_state="session")
    if st.session_state.get(state.RERANK):
        _tau(tuning_set)


def _tau(tuning_set: TuningSet) -> None:
    """Tau, in steps of equally many questions: each place says how many of them it reranks."""
    shares = app().tuning.sweeps.shares(tuning_set.data, state.with_tau(), float(st.session_state.get(state.TAU, 1.0)))
    knob = PARAMETERS["tau"]
    st.select_slider(
        knob.title,
        list(shares),
        format_func=lambda tau: f"{tau:.2f}: {shares[tau]:.0%} reranked",
        key=state.TAU,
        help=knob.about,
        persist_state="session",
    )


def _slider(name: str, key: str, low: float | None = None, high: float | None = None) -> None:
    """The slider of a parameter, as its record describes it."""
    knob = PARAMETERS[name]
    kind = int if knob.whole else float
    bounds = kind(knob.low if low is None else low), kind(knob.top if high is None else high)
    st.slider(knob.title, *bounds, step=kind(knob.step), key=key, help=knob.about, persist_state="session")


def _figures(tuning_set: TuningSet) -> None:
    """Numbers and bars, beside those of production."""
    here, production, measure = state.with_rerank(), app().platform.settings.production().config, state.measure()
    data, sweeps = tuning_set.data, app().tuning.sweeps
    result = sweeps.measure_at(data, here, measure)
    production_result = sweeps.measure_at(data, production, measure) if sweepable(data, production) else None
    compared = sweeps.compare_at(data, production, state.position(), measure) if production_result else None
    reranks = here.rerank in BY_TAU
    if reranks:
        _reranked(result, tau.calibrated(tuning_set.queryset))
    else:
        _numbers(result, compared)
    if "alpha" in FUSIONS[here.fusion].knobs:
        _draw_curve(tuning_set)
    elif reranks:
        st.caption(flash.plain(tau.sentence(tau.calibrated(tuning_set.queryset))))
    names = list(result.by_category)
    bars = {"Production": [production_result.by_category[name] for name in names]} if production_result else {}
    bars["Without reranking" if reranks else "Here"] = [result.by_category[name] for name in names]
    figure = drawn.bars(
        [name.replace("_", " ") for name in names],
        bars,
        measure,
        colours=(drawn.GREY, style.CONFIGURATIONS[0])[-len(bars) :],
    )
    figure["layout"] |= {"height": 260, "yaxis": {"range": [0, 1], "title": {"text": measure}}}
    charts.show(figure, "tune_bars")
    if here == production:
        st.caption(f"These are the production settings. {_whose(data)}")
    elif compared is None:
        st.caption("Production reranks or looks deeper than sliders do; measure this to compare them.")
    elif not reranks:
        st.caption(flash.plain(f"{_against(compared)} {_whose(data)}"))
    _measure(tuning_set.queryset, here)


def _against(compared: PairedComparison) -> str:
    """The difference from production, without a verdict: these are the questions that settings are chosen on."""
    gap = compared.difference
    counts = f"{compared.wins} wins, {compared.ties} ties, {compared.losses} losses"
    return f"Against production: {gap.mean:+.3f} ({gap.low:+.3f} to {gap.high:+.3f}), {counts}."


def _whose(data: SweepData) -> str:
    """Which questions the figures are of, and where a verdict comes from."""
    asked = style.count(len(data.questions), "question")
    if data.halved:
        return f"Figures are of the {asked} that settings are chosen on; Production judges on the other half."
    return f"Figures are of all {asked}: under {HALVED} there is no other half to judge on, so no verdict."


def _numbers(result: SweepResult, compared: PairedComparison | None) -> None:
    """The figure; its difference from production is green or red only where the interval excludes 0."""
    cells = st.columns([1, 1.45, 1.35])
    gap = compared.difference if compared else None
    shown = f"{gap.mean:+.3f}" if gap and abs(gap.mean) >= 0.0005 else None
    settled = gap is not None and (gap.low > 0 or gap.high < 0)
    interval = f"{result.overall.low:.3f}–{result.overall.high:.3f}"
    cells[0].metric(
        result.measure,
        f"{result.overall.mean:.3f}",
        shown,
        delta_color="normal" if settled else "off",
        delta_arrow="auto" if settled else "off",
        border=True,
        height="stretch",
    )
    cells[1].metric("95 % interval", interval, border=True, height="stretch")
    answered = f"{result.answered:,} of {result.questions:,}"
    cells[2].metric("Relevant one first", answered, border=True, height="stretch")


def _reranked(result: SweepResult, known: tau.Calibrated | None) -> None:
    """The figure with reranking below tau, which is known once that is calibrated; until then it is a dash."""
    cells = st.columns([1, 1.45])
    figure = f"{known.here['measure']:.3f}" if known and known.measure == result.measure else "–"
    cells[0].metric(result.measure, figure, border=True, height="stretch")
    cells[1].metric("Reranked", f"{result.reranked:.0%}", border=True, height="stretch")


def _measure(queryset: str, config: SearchConfig) -> None:
    """Turn a position into a run, which can be promoted."""
    with st.container(horizontal=True, vertical_alignment="center"):
        if st.button(
            "Measure this",
            icon=":material/straighten:",
            key="tune_run",
            help="Runs it and production, so that they can be weighed under Production.",
        ):
            actions.do(partial(run, queryset=queryset, config=spell(config)))
            st.rerun()
        st.caption(
            flash.plain(
                called(config)
                if config.rerank == "off"
                else f"{called(state.position())}, reranked below {config.tau:g}"
            )
        )


def run(actor: Actor, queryset: str, config: str) -> str:
    """Run a position of the sliders and production."""
    now = app().platform.settings.production()
    pairs = [(now.profile.name, config), (now.profile.name, spell(now.config))]
    return (
        f"Started as job {app().evaluation.runs.start(actor, queryset, list(dict.fromkeys(pairs))).id}; then weigh it"
        " under Production."
    )


def _draw_curve(tuning_set: TuningSet) -> None:
    """The picture, and below it what it says."""
    config, measure = state.as_convex(), state.measure()
    curve = tuning_set.alpha_curves(config, measure)
    here, at_tau = float(config.alpha), tau.calibrated(tuning_set.queryset)
    points = _paired(curve)
    figure = drawn.plot_curve(curve.overall.alphas, points, "alpha", measure)
    drawn.mark(figure, curve.overall.best, f"best {curve.overall.best:.2f}", drawn.RED, 0.18)
    production = app().platform.settings.production().config
    weighed = any(knob.name == "alpha" for knob in configs.knobs(production))
    if weighed:
        drawn.mark(figure, production.alpha, f"production {production.alpha:.2f}", drawn.GREY, 0.1)
    drawn.mark(figure, here, f"here {here:.2f}", style.CONFIGURATIONS[0], 0.02)
    if curve.paired:
        drawn.level(figure, points[0].mean - curve.paired[0].mean, drawn.GREY)
    if at_tau:
        tau.beside(figure, at_tau)
    figure["layout"] |= {"height": 300, "showlegend": False}
    charts.show(figure, "tune_curve")
    with st.container(horizontal=True, vertical_alignment="center"):
        unweighed = "" if weighed else f" Production is {called(production)}; it has no alpha to mark."
        st.markdown(flash.plain(_sentence(curve.overall, here, measure) + unweighed), width="stretch")
        if round(here, 2) != round(curve.overall.best, 2):
            st.button(
                "Go to the best",
                key="alpha_take",
                icon=":material/tune:",
                on_click=_take,
                args=(float(curve.overall.best),),
            )
    st.caption(flash.plain(tau.sentence(at_tau)))
    if curve.note:
        st.caption(f":material/science: {flash.plain(curve.note)}")
    if len(curve.by_category) > 1:
        with st.expander("The curve by kind of question", key="tune_kinds"):
            _by_category(curve, measure)


def _paired(curve: AlphaCurves) -> list[Interval]:
    """The curve with the interval of its difference from production around it: where the band leaves production's line,
    the difference excludes 0."""
    if not curve.paired:
        return list(curve.overall.points)
    pairs = zip(curve.overall.points, curve.paired, strict=True)
    return [Interval(at.mean, at.mean - gap.mean + gap.low, at.mean - gap.mean + gap.high) for at, gap in pairs]


def _sentence(curve: AlphaCurve, here: float, measure: str) -> str:
    """The position and the best place, with what is known about both."""
    at = min(range(len(curve.alphas)), key=lambda n: abs(curve.alphas[n] - here))
    best = curve.alphas.index(curve.best)
    said = (
        f"Alpha {curve.alphas[at]:.2f}: {measure} {_shown(curve.points[at])} on"
        f" {style.count(curve.questions, 'question')}"
    )
    return (
        f"{said}, the best." if at == best else f"{said}; the best is {curve.best:.2f}: {_shown(curve.points[best])}."
    )


def _shown(point: Interval) -> str:
    return f"{point.mean:.3f} ({point.low:.3f} to {point.high:.3f})"


def _by_category(curve: AlphaCurves, measure: str) -> None:
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
