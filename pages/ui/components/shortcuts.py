"""Keys that work everywhere: / and Ctrl+K lead to the search."""

from __future__ import annotations

import streamlit as st

from pages.ui.components import component


def mount() -> None:
    """Listen. Where the page has no search box, the keys open the Search page."""
    pressed = component("shortcuts")(key="shortcuts", data={}, height=1, on_search_change=lambda: None)
    if pressed.search:
        st.switch_page("pages/search.py")
