"""Messages that survive a rerun: queued in a callback, shown on the next draw."""

from __future__ import annotations

import streamlit as st

from core.entrypoints.programs import for_programs
from pages.ui import keys

_ICONS = {"success": ":material/check_circle:", "error": ":material/error:", "info": ":material/info:"}


def say(text: str, kind: str = "success") -> None:
    """Queue a message for the next draw."""
    st.session_state.setdefault(keys.FLASH, []).append((kind, text))


def show() -> None:
    """Show the queued messages, once."""
    for kind, text in st.session_state.pop(keys.FLASH, []):
        st.toast(plain(text), icon=_ICONS[kind], duration="long")


def refusal(error: Exception) -> str:
    """A typed error as a page says it: without commands of the terminal, which are of no use to whoever reads it.

    >>> refusal(ValueError("There is no index yet. Build it with: python -m core reindex"))
    'There is no index yet.'
    """
    return for_programs(str(error))


def address(email: str) -> str:
    """A mail address as text: elsewhere Markdown makes a link of it, which opens a mail program.

    >>> address("ann@example.org")
    '`ann@example.org`'
    """
    return f"`{email.replace('`', '')}`" if email else ""


def plain(text: str) -> str:
    """Escape Markdown, for names and titles in places that render it.

    >>> plain("CU*BASE [x](javascript:y) :red[z]")
    'CU\\\\*BASE \\\\[x\\\\](javascript\\\\:y) \\\\:red\\\\[z\\\\]'
    """
    return "".join(f"\\{c}" if c in "\\`*_{}[]<>#+!|~:$" else c for c in text)
