"""Messages that survive a rerun: said in a callback, shown by the next page that draws."""

from __future__ import annotations

import streamlit as st

from pages.ui import keys

_ICONS = {"success": ":material/check_circle:", "error": ":material/error:", "info": ":material/info:"}


def say(text: str, kind: str = "success") -> None:
    """Keep a message for the next drawing."""
    st.session_state.setdefault(keys.FLASH, []).append((kind, text))


def show() -> None:
    """Show what was kept, once."""
    for kind, text in st.session_state.pop(keys.FLASH, []):
        st.toast(plain(text), icon=_ICONS[kind], duration="long")


def plain(text: str) -> str:
    """Text for places that read Markdown: every mark is escaped, so names and titles stay what they are.

    >>> plain("CU*BASE [x](javascript:y) :red[z]")
    'CU\\\\*BASE \\\\[x\\\\](javascript\\\\:y) \\\\:red\\\\[z\\\\]'
    """
    return "".join(f"\\{c}" if c in "\\`*_{}[]<>#+!|~:$" else c for c in text)
