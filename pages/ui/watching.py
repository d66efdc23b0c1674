"""The button that begins or ends watching a document, a folder or a question."""

from __future__ import annotations

import streamlit as st

from core.access import Actor
from pages.ui import actions
from pages.ui.workspace import app


def button(me: Actor, kind: str, what: str, key: str) -> None:
    """Watch, or stop watching; what is watched says so."""
    watches = {(watch.kind, watch.what): watch.id for watch in app().inbox.watches.listed(me)}
    number = watches.get((kind, what), 0)
    st.button(
        "Watching" if number else "Watch",
        key=key,
        icon=":material/visibility:" if number else ":material/visibility_off:",
        help="Press to hear no more about it" if number else "A message in your inbox when it changes",
        on_click=actions.do,
        args=(lambda actor: toggle(actor, kind, what, number),),
    )


def toggle(actor: Actor, kind: str, what: str, number: int = 0) -> str:
    """Begin, or end the watch with this number."""
    if number:
        app().inbox.watches.stop(actor, number)
        return "You will not hear about it any more."
    app().inbox.watches.watch(actor, kind, what)
    return "You will hear about it in your inbox."
