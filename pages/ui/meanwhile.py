"""A field that was filled with a text which another tab or another person changed meanwhile."""

from __future__ import annotations

import streamlit as st


def say(key: str, now: str) -> None:
    """Show what was saved since the field was filled. Call it before the field is drawn."""
    if key not in st.session_state:
        st.session_state[f"{key}_filled"] = now
    if now not in (st.session_state[f"{key}_filled"], st.session_state.get(key)):
        st.info("This was changed meanwhile, in another tab or by another person. *Keep* replaces it:")
        st.code(now, language=None, wrap_lines=True)
    st.session_state[f"{key}_shown"] = now


def shown(key: str) -> str:
    """The saved text that was on the page last: a save names it, so that it replaces no other."""
    return str(st.session_state[f"{key}_shown"])
