"""The address of a view: which document, change or tab the URL names."""

from __future__ import annotations

import streamlit as st

from pages.ui import keys

_TABS = (keys.TAB, keys.SIDE, keys.LOOK)


def show(**parameters: str) -> None:
    """Show another view of this page; its tabs start anew."""
    for tab in _TABS:
        st.session_state.pop(tab, None)
    st.query_params.from_dict(parameters)  # `clear` refuses while a tab is bound to the URL


def first_tab(tab: str, view: str) -> None:
    """Start on the first tab when another view opens, unless the URL names one: the last view's tab is not this one's."""
    seen = st.session_state.setdefault(keys.VIEWS, {})
    if seen.get(tab) != view and tab not in st.query_params:
        st.session_state.pop(tab, None)
    seen[tab] = view
