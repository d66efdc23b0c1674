"""Where is my document? Its ranks in each column."""

from __future__ import annotations

from dataclasses import replace

import streamlit as st

from core.errors import ConcordError
from core.services.playground.compare import Comparison
from core.services.playground.notebook import Setup
from core.services.playground.where import Diagnosis, PassageRanks
from pages.ui import flash, identity, keys, style
from pages.ui.playground import column_data, state
from pages.ui.workspace import app

_ICONS = {"found": ":material/check_circle:", "k": ":material/vertical_align_bottom:", "rerank": ":material/swap_vert:"}

_PASSAGES = 4


def draw(now: Setup, comparison: Comparison) -> None:
    """Choose a document; every column shows where it ranks and what would bring it in."""
    titles = {document.id: document.title for document in app().knowledge.documents.all()}
    names = sorted(titles, key=titles.__getitem__)
    st.selectbox(
        "Document",
        names,
        index=None,
        format_func=lambda name: f"{titles[name]} ({name})",
        placeholder="Choose the document that you expected",
        key=keys.EXPECTED,
        on_change=_chosen,
        label_visibility="collapsed",
    )
    if now.document not in titles:
        st.caption(
            "It tells whether the document is indexed, its rank in each leg, after fusion and after reranking, what cut it, and the smallest change that brings it in."
        )
        return
    for n, (column, cell) in enumerate(zip(now.columns, st.columns(len(now.columns), border=True), strict=True)):
        with cell:
            st.markdown(f"**{column_data.LETTERS[n]} · {flash.plain(column.title)}**")
            try:
                search = state.searches(now).get(column.profile)
                _show(
                    app().playground.locator.where(identity.me(), now.query, now.document, column, now.filters, search)
                )
            except ConcordError as error:
                st.warning(flash.plain(str(error)))


def _chosen() -> None:
    state.put(replace(state.setup(), document=st.session_state[keys.EXPECTED] or ""))


def _show(diagnosis: Diagnosis) -> None:
    icon = _ICONS.get(diagnosis.cut, ":material/search_off:")
    st.markdown(f"{icon} {flash.plain(diagnosis.sentence)}")
    if diagnosis.changes:
        first, *others = diagnosis.changes
        st.markdown(f"**Smallest change:** {flash.plain(first.sentence)}")
        for change in others[:2]:
            st.caption(f"Or: {flash.plain(change.sentence)}")
    elif diagnosis.cut not in ("found", "not indexed"):
        st.caption("No single knob brings it into the list.")
    for passage in diagnosis.ways[:_PASSAGES]:
        st.caption(f"**{flash.plain(' › '.join(passage.heading) or 'Beginning')}**  \n{_ranks(passage)}")
    if len(diagnosis.ways) > _PASSAGES:
        st.caption(f"and {style.count(len(diagnosis.ways) - _PASSAGES, 'passage')} further down")


def _ranks(passage: PassageRanks) -> str:
    places = {**passage.legs, "fused": passage.fused, "final": passage.final}
    return " · ".join(f"{name} {rank or '–'}" for name, rank in places.items())
