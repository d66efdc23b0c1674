"""The columns and the tools below them: one fragment, so that a knob redraws nothing else."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import streamlit as st

from core import strict
from core.access import Actor
from core.services.comparing import MOST, Comparison
from core.services.judging import pool
from core.services.notebook import Setup
from core.types import Hit
from pages.ui import acts, flash, identity, keys, style
from pages.ui.components.playground import playground
from pages.ui.playground_parts import adjusting, asking, drawing, sharing, state, strip_chart, whereabouts
from pages.ui.workspace import app

KEY = "playground_view"
_BLIND = "All passages in one shuffled list: nobody sees who found what."
TOOLS: dict[str, Callable[[Setup, Comparison], None]] = {
    "Alpha strip": strip_chart.draw,
    "Where is my document?": whereabouts.draw,
    "Ask": asking.draw,
}


@st.fragment
def draw() -> None:
    """Everything below the query."""
    now = state.setup()
    made = state.compare(now) if now.query else None
    if made:
        _tools(now, made)
    clicked = playground(_data(now, made), KEY, {"turn": _turn, "judge": _judge, "look": _look, "keep": _keep})
    if clicked.adjust:
        adjusting.dialog(int(clicked.adjust.get("column", 0)))
    if clicked.open:
        st.switch_page("pages/documents.py", query_params={name: str(value) for name, value in clicked.open.items()})
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


def _data(now: Setup, made: Comparison | None) -> dict[str, Any]:
    choices = list(state.choices())
    shown = {
        "query": now.query,
        "most": MOST,
        "blind": now.blind and made is not None,
        "profiles": state.built_profiles(),
        "link": strict.digest(now, 10),
        "summary": "",
        "grades": {},
        "around": {},
        "pool": [],
        "legend": drawing.legend(made) if made else [],
    }
    if made is None:
        return {**shown, "columns": [drawing.head(column, n, choices) for n, column in enumerate(now.columns)]}
    held = state.held(now)
    hits = _hits(made)
    return {
        **shown,
        "columns": drawing.columns(made, held, choices) if not now.blind else _heads(now, choices),
        "summary": _summary(made),
        "grades": app().judging.grades(now.query, identity.me().name, list(hits.values())),
        "around": _around(made),
        "pool": _pool(now, made) if now.blind else [],
    }


def _heads(now: Setup, choices: list[str]) -> list[dict[str, Any]]:
    return [drawing.head(column, n, choices) for n, column in enumerate(now.columns)]


def _summary(made: Comparison) -> str:
    found = {hit.chunk for lane in made.lanes if lane.result for hit in lane.result.hits}
    columns = style.count(len(made.lanes), "column")
    return f"{style.count(len(found), 'passage')} in {columns}, {1000 * made.seconds:.0f} ms"


def _hits(made: Comparison) -> dict[str, Hit]:
    """Every hit of every column, by chunk."""
    return {hit.chunk: hit for lane in made.lanes if lane.result for hit in lane.result.hits}


def _pool(now: Setup, made: Comparison) -> list[dict[str, Any]]:
    held, lanes = state.held(now), [lane for lane in made.lanes if lane.result]
    seed = int(strict.digest(now.query, 8), 16)
    profile_of = {hit.chunk: lane.column.profile for lane in lanes for hit in lane.result.hits}  # type: ignore[union-attr]
    order = pool([lane.result.hits for lane in lanes if lane.result], seed)
    return [
        drawing.hit_view(replace(hit, rank=0), now.query, now.columns[0].config, held[profile_of[hit.chunk]], 420)
        for hit in order
    ]


def _around(made: Comparison) -> dict[str, dict[str, str]]:
    now, shown = state.setup(), {}
    held = state.held(now)
    for lane in made.lanes:
        for hit in lane.result.hits if lane.result else ():
            if hit.chunk in st.session_state.get(keys.LOOKED, []) and hit.chunk not in shown:
                shown[hit.chunk] = drawing.around(app().comparing.around(held[lane.column.profile], hit.chunk))
    return shown


# ---------------------------------------------------------------- what clicks do; each runs before the next drawing


def _said(event: str) -> Any:
    return (st.session_state.get(KEY) or {}).get(event)


def _turn() -> None:
    what = _said("turn")
    if what:
        acts.do_quietly(lambda _: state.turn(what))


def _judge() -> None:
    what, now = _said("judge"), state.setup()
    if not what or not now.query:
        return

    def judge(actor: Actor) -> None:
        hit = _hits(state.compare(now)).get(str(what["chunk"]))
        if hit:
            app().judging.judge(actor, now.query, hit, int(what["grade"]), blind=now.blind)

    acts.do_quietly(judge)


def _look() -> None:
    what = _said("look")
    if what:
        looked, chunk = list(st.session_state.get(keys.LOOKED, [])), str(what["chunk"])
        st.session_state[keys.LOOKED] = [one for one in looked if one != chunk] if chunk in looked else [*looked, chunk]


def _keep() -> None:
    if _said("keep"):
        acts.do_quietly(lambda _: state.keep(state.setup()))


def _blind() -> None:
    state.put(replace(state.setup(), blind=bool(st.session_state[keys.BLIND])))


def _tool() -> None:
    state.put(replace(state.setup(), tool=st.session_state[keys.TOOL] or ""))
