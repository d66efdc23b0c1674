"""The columns and the tools below them: one fragment, so that a knob redraws nothing else."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import streamlit as st

from core.access import Actor
from core.services.playground.compare import Comparison
from core.services.playground.notebook import Setup
from pages.ui import actions, flash, identity, keys
from pages.ui.components.playground import playground
from pages.ui.direct import token
from pages.ui.passage_links import address
from pages.ui.playground import adjusting, asking, serving, sharing, state, strip_chart, tau_chart, whereabouts
from pages.ui.workspace import app

KEY = "playground_view"
_BLIND = "All passages in one shuffled list: nobody sees who found what."
TOOLS: dict[str, Callable[[Setup, Comparison], None]] = {
    "Alpha strip": strip_chart.draw,
    "Tau line": tau_chart.draw,
    "Where is my document?": whereabouts.draw,
    "Ask": asking.draw,
}


@st.fragment
def draw() -> None:
    """Everything below the query."""
    me, now = identity.require("compare configurations"), state.setup()
    made = state.compare(now) if now.query else None
    data = serving.view(now, state.run_id(), made, me, st.session_state.get(keys.LOOKED, []))
    if made:
        _tools(now, made)
    clicked = playground(
        {**data, "direct": token(me)}, KEY, {"turn": _turn, "judge": _judge, "look": _look, "keep": _keep}
    )
    if clicked.adjust:
        adjusting.show(int(clicked.adjust.get("column", 0)))
    if clicked.open:
        st.switch_page("pages/documents.py", query_params=address(clicked.open))
    flash.show()


def _tools(now: Setup, made: Comparison) -> None:
    """Look closer, judge, share; a tool opens above the columns, next to the knobs that move it."""
    with st.container(
        horizontal=True, vertical_alignment="center", horizontal_alignment="distribute", key="playground_tools"
    ):
        tool = st.segmented_control(
            "Look closer", list(TOOLS), key=keys.TOOL, label_visibility="collapsed", on_change=_tool
        )
        with st.container(horizontal=True, vertical_alignment="center", width="content"):
            st.toggle("Judge blind", key=keys.BLIND, on_change=_blind, help=_BLIND)
            with st.popover("Share and export", icon=":material/ios_share:", type="tertiary"):
                sharing.draw(now, made)
    if tool in TOOLS and not now.blind:
        with st.container(border=True, key="playground_tool_box"):
            TOOLS[tool](now, made)


# ---------------------------------------------------------------- what clicks do; each runs before the next drawing


def _said(event: str) -> Any:
    return (st.session_state.get(KEY) or {}).get(event)


def _turn() -> None:
    actions.do_quietly(lambda _: _turns(_said("turn")))


def _turns(what: Any) -> None:
    """Knobs that were turned since the session heard last."""
    now = state.setup()
    for one in (what or {}).get("turns", ()):
        now = serving.turned(now, one)
    state.put(now)


def _judge() -> None:
    what, now = _said("judge"), state.setup()
    if not what or not now.query:
        return

    def judge(actor: Actor) -> None:
        hit = serving.hits(state.compare(now)).get(str(what["chunk"]))
        if hit:
            app().playground.grades.judge(actor, now.query, hit, int(what["grade"]), blind=now.blind)

    actions.do_quietly(judge)


def _look() -> None:
    what = _said("look")
    if what:
        looked, chunk = list(st.session_state.get(keys.LOOKED, [])), str(what["chunk"])
        st.session_state[keys.LOOKED] = [one for one in looked if one != chunk] if chunk in looked else [*looked, chunk]


def _keep() -> None:
    if what := _said("keep"):
        actions.do_quietly(lambda _: _turns(what))
        actions.do_quietly(lambda _: state.keep(state.setup()))


def _blind() -> None:
    state.put(replace(state.setup(), blind=bool(st.session_state[keys.BLIND])))


def _tool() -> None:
    state.put(replace(state.setup(), tool=st.session_state[keys.TOOL] or ""))
