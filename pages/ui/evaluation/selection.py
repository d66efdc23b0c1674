"""The query set that Evaluation and Tuning work on, and the check that there is an index to ask."""

from __future__ import annotations

import streamlit as st

from core.access import allowed
from pages.ui import empty, identity, keys
from pages.ui.workspace import app, generation


def require_index() -> None:
    """Stop the page where there is no index, and say so."""
    if generation():
        return
    with empty.state(
        "database_off",
        "There is no index yet",
        "Questions are asked of an index. Build one, then come back.",
        "no_index",
    ):
        if allowed(identity.me(), "see the index") and st.button("Go to Index", icon=":material/database:"):
            st.switch_page("pages/index.py")
    st.stop()


def choose_query_set() -> str:
    """The name of the chosen query set; "" when there is none."""
    names = [queryset.name for queryset in app().evaluation.querysets.listed(identity.me())]
    if not names:
        return ""
    if st.session_state.get(keys.QUERYSET) not in names:
        st.session_state.pop(keys.QUERYSET, None)
    return str(
        st.selectbox(
            "Query set", names, key=keys.QUERYSET, width=280, bind="query-params", label_visibility="collapsed"
        )
    )
