"""Questions that people asked and found no answer to, with the ways to close them."""

from __future__ import annotations

import streamlit as st

from core.access import Actor, allowed
from core.services.knowledge.gaps import Gap
from pages.ui import actions, flash, keys, style
from pages.ui.documents import draft
from pages.ui.workspace import app

SHOWN = 5


def draw(me: Actor) -> None:
    """The newest questions without an answer, for those who write."""
    if not allowed(me, "see reported gaps"):
        return
    gaps = app().knowledge.gaps.open(me)
    if not gaps:
        return
    st.header("Questions without an answer")
    for gap in gaps[:SHOWN]:
        _gap(gap, me)
    if len(gaps) > SHOWN:
        st.caption(f"And {style.count(len(gaps) - SHOWN, 'older question')}.")


def _gap(gap: Gap, me: Actor) -> None:
    with st.container(horizontal=True, vertical_alignment="center", gap="small", key=f"gap_{gap.id}"):
        with st.container(width="stretch", gap=None):
            st.markdown(flash.plain(gap.query))
            st.caption(" · ".join(flash.plain(part) for part in (gap.who, style.moment(gap.created), gap.note) if part))
        if st.button("Write it", key=f"write_{gap.id}", icon=":material/edit:", help="A new document that answers it"):
            draft.begin_with(me, gap.query)
            st.switch_page("pages/documents.py", query_params={keys.DO: "new"})
        st.button(
            "Answered",
            key=f"answered_{gap.id}",
            type="tertiary",
            icon=":material/check:",
            help="A document answers it now",
            on_click=actions.do,
            args=(lambda actor: _close(actor, gap.id),),
        )


def _close(actor: Actor, number: int) -> str:
    app().knowledge.gaps.close(actor, number)
    return "The question is answered."
