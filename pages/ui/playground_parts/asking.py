"""Ask: an answer from one column's passages, with citations that lead there."""

from __future__ import annotations

import streamlit as st

from core.errors import ConcordError
from core.services.comparing import Comparison
from core.services.notebook import Setup
from pages.ui import flash, keys
from pages.ui.components.listing import listing
from pages.ui.playground_parts import drawing
from pages.ui.workspace import app


def draw(now: Setup, made: Comparison) -> None:
    """One column answers."""
    answering = [n for n, lane in enumerate(made.lanes) if lane.result and lane.result.hits]
    if not answering:
        st.info("No column found anything, so there is nothing to answer from.", icon=":material/quiz:")
        return
    names = {n: f"{drawing.LETTERS[n]} · {made.lanes[n].column.title}" for n in answering}
    n = st.segmented_control(
        "Answer from", answering, format_func=names.__getitem__, default=answering[0], key="ask_column"
    )
    result = made.lanes[n if n in answering else answering[0]].result
    if result is None or not st.button("Ask", icon=":material/quiz:", key="ask_go"):
        return
    try:
        reply = app().asking.ask(now.query, result.hits)
    except ConcordError as error:
        st.warning(flash.plain(str(error)))
        return
    if reply.advice:
        st.info(flash.plain(reply.advice), icon=":material/settings:")
    with st.container(border=True):
        st.text(reply.text)
        listing([_citation(hit) for hit in reply.cited], "", key="ask_cited")
    if reply.model:
        st.caption(
            flash.plain(f"Written by {reply.model}" + (f", ${reply.dollars:.4f}" if reply.dollars else "") + ".")
        )


def _citation(hit: object) -> dict[str, object]:
    heading = " › ".join(hit.heading)  # type: ignore[attr-defined]
    return {keys.DOC: hit.doc, "title": hit.title, "sub": heading, "right": f"version {hit.version}"}  # type: ignore[attr-defined]
