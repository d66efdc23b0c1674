"""The Ask tool: an answer from one column's passages, with citations."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import streamlit as st

from core.access import Actor
from core.services.playground.compare import Comparison
from core.services.playground.notebook import Setup
from core.services.search.written_answers import PASSAGES, Reply
from core.types import Hit
from pages.ui import actions, flash, keys, passage_links
from pages.ui.components.listing import listing
from pages.ui.playground import column_data, state
from pages.ui.workspace import app


def draw(now: Setup, comparison: Comparison) -> None:
    """Choose a column, ask, show its answer."""
    hits_by_column = {
        n: outcome.result.hits
        for n, outcome in enumerate(comparison.outcomes)
        if outcome.result and outcome.result.hits
    }
    if not hits_by_column:
        st.info("No column found anything, so there is nothing to answer from.", icon=":material/quiz:")
        return
    names = {n: f"{column_data.LETTERS[n]} · {comparison.outcomes[n].column.title}" for n in hits_by_column}
    first = next(iter(hits_by_column))
    chosen = st.segmented_control(
        "Answer from", list(hits_by_column), format_func=names.__getitem__, default=first, key="ask_column"
    )
    n = chosen if chosen in hits_by_column else first
    st.button("Ask", icon=":material/quiz:", key="ask_go", on_click=_ask, args=(n, now.query, hits_by_column[n]))
    if reply := _replies().get(str(n)):
        _show(reply, _chunks(hits_by_column[n]))


def _replies() -> dict[str, Any]:
    """Answers of this run, by column; they may have cost money, so knobs and judgments do not discard them."""
    stored = st.session_state.get(keys.REPLIES) or {}
    return dict(stored["columns"]) if stored.get("run") == state.run_id() else {}


def _ask(n: int, query: str, hits: Sequence[Hit]) -> None:
    def ask(actor: Actor) -> None:
        reply = _plain(app().search.answerer.ask(actor, query, hits), hits)
        st.session_state[keys.REPLIES] = {"run": state.run_id(), "columns": {**_replies(), str(n): reply}}

    actions.do_quietly(ask)


def _plain(reply: Reply, hits: Sequence[Hit]) -> dict[str, Any]:
    by = f"Written by {reply.model}" + (f", ${reply.dollars:.4f}" if reply.dollars else "") + "." if reply.model else ""
    cited = [_citation(hit) for hit in reply.cited]
    withheld = [f"{statement.text} ({statement.why})" for statement in reply.withheld]
    return {
        **{"text": reply.text, "advice": reply.advice, "by": by, "cited": cited, "from": _chunks(hits)},
        "withheld": withheld,
    }


def _chunks(hits: Sequence[Hit]) -> list[str]:
    """The chunks an answer is written from."""
    return [hit.chunk for hit in hits[:PASSAGES]]


def _citation(hit: Hit) -> dict[str, Any]:
    place = passage_links.place(hit.doc, *hit.opens, hit.version)
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
        if reply["cited"]:
            listing(reply["cited"], "", key="ask_cited")
    if reply["withheld"]:
        with st.expander(
            f"Withheld, because its passages do not bear it out ({len(reply['withheld'])})", type="compact"
        ):
            for sentence in reply["withheld"]:
                st.caption(flash.plain(sentence))
    if reply["by"]:
        st.caption(flash.plain(reply["by"]))
