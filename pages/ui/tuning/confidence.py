"""Confidence: how well it tells what is answered here, measured on a query set, and the threshold of doubt."""

from __future__ import annotations

from functools import partial
from typing import Any

import streamlit as st

from core import strict
from core.access import Actor, allowed
from core.evaluation.reports import charts as drawn
from pages.ui import actions, charts, flash, identity
from pages.ui.tuning.state import TuningSet
from pages.ui.workspace import app

KIND = "confidence"


def draw(tuning_set: TuningSet) -> None:
    """The threshold of the team, then what was measured last, here or on the command line."""
    me = identity.me()
    now = app().tuning.confidence.current(me)
    st.markdown(f"A search says that nothing fits well below **{now.threshold:.2f}**.")
    job = app().evaluation.jobs.last(me, KIND, tuning_set.queryset)
    with st.container(horizontal=True):
        if st.button(
            "Measure",
            key="confidence_go",
            icon=":material/straighten:",
            help="Asks every judged question with and without the documents that answer it.",
        ):
            with st.spinner("Asking every question twice"):
                actions.do(partial(measure, queryset=tuning_set.queryset))
            st.rerun()
        may = allowed(me, "change what is in production")
        if job and st.button("Take the suggestion", key="confidence_take", disabled=not may, help="Admins choose it."):
            _confirm(tuning_set.queryset, job.result)
    if job:
        _result(job.result)


def measure(actor: Actor, queryset: str) -> str:
    """Measure it and keep what came out, as the command line does."""
    report = app().tuning.confidence.measure(actor, queryset)
    result = {"sentence": report.sentence, "proven": report.proven, **strict.plain(report)}
    app().evaluation.jobs.keep_result(actor, KIND, result, queryset=queryset)
    return report.sentence


def _confirm(queryset: str, result: dict[str, Any]) -> None:
    reason = "" if result["proven"] else "The suggestion of the page, on few questions."
    actions.confirm(
        f"Doubt answers below {result['suggested']['threshold']:.2f} from now on?",
        [result["sentence"], *([f"Reason: {reason}"] if reason else [])],
        "Take it",
        partial(choose, queryset=queryset, reason=reason),
    )


def choose(actor: Actor, queryset: str, reason: str) -> str:
    chosen = app().tuning.confidence.choose(actor, queryset, reason=reason)
    return f"A search says that nothing fits well below {chosen.threshold:.2f}."


def _result(result: dict[str, Any]) -> None:
    st.info(flash.plain(result["sentence"]), icon=":material/rule:")
    area, now = result["area"], result["now"]
    charts.tiles(
        {
            "Area under the curve": f"{area['mean']:.3f} ({area['low']:.3f} to {area['high']:.3f})",
            "False alarms now": f"{now['false_alarms']['mean']:.0%}",
            "Misses now": f"{now['misses']['mean']:.0%}",
        },
        "confidence_tiles",
    )
    points = result["curve"]
    lines = {
        name: [point[key]["mean"] for point in points]
        for name, key in (("false alarms", "false_alarms"), ("misses", "misses"))
    }
    charts.show(drawn.lines([point["threshold"] for point in points], lines, "threshold", "share"), "confidence_curve")
