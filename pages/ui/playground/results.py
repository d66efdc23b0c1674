"""The columns and the tools below them: one fragment, so that a knob redraws nothing else."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import streamlit as st

from core.access import Actor
from core.services.playground.compare import Comparison
from core.services.playground.notebook import Setup
from pages.ui import actions, flash, identity, keys
from pages.ui.components import component, heard
from pages.ui.playground import (
    adjust_form,
    answer,
    judging,
    pool_tools,
    share,
    state,
    strip_chart,
    tau_chart,
    view_data,
    where,
)
from pages.ui.workspace import app

KEY = "playground_view"
_BLIND = "All passages in one shuffled list: nobody sees who found what."
TOOLS: dict[str, Callable[[Setup, Comparison], None]] = {
    "Alpha strip": strip_chart.draw,
    "Tau line": tau_chart.draw,
    "Where is my document?": where.draw,
    "Ask": answer.draw,
}
EVENTS = ("turn", "adjust", "judge", "look", "keep")


@st.fragment
def draw() -> None:
    me, now = identity.require("compare configurations"), state.setup()
    comparison = state.compare(now) if now.query else None
    board = view_data.Board(now, state.run_id(), st.session_state.get(keys.LOOKED, []))
    data = view_data.view(me, board, comparison)
    judging.draw(now)
    if comparison:
        _tools(now, comparison)
    clicked = playground(
        {**data, "direct": identity.page_token()}, KEY, {"turn": _turn, "judge": _judge, "look": _look, "keep": _keep}
    )
    if comparison and now.blind:
        pool_tools.draw(now, comparison)
    if clicked.adjust:
        adjust_form.show(int(clicked.adjust.get("column", 0)))
    flash.show()


def _tools(now: Setup, comparison: Comparison) -> None:
    """The row of tools; a tool opens above the columns, next to the knobs that affect it."""
    with st.container(
        horizontal=True, vertical_alignment="center", horizontal_alignment="distribute", key="playground_tools"
    ):
        tool = st.segmented_control(
            "Look closer",
            list(TOOLS),
            key=keys.TOOL,
            label_visibility="collapsed",
            on_change=_tool,
            disabled=now.blind,
        )
        if now.blind:
            st.caption("They would say who found what, so they wait until you stop judging blind.")
        with st.container(horizontal=True, vertical_alignment="center", width="content"):
            st.toggle("Judge blind", key=keys.BLIND, on_change=_blind, help=_BLIND)
            with st.popover("Share and export", icon=":material/ios_share:", type="tertiary"):
                share.draw(now, comparison)
    if tool in TOOLS and not now.blind:
        with st.container(border=True, key="playground_tool_box"):
            TOOLS[tool](now, comparison)


# ---------------------------------------------------------------- callbacks; each runs before the next rerun


def _event(name: str) -> Any:
    return (st.session_state.get(KEY) or {}).get(name)


def _turn() -> None:
    actions.do_quietly(lambda _: _turns(_event("turn")))


def _turns(event: Any) -> None:
    """Apply the knobs that were turned since the last rerun."""
    now = state.setup()
    for turn in (event or {}).get("turns", ()):
        now = view_data.apply_turn(identity.me(), now, turn)
    state.put(now)


def _judge() -> None:
    event, now = _event("judge"), state.setup()
    if not event or not now.query:
        return

    def judge(actor: Actor) -> None:
        added = {hit.chunk: hit for hit in view_data.added(actor, now, state.searches(now))}
        hit = (added | view_data.hits(state.compare(now))).get(str(event["chunk"]))
        if hit and event.get("grade") is None:
            app().playground.grades.withdraw(actor, now.query, hit)
        elif hit:
            note = event.get("note")
            grade = app().playground.grades.judge(
                actor, now.query, hit, int(event["grade"]), blind=now.blind, note=None if note is None else str(note)
            )
            judging.keep(actor, now, grade)

    actions.do_quietly(judge)


def _look() -> None:
    event = _event("look")
    if event:
        looked, chunk = list(st.session_state.get(keys.LOOKED, [])), str(event["chunk"])
        st.session_state[keys.LOOKED] = (
            [other for other in looked if other != chunk] if chunk in looked else [*looked, chunk]
        )


def _keep() -> None:
    if event := _event("keep"):
        actions.do_quietly(lambda _: _turns(event))
        actions.do_quietly(lambda _: state.keep(state.setup()))


def _blind() -> None:
    state.put(replace(state.setup(), blind=bool(st.session_state[keys.BLIND])))


def _tool() -> None:
    state.put(replace(state.setup(), tool=st.session_state[keys.TOOL] or ""))


def playground(data: Mapping[str, Any], key: str, on: Mapping[str, Callable[[], None]]) -> Any:
    """Draw the columns. Clicks come back as triggers: `turn`, `adjust`, `judge`, `look`, `keep`."""
    handlers = heard(*EVENTS) | {f"on_{event}_change": handler for event, handler in on.items()}
    return component("playground", "snippet")(key=key, data=dict(data), **handlers)
