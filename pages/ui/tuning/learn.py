"""The Learn tab: one button trains what the questions teach, and promotes the part that wins."""

from __future__ import annotations

from typing import Any

import streamlit as st

from core.access import Actor, allowed
from core.evaluation.statistics import BETTER, OPEN
from pages.ui import actions, flash, identity, keys, style, verdicts
from pages.ui.home import empty
from pages.ui.tuning import state
from pages.ui.tuning.state import TuningSet
from pages.ui.workspace import app

KIND = "learn-all"
WILL = [
    "Alpha per question, a ranker and an embedder are trained in the background, one after the other. You can stop it.",
    "What documents answer, pins, judgments and searches that ended at a document teach too.",
    (
        "Each part is judged on questions it has not seen. The one that wins goes into production, and you can roll it"
        " back."
    ),
    "If nothing wins, nothing changes.",
]


def draw(tuning_set: TuningSet) -> None:
    """The button, then what was learned last, here or on the command line."""
    me, jobs = identity.me(), app().evaluation.jobs
    sets = app().evaluation.querysets.listed(me)
    count = style.count(sum(each.questions for each in sets), "question")
    busy = any(jobs.last(me, KIND, state=state) for state in ("queued", "running"))
    may = allowed(me, "change what is in production")
    if st.button(
        f"Learn from {count}",
        icon=":material/school:",
        type="primary",
        key="learning_go",
        disabled=busy or not may,
        help="Admins start it, since what wins goes into production.",
    ):
        actions.confirm(f"Learn from {count} of {style.count(len(sets), 'query set')}?", WILL, "Learn", start)
    job = jobs.last(me, KIND)
    if job:
        _result(job.result)
    elif not busy:
        empty.state(
            "school",
            "Nothing was learned yet",
            "Your questions can teach the search. Each part shows what it gains on questions it has not seen; most"
            " knowledge bases keep the search they have.",
            "no_learning",
        )


def start(actor: Actor) -> str:
    return f"Learning as job {app().evaluation.jobs.learn(actor).id}."


def _result(result: dict[str, Any]) -> None:
    """The outcome in a sentence, then each part."""
    waits = bool(result["run"]) and not result.get("promoted")
    verdicts.box(BETTER if result.get("promoted") else OPEN, flash.plain(result["advice"]))
    rows = [
        {
            "Part": part["title"],
            "Result": _outcome(part),
            "Gain on unseen questions": _gained(part["gain"]),
            "More questions would tell": f"{part['more']:,}" if part.get("more") else "–",
            "Name": part["name"] or "–",
        }
        for part in result["parts"]
    ]
    st.dataframe(rows, hide_index=True, key="learning_parts")
    for part in result["parts"]:
        st.caption(flash.plain(f"{part['title']}: {part['sentence']}"))
    if waits:
        st.button(
            "Weigh it under Production",
            icon=":material/scale:",
            key="learning_weigh",
            on_click=_weigh,
            args=(result["querysets"][0], result["run"]),
            help="Compares it with what is in production, with guardrails. You can promote it there.",
        )


def _weigh(queryset: str, run: str) -> None:
    for key, value in ((keys.QUERYSET, queryset), (state.TAB, "Production"), ("promote_run", run)):
        state.put(key, value)


def _outcome(part: dict[str, Any]) -> str:
    if not part["gain"]:
        return "not learned"
    return "wins" if part["wins"] else "does not win"


def _gained(gain: dict[str, Any] | None) -> str:
    gap = gain and gain["difference"]
    return f"{gap['mean']:+.3f} ({gap['low']:+.3f} to {gap['high']:+.3f})" if gap else "–"
