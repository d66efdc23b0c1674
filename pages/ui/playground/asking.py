"""Ask: an answer from one column's passages, with citations that lead there."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import streamlit as st

from core.access import Actor
from core.services.playground.answers import PASSAGES, Reply
from core.services.playground.compare import Comparison
from core.services.playground.notebook import Setup
from core.types import Hit
from pages.ui import actions, flash, keys, passage_links
from pages.ui.components.listing import listing
from pages.ui.playground import drawing, state
from pages.ui.workspace import app


def draw(now: Setup, made: Comparison) -> None:
    """One column answers."""
    found = {n: lane.result.hits for n, lane in enumerate(made.lanes) if lane.result and lane.result.hits}
    if not found:
        st.info("No column found anything, so there is nothing to answer from.", icon=":material/quiz:")
        return
    names = {n: f"{drawing.LETTERS[n]} · {made.lanes[n].column.title}" for n in found}
    first = next(iter(found))
    chosen = st.segmented_control(
        "Answer from", list(found), format_func=names.__getitem__, default=first, key="ask_column"
    )
    n = chosen if chosen in found else first
    st.button("Ask", icon=":material/quiz:", key="ask_go", on_click=_ask, args=(n, now.query, found[n]))
    if reply := _replies().get(str(n)):
        _show(reply, _chunks(found[n]))


def _replies() -> dict[str, Any]:
    """What was answered in this run, by column: paid for, so neither a knob nor a judgment throws it away."""
    kept = st.session_state.get(keys.REPLIES) or {}
    return dict(kept["columns"]) if kept.get("run") == state.run_id() else {}


def _ask(n: int, query: str, hits: Sequence[Hit]) -> None:
    def ask(actor: Actor) -> None:
        reply = _plain(app().playground.answerer.ask(actor, query, hits), hits)
        st.session_state[keys.REPLIES] = {"run": state.run_id(), "columns": {**_replies(), str(n): reply}}

    actions.do_quietly(ask)


def _plain(reply: Reply, hits: Sequence[Hit]) -> dict[str, Any]:
    by = f"Written by {reply.model}" + (f", ${reply.dollars:.4f}" if reply.dollars else "") + "." if reply.model else ""
    cited = [_citation(hit) for hit in reply.cited]
    return {"text": reply.text, "advice": reply.advice, "by": by, "cited": cited, "from": _chunks(hits)}


def _chunks(hits: Sequence[Hit]) -> list[str]:
    """What an answer is made from."""
    return [hit.chunk for hit in hits[:PASSAGES]]


def _citation(hit: Hit) -> dict[str, Any]:
    place = passage_links.place(hit.doc, hit.start, hit.end, hit.version)
    what = {"title": hit.title, "sub": " › ".join(hit.heading), "right": f"version {hit.version}"}
    return {keys.DOC: hit.doc, "place": place, **what}


def _show(reply: Mapping[str, Any], chunks: Sequence[str]) -> None:
    if reply["from"] != chunks:
        st.caption(
            "This answers from what the column found before it changed. Ask again to answer from what it finds now."
        )
    if reply["advice"]:
        st.info(flash.plain(reply["advice"]), icon=":material/settings:")
    with st.container(border=True):
        st.text(reply["text"])
        listing(reply["cited"], "", key="ask_cited")
    if reply["by"]:
        st.caption(flash.plain(reply["by"]))
