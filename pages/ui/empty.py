"""Empty states: an icon, a sentence that says why nothing is here, and room for the action that changes it."""

from __future__ import annotations

from typing import Any

import streamlit as st


def state(icon: str, title: str, sentence: str, key: str) -> Any:
    """Draw the box; use it in a `with` to add the action."""
    box = st.container(border=True, horizontal_alignment="center", key=key)
    with box:
        st.header(f":gray[:material/{icon}:] {title}", anchor=False, text_alignment="center")
        st.caption(sentence, text_alignment="center")
    return box
