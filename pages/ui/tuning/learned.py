"""The Learned alpha tab: train a model, see what it learned, and whether it beats the fixed alpha that the same questions would choose."""

from __future__ import annotations

from functools import partial
from typing import Any

import streamlit as st

from core.access import Actor, allowed
from core.evaluation.learning.training import TARGETS
from core.evaluation.reports import charts as drawn
from core.evaluation.statistics import BETTER, OPEN, Interval
from core.retrieval.presets import spell
from core.services.tuning.sweeps import thin
from pages.ui import actions, charts, flash, identity, style, verdicts
from pages.ui.home import empty
from pages.ui.tuning import state
from pages.ui.tuning.state import TuningSet
from pages.ui.workspace import app

KINDS = {
    "ridge": "Ridge, 4 features",
    "xgboost": "Boosted trees, 25 features",
    "mlp": "Small network, the query's vector",
    "distribution": "Score distributions",
}
GOALS = {"lss": "Words of the answer (LSS)", "ranking": "The order"}
_COLOURS = {"model": style.CONFIGURATIONS[0], "oracle": style.CONFIGURATIONS[2]}


def draw(tuning_set: TuningSet) -> None:
    """The form, then the evidence of the last training."""
    job = app().evaluation.jobs.last(identity.me(), "learn", tuning_set.queryset)
    if job is None and thin(len(tuning_set.data.questions)):
        st.info(flash.plain(thin(len(tuning_set.data.questions))), icon=":material/science:")
    _form(tuning_set)
    if job is None:
        empty.state(
            "model_training",
            "No model was trained on this query set",
            "A model predicts an alpha for every question. It is worth having when it beats the best fixed alpha of the questions it learned from.",
            "no_model",
        )
        return
    _verdict(job.result)
    _model(job.result)


def _form(tuning_set: TuningSet) -> None:
    with st.container(horizontal=True, vertical_alignment="bottom"):
        kind = str(st.selectbox("Model", list(KINDS), format_func=KINDS.__getitem__, key="learn_kind", width=300))
        target = str(
            st.selectbox("Best at", list(TARGETS), format_func=lambda goal: GOALS.get(goal, goal), key="learn_target", width=240)
        )  # fmt: skip
        may = allowed(identity.me(), "change what is in production")
        about = "Admins train, since a model can be put into production."
        if st.button("Train", icon=":material/model_training:", type="primary", key="learn_go", disabled=not may, help=about):  # fmt: skip
            actions.do(
                partial(
                    start,
                    queryset=tuning_set.queryset,
                    kind=kind,
                    config=spell(state.as_convex()),
                    target=target,
                    measure=state.measure(),
                )
            )
            st.rerun()


def start(actor: Actor, queryset: str, kind: str, config: str, target: str, measure: str = "nDCG@10") -> str:
    return f"Training as job {app().evaluation.jobs.learn(actor, queryset, kind, config, measure, target).id}."


def _verdict(result: dict[str, Any]) -> None:
    verdicts.box(BETTER if result.get("wins") else OPEN, flash.plain(result["advice"]))
    if result["warning"]:
        st.caption(flash.plain(result["warning"]))
    cells = st.columns(4)
    for cell, part in zip(cells, ("train", "validation", "test"), strict=False):
        cell.metric(f"R² on {part}", f"{result['r2'][part]:.3f}", border=True)
    cells[3].metric("Questions", f"{result['queries']:,}", border=True)
    st.caption(flash.plain(f"{result['model']} against the fixed alpha {result['best_fixed']:g}: {result['against_best_fixed']['sentence']}"))  # fmt: skip
    if result.get("spread"):
        st.caption(flash.plain(result["spread"]))


def _model(result: dict[str, Any]) -> None:
    first, second = st.columns(2)
    with first:
        st.markdown("**Predicted against optimal alpha** on questions it has not seen")
        charts.show(drawn.against_by(_groups(result["test"]), "optimal", "predicted"), "learn_pairs")
    with second:
        st.markdown(f"**{result['measure']}** beside the fixed alpha and the oracle")
        quality = {name: Interval(**interval) for name, interval in result["quality"].items()}
        colours = [_COLOURS.get(name, drawn.GREY) for name in quality]
        charts.show(
            drawn.leaderboard(list(quality), list(quality.values()), result["measure"], colours), "learn_quality"
        )
    if result.get("swarm"):
        _swarm(result["swarm"])
    strengths = result["coefficients"] or result["contributions"]
    if strengths and not result.get("swarm"):
        st.markdown("**Coefficients**" if result["coefficients"] else "**Mean strength of each feature** (SHAP)")
        top = dict(sorted(strengths.items(), key=lambda pair: -abs(pair[1]))[:12])
        figure = drawn.bars(list(top), {"strength": list(top.values())}, "", colours=(style.CONFIGURATIONS[0],))
        figure["layout"]["height"] = 280
        charts.show(figure, "learn_strengths")
    if result["losses"]:
        st.markdown("**Loss** by round")
        longest = max(len(values) for values in result["losses"].values())
        charts.show(drawn.lines(list(range(1, longest + 1)), result["losses"], "round", "loss"), "learn_losses")


def _groups(rows: list[dict[str, Any]]) -> dict[str, tuple[list[float], list[float]]]:
    """Optimal and predicted alphas by category."""
    groups: dict[str, tuple[list[float], list[float]]] = {}
    for row in rows:
        optimal, predicted = groups.setdefault(row.get("group", "").replace("_", " ") or "questions", ([], []))
        optimal.append(row["optimal"])
        predicted.append(row["predicted"])
    return groups


def _swarm(swarm: dict[str, Any]) -> None:
    """One dot per question and feature: to the right it asks for meaning, to the left for words."""
    st.markdown("**What moves alpha** (SHAP): to the right towards meaning, to the left towards words")
    figure = drawn.beeswarm(swarm["features"], swarm["values"], swarm["pushes"], "push on alpha")
    charts.show(figure, "learn_swarm")
