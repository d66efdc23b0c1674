"""Empty states: an icon, a sentence that says why nothing is here, and room for the action that changes it."""

from __future__ import annotations

from typing import Any

import streamlit as st

from core.access import allowed
from pages.ui import identity


def state(icon: str, title: str, sentence: str, key: str) -> Any:
    """Draw the box; use it in a `with` to add the action."""
    box = st.container(border=True, horizontal_alignment="center", key=key)
    with box:
        st.header(f":gray[:material/{icon}:] {title}", anchor=False, text_alignment="center")
        st.caption(sentence, text_alignment="center")
    return box


def no_index(why: str) -> None:
    """Say that there is no index; whoever can build one is led there."""
    builds = allowed(identity.me(), "see the index")
    then = "Build one, then come back." if builds else "An admin builds one on the Index page."
    with state("database_off", "There is no index yet", f"{why} {then}", "no_index"):
        if builds and st.button("Go to Index", icon=":material/database:"):
            st.switch_page("pages/index.py")
