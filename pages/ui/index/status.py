"""Which generation serves, whether it is current, and the buttons: rebuild, rebuild everything, verify."""

from __future__ import annotations

import streamlit as st

from core.access import Actor
from core.services.index.following import StoreState
from pages.ui import actions, style, vectors
from pages.ui.workspace import app


def draw() -> None:
    _draw_state()
    draw_store(app().index.following.state)
    _draw_buttons()


def _draw_state() -> None:
    state = app().knowledge.home.index_state()
    serving = state.serving
    if serving is None:
        st.warning(
            "There is no index yet, so nothing can be found. Rebuild to make one.", icon=":material/database_off:"
        )
    elif state.pinned:
        st.warning(
            f"Generation {serving.number} was rolled back to by hand and stays until the next rebuild.",
            icon=":material/history:",
        )
    elif state.behind:
        st.info(
            f"{style.count(state.behind, 'change')} cannot be found yet. Generation {serving.number} serves until"
            " then.",
            icon=":material/hourglass_top:",
        )
    elif serving.pending:
        vectors.draw()
    else:
        st.success(
            f"Generation {serving.number} serves the newest state: {style.count(serving.documents, 'document')},"
            f" {style.count(serving.chunks, 'passage')}.",
            icon=":material/check_circle:",
        )


def _draw_buttons() -> None:
    with st.container(horizontal=True):
        if st.button("Rebuild", icon=":material/sync:", type="primary", key="rebuild"):
            actions.confirm(
                "Make the newest state searchable?",
                [
                    "Only changed documents are read again; nothing is embedded twice.",
                    "Searches go on with the current generation until the new one is complete.",
                ],
                "Rebuild",
                rebuild,
            )
        if st.button("Rebuild everything", icon=":material/restart_alt:", key="rebuild_full"):
            actions.confirm(
                "Rebuild the whole index?",
                [
                    f"All {app().knowledge.home.overview().documents} documents are chunked again.",
                    "Vectors that are already known are reused.",
                    "Searches go on with the current generation until the new one is complete.",
                ],
                "Rebuild everything",
                rebuild_full,
            )
        if st.button("Verify", icon=":material/fact_check:", key="verify"):
            actions.do(verify)
            st.rerun()


def draw_store(store: StoreState | None) -> None:
    """Only what is wrong: that machines share the index needs no words."""
    if store and not store.usable:
        st.warning(
            f"The store has not answered since {style.moment(store.since)}. Searches go on with what is here; what"
            " others publish and what is merged comes when it answers again.",
            icon=":material/cloud_off:",
        )


def rebuild(actor: Actor) -> str:
    return f"Rebuild started as job {app().index.admin.rebuild(actor).id}."


def rebuild_full(actor: Actor) -> str:
    return f"Full rebuild started as job {app().index.admin.rebuild(actor, full=True).id}."


def verify(actor: Actor) -> str:
    return f"Verification started as job {app().index.admin.verify(actor).id}. The result appears under Jobs."
