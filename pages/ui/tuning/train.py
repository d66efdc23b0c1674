"""The Train tab: what is learned or calibrated in the background, one thing at a time, here or on the command line."""

from __future__ import annotations

from typing import Any

import streamlit as st

from core.access import Actor, allowed
from core.evaluation.statistics import BETTER, OPEN
from pages.ui import actions, flash, identity, keys, style, verdicts
from pages.ui.home import empty
from pages.ui.tuning import confidence, embedder, learned, prompts, ranker, state, tau
from pages.ui.tuning.state import TuningSet
from pages.ui.workspace import app

KIND = "learn-all"


def draw(tuning_set: TuningSet) -> None:
    """The choice, then its form and its last result."""
    chosen = st.segmented_control(
        "Train",
        list(PARTS),
        default="Tau",
        required=True,
        key=state.TRAIN,
        bind="query-params",
        label_visibility="collapsed",
    )
    PARTS[str(chosen)](tuning_set)


def _draw_learning(tuning_set: TuningSet) -> None:
    """The button, then what was learned last, here or on the command line."""
    me = identity.me()
    sets = app().evaluation.querysets.listed(me)
    count, jobs = style.count(sum(each.questions for each in sets), "question"), app().evaluation.jobs
    busy = any(jobs.last(me, KIND, state=state) for state in ("queued", "running"))
    if st.button(f"Learn from {count}", icon=":material/school:", type="primary", key="learning_go", disabled=busy or not allowed(me, "change what is in production"), help="Admins train, since what is learned can be put into production."):  # fmt: skip
        actions.confirm(
            f"Learn from {count} of {style.count(len(sets), 'query set')}?",
            [
                "Alpha per question, a ranker and an embedder are trained one after the other, then put together, in the background; it can be stopped.",
                "Questions that documents answer, pins, judgments and searches that ended at a document teach, too, where no query set asks them.",
                "Each is judged on questions that it has not seen. Nothing changes for anybody until a run is promoted.",
            ],
            "Learn",
            start,
        )
    job = jobs.last(me, KIND)
    if job is None and not busy:
        empty.state("school", "Nothing was learned yet", "What people ask and what answers it teaches the search. Each part shows its gain with an interval, and how many more questions would be worth judging.", "no_learning")  # fmt: skip
    if job:
        _result(job.result)


def start(actor: Actor) -> str:
    return f"Learning as job {app().evaluation.jobs.learn_all(actor).id}."


def _result(result: dict[str, Any]) -> None:
    shown = bool(result["run"]) and result["judged"]["verdict"] == BETTER
    say, icon = (st.success, ":material/verified:") if shown else (st.info, verdicts.icon(OPEN))
    say(flash.plain(result["advice"]), icon=icon)
    rows = [
        {"Learned": part["title"], "Name": part["name"] or "–", "Gained, unseen questions": _gained(part["gain"]), "Better": "yes" if part["wins"] else "no", "More questions would tell": f"{part['more']:,}" if part.get("more") else "–"}
        for part in result["parts"]
    ]  # fmt: skip
    st.dataframe(rows, hide_index=True, key="learning_parts")
    for part in result["parts"]:
        st.caption(flash.plain(f"{part['title']}: {part['sentence']}"))
    if result["run"]:
        st.button("Weigh it under Production", icon=":material/scale:", key="learning_weigh", on_click=_weigh, args=(result["querysets"][0], result["run"]), help="Beside what is in production, with guardrails; it can be promoted there.")  # fmt: skip


def _weigh(queryset: str, run: str) -> None:
    for key, value in ((keys.QUERYSET, queryset), (state.TAB, "Production"), ("promote_run", run)):
        state.put(key, value)


def _gained(gain: dict[str, Any] | None) -> str:
    gap = gain and gain["difference"]
    return f"{gap['mean']:+.3f} ({gap['low']:+.3f} to {gap['high']:+.3f})" if gap else "–"


PARTS = {
    "All at once": _draw_learning,
    "Tau": tau.draw,
    "Learned alpha": learned.draw,
    "Ranker": ranker.draw,
    "Embedder": embedder.draw,
    "Prompts": prompts.draw,
    "Confidence": confidence.draw,
}
