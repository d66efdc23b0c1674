"""Messages that survive a rerun: queued in a callback, shown on the next draw."""

from __future__ import annotations

import streamlit as st

from core.access import ANYBODY, SYSTEM, Actor, reader
from core.entrypoints import refusals
from core.errors import ConcordError
from pages.ui import keys

_ICONS = {"success": ":material/check_circle:", "error": ":material/error:", "info": ":material/info:"}


def say(text: str, kind: str = "success") -> None:
    """Queue a message for the next draw."""
    _queue(plain(text), kind)


def refuse(error: ConcordError) -> None:
    """Queue a refusal, with a link to what helps."""
    _queue(refused(error), "error")


def _queue(markdown: str, kind: str) -> None:
    st.session_state.setdefault(keys.FLASH, []).append((kind, markdown))


def show() -> None:
    """Show the queued messages, once."""
    for kind, text in st.session_state.pop(keys.FLASH, []):
        st.toast(text, icon=_ICONS[kind], duration="long")


def refusal(error: Exception) -> str:
    """A typed error as text, with the next step of whoever is signed in.

    >>> refusal(ValueError("The text is too long."))
    'The text is too long.'
    """
    return refusals.in_words(error, _me()) if isinstance(error, ConcordError) else str(error)


def refused(error: Exception) -> str:
    """A typed error in Markdown: what helps is a link to the page where it is done, or names the role to ask.

    >>> from core.cures import restore, reindex
    >>> from core.access import Actor, reading_as
    >>> with reading_as(Actor("ann", "Ann", "ann@example.org", "admin")):
    ...     refused(ConcordError("There is no index yet.", reindex()))
    ...     refused(ConcordError("It is damaged.", restore()))
    'There is no index yet. [Build the index](/index)'
    'It is damaged. Move the workspace away and restore a backup with: `python -m core restore DIR`'
    """
    if not isinstance(error, ConcordError) or error.cure is None:
        return plain(str(error))
    cure, me = error.cure, _me()
    if not refusals.can(me, cure):
        return plain(refusals.in_words(error, me))
    if place := refusals.address(cure):
        return f"{plain(error.message)} [{plain(cure.does)}]({place})"
    return f"{plain(error.message)} {plain(cure.does)}{f' with: `{cure.command}`' if cure.command else '.'}"


def _me() -> Actor:
    """Who is signed in; before the sign-in somebody without a role."""
    return ANYBODY if reader() is SYSTEM else reader()


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
