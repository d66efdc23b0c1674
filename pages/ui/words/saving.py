"""Saving an edit of words: it goes into one's own open draft of that list, or into a new change."""

from __future__ import annotations

from collections.abc import Callable

import streamlit as st

from core.access import Actor
from core.services.reviews.authoring import Target
from core.services.reviews.changes import Change
from pages.ui import actions, flash, identity, keys
from pages.ui.workspace import app

Edit = Callable[[Actor, Target], Change]
BADGES = {"": "", "new": " :blue-badge[in your change]", "goes": " :orange-badge[goes with your change]"}


def propose(file: str, edit: Edit) -> bool:
    """Save as the signed-in person; say where it went, or why it was refused. Returns whether it was saved."""
    saved: list[int] = []

    def save(actor: Actor) -> str:
        saved.append(edit(actor, Target(app().words.rules.open_change(actor, file))).id)
        return f"Saved in change #{saved[0]}. Submit it when it is ready; search follows once it is merged."

    actions.do(save)
    return bool(saved)


def clicked(file: str, edit: Edit) -> None:
    """The same for a button."""
    propose(file, edit)


def waiting(number: int) -> None:
    """The way to a draft that has edits of this list."""
    if not number:
        return
    change = app().reviews.changes.show(identity.me(), number)
    with st.container(horizontal=True, vertical_alignment="center", key="words_waiting"):
        st.markdown(
            f":material/edit_note: Your edits are in **#{number} {flash.plain(change.title)}**.", width="stretch"
        )
        if st.button("Open the change", key="words_open", icon=":material/arrow_forward:"):
            st.switch_page("pages/reviews.py", query_params={keys.CHANGE: str(number)})


def fate(before: bool, after: bool) -> str:
    """What a change does to an entry: it is `new`, it `goes`, or ""."""
    if before and after:
        return ""
    return "new" if after else "goes"
