"""Tau: calibrated in the background, beside alpha on the desk; how precise skipped questions are, with Wilson
intervals, and the smallest safe tau.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from typing import Any

import streamlit as st

from core.access import Actor
from core.evaluation.reports import charts as drawn
from core.evaluation.statistics import Interval
from core.evaluation.tuning import calibration
from core.evaluation.tuning.calibration import TauRule
from core.retrieval import config as configs
from core.retrieval.presets import spell
from pages.ui import actions, charts, flash, identity, style
from pages.ui.configurations import called
from pages.ui.home import empty
from pages.ui.tuning import state
from pages.ui.tuning.state import TuningSet
from pages.ui.workspace import app

PER_PASSAGE = 0.15  # seconds of the local cross-encoder for one passage on two cores
RULES = {calibration.GAIN: "most of what reranking gains", calibration.PRECISION: "what is not precise enough"}
MEASURES = ("nDCG@10", "Recall@5", "MRR@10")  # and those over passages, where answers are quoted
TONES = {calibration.CONFIRMED: (st.success, "verified"), calibration.CONTRADICTED: (st.warning, "warning")}


def draw(tuning_set: TuningSet) -> None:
    """The form, then the result of the last calibration."""
    _form(tuning_set)
    job = app().evaluation.jobs.last(identity.me(), "calibrate", tuning_set.queryset)
    if job is None:
        empty.state(
            "speed",
            "Tau is not calibrated on this query set",
            "Calibrating reranks every question once and finds the smallest tau that only skips what needs no"
            " reranking.",
            "no_tau",
        )
        return
    _result(job.result, str(job.arguments["config"]), str(job.arguments["measure"]))


def _form(tuning_set: TuningSet) -> None:
    config = state.with_tau()
    with st.container(horizontal=True, vertical_alignment="bottom"):
        chosen: dict[str, Any] = {
            "by": st.selectbox(
                "Tau keeps", tuple(RULES), format_func=lambda rule: RULES[str(rule)], key="tau_rule", width=250
            )
        }
        if chosen["by"] == calibration.GAIN:
            chosen["keep"] = st.number_input(
                "Share",
                0.5,
                1.0,
                calibration.KEEP,
                0.05,
                key="tau_keep",
                width=130,
                help="Of what reranking every question gains.",
            )
        else:
            chosen["beta"] = st.number_input(
                "Beta",
                0.05,
                0.99,
                calibration.BETA,
                0.05,
                key="tau_beta",
                width=130,
                help="How precise skipped questions must be.",
            )
            chosen["least"] = st.number_input(
                "At least",
                1,
                1000,
                calibration.LEAST,
                key="tau_least",
                width=130,
                help="Skipped questions that are needed.",
            )
        offered = (*MEASURES, *state.PASSAGES) if tuning_set.data.quoted else MEASURES
        measure = st.selectbox("Measure", offered, key="tau_measure", width=150)
        if st.button("Calibrate", icon=":material/speed:", type="primary", key="tau_go"):
            actions.do(
                partial(
                    start,
                    queryset=tuning_set.queryset,
                    config=spell(config),
                    rule=TauRule(measure=str(measure), **chosen),
                )
            )
            st.rerun()
    st.caption(
        flash.plain(
            f"For {called(config)} at depth {config.depth}: {style.count(len(tuning_set.data.questions), 'question')}, "
            f"each with {min(config.rerank_depth, 2 * config.depth)} passages for the cross-encoder, "
            f"about {_duration(tuning_set, config.rerank_depth)} in the background. What was reranked before is free."
        )
    )


def _duration(tuning_set: TuningSet, passages: int) -> str:
    """Estimated from the last reranked run on this machine, else from the time on two cores."""
    timed = [
        run.times["rerank"]["p50"]
        for run in app().evaluation.runs.listed(identity.me())
        if run.times.get("rerank", {}).get("p50")
    ]
    seconds = len(tuning_set.data.questions) * (timed[0] / 1000.0 if timed else PER_PASSAGE * passages)
    return style.count(max(1, round(seconds)), "second") if seconds < 90 else style.count(round(seconds / 60), "minute")


def start(actor: Actor, queryset: str, config: str, rule: TauRule) -> str:
    job = app().evaluation.jobs.calibrate(actor, queryset, config, rule)
    return f"Calibrating as job {job.id}."


def _result(result: dict[str, Any], config: str, measure: str) -> None:
    say, icon = TONES.get(result.get("verdict", ""), (st.info, "rule"))
    say(flash.plain(f"{called(configs.parse(config))}: {result['sentence']}"), icon=f":material/{icon}:")
    if result.get("event"):
        st.caption(flash.plain(f"Answered means {result['event']}."))
    score = result.get("scale", calibration.SCORE) == calibration.SCORE
    if score:
        st.caption("This tau is on the best fused score, as in the thesis: it holds for this fusion alone.")
    if result["tau"] is not None and score == (state.with_tau().rerank == "conditional"):
        st.button(
            "Take it to the sliders", key="tau_take", icon=":material/tune:", on_click=_take, args=(result["tau"],)
        )
    points = [point for point in result["curve"] if point["skipped"]]
    taus = [point["tau"] for point in points]
    bands = [Interval(point["precision"], point["lower"], point["upper"]) for point in points]
    first, second = st.columns(2)
    with first:
        st.markdown("**Precision of skipped questions** with Wilson 95 % interval")
        figure = drawn.plot_curve(taus, bands, "tau", "precision", result["tau"])
        figure["layout"]["shapes"] += [_line(result["beta"])]
        charts.show(figure, "tau_precision")
    with second:
        st.markdown(f"**{measure} and share reranked** over tau")
        every = result["curve"]
        lines = {measure: [point["measure"] for point in every], "share reranked": [point["share"] for point in every]}
        charts.show(
            drawn.lines([point["tau"] for point in every], lines, "tau", "share or measure"), "tau_measure_line"
        )
    _uplift(result, measure)
    _costs(result)


def _uplift(result: dict[str, Any], measure: str) -> None:
    """What each step of tau adds."""
    points = result["curve"][::5]
    gained = [after["measure"] - before["measure"] for before, after in pairwise(points)]
    if any(gained):
        st.markdown(f"**{measure} gained** with each step of tau")
        taus = [f"{point['tau']:.2f}" for point in points[1:]]
        figure = drawn.bars(taus, {"gained": gained}, measure, colours=(style.CONFIGURATIONS[0],))
        figure["layout"]["height"] = 260
        charts.show(figure, "tau_uplift")


def _costs(result: dict[str, Any]) -> None:
    """What reranking takes along the curve, and what all of it gains."""
    if not result.get("gain"):
        return
    st.caption(flash.plain(f"Reranking everything: {result['gain']}"))
    rows = [
        {
            "Tau": point["tau"],
            "Reranked of 1,000": round(1000 * point["share"]),
            "Minutes": 1000 * (point.get("seconds") or point["share"] * result["seconds"]) / 60,
            "Dollars": 1000 * (point.get("dollars") or point["share"] * result["dollars"]),
            "Measure": point["measure"],
        }
        for point in result["curve"][::10]
    ]
    formats = {"Tau": "%.1f", "Minutes": "%.1f", "Dollars": "$%.2f", "Measure": "%.3f"}
    columns = {name: st.column_config.NumberColumn(format=form) for name, form in formats.items()}
    st.dataframe(rows, hide_index=True, key="tau_costs", column_config=columns)


def _line(beta: float) -> dict[str, Any]:
    """The line that the lower bound must reach."""
    return {
        "type": "line",
        "x0": 0,
        "x1": 1,
        "xref": "paper",
        "y0": beta,
        "y1": beta,
        "line": {"color": drawn.GREY, "dash": "dash"},
    }


@dataclass(frozen=True, slots=True)
class Calibrated:
    """Tau as it was calibrated last for the position of the sliders."""

    measure: str
    result: dict[str, Any]
    tau: float  # of the sliders; 0 where they rerank nothing

    @property
    def here(self) -> dict[str, Any]:
        curve: list[dict[str, Any]] = self.result["curve"]
        return curve[round(self.tau * (len(curve) - 1))]


def calibrated(queryset: str) -> Calibrated | None:
    job = app().evaluation.jobs.last(identity.me(), "calibrate", queryset)
    if job is None or job.arguments["config"] != spell(state.with_tau()):
        return None
    tau = float(st.session_state.get(state.TAU, 1.0)) if st.session_state.get(state.RERANK) else 0.0
    return Calibrated(str(job.arguments["measure"]), job.result, tau)


def beside(figure: drawn.Figure, known: Calibrated) -> None:
    """The measure and the share reranked over tau, to the right of the curve over alpha."""
    taus = [point["tau"] for point in known.result["curve"]]
    drawn.beside(
        figure,
        taus,
        {
            name: [point[key] for point in known.result["curve"]]
            for name, key in ((known.measure, "measure"), ("share reranked", "share"))
        },
        "tau",
        known.tau,
        style.CONFIGURATIONS[0],
    )


def sentence(known: Calibrated | None) -> str:
    """What reranking gains and costs at the tau of the sliders."""
    if known is None:
        return "What reranking below tau gains and costs here is known after calibrating it under Train."
    point, none = known.here, known.result["curve"][0]
    seconds = 1000 * (point.get("seconds") or point["share"] * known.result.get("seconds", 0.0))
    dollars = 1000 * (point.get("dollars") or point["share"] * known.result.get("dollars", 0.0))
    cost = f"{seconds / 60:.1f} min" + (f" and ${dollars:.2f}" if dollars else "")
    return (
        f"Tau {known.tau:.2f}: {point['share']:.0%} reranked, {known.measure} {point['measure']:.3f} "
        f"({point['measure'] - none['measure']:+.3f} against no reranking), {cost} for 1,000 questions; "
        f"skipped ones are {point['precision']:.0%} precise ({point['lower']:.0%} to {point['upper']:.0%})."
    )


def _take(tau: float) -> None:
    state.put(state.RERANK, True)
    state.put(state.TAU, float(tau))
    state.put(state.TAB, "Desk")
    flash.say(f"The sliders rerank below {tau:.2f} now.")
