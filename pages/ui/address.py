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


def name(key: str) -> None:
    """Let the URL name what was chosen in a widget. For its `on_change`: a page that writes while it is drawn adds a
    step
    to the history, and Back then leads to the page before with this page's parameters."""
    if (chosen := st.session_state[key]) is None:
        st.query_params.pop(key, None)
    else:
        st.query_params[key] = str(chosen)


def follow(key: str) -> None:
    """Forget what was chosen in a widget when the URL names something else, as after Back."""
    seen, named = st.session_state.setdefault(keys.VIEWS, {}), st.query_params.get(key, "")
    if seen.get(key, named) != named and st.session_state.get(key) != named:
        st.session_state.pop(key, None)
    seen[key] = named


def first_tab(tab: str, view: str) -> None:
    """Start on the first tab when another view opens, unless the URL names one: the last view's tab is not
    this one's.
    """
    seen = st.session_state.setdefault(keys.VIEWS, {})
    if seen.get(tab) != view and tab not in st.query_params:
        st.session_state.pop(tab, None)
    seen[tab] = view
