"""Keys that work on every page: / and Ctrl+K go to the search box."""

from __future__ import annotations

import streamlit as st

from pages.ui.components import component


def mount() -> None:
    """Listen for the keys; on a page without a search box they open Search."""
    pressed = component("shortcuts")(key="shortcuts", data={}, height=1, on_search_change=lambda: None)
    if pressed.search:
        st.switch_page("pages/search.py")
