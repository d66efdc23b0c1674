"""Which change an edit is saved in, and the save itself."""

from __future__ import annotations

from collections.abc import Callable

import streamlit as st

from core.access import Actor
from core.errors import ConcordError, Conflict
from core.services.reviews.authoring import Files, Target, my_open, save
from core.services.reviews.changes import Change
from pages.ui import flash, identity, keys
from pages.ui.workspace import app


def choose(key: str, title: str, base: str, me: Actor) -> Target:
    """A new change, or one of your own that is still open."""
    mine = {change.id: change for change in my_open(app().reviews.changes, me)}
    number = 0
    if mine:
        number = st.selectbox(
            "Save into",
            [0, *mine],
            format_func=lambda n: f"#{n} {mine[n].title}" if n else "A new change",
            key=f"{key}_target",
        )
    typed = "" if number else st.text_input("Title of the change", placeholder=title, max_chars=200, key=f"{key}_title")
    why = st.text_input("Why (optional)", key=f"{key}_why", placeholder="What reviewers should know")
    return Target(number, typed or title, why, "" if number else base)


def label(target: Target) -> str:
    """What the button says."""
    return f"Save in change #{target.change}" if target.change else "Save as a new change"


def _next_step(change: Change) -> str:
    """What somebody does after saving."""
    if change.state == "draft":
        return f"Saved in change #{change.id}. Submit it for review when it is ready."
    return f"Saved in change #{change.id}. Its reviewers look at the new text; earlier approvals no longer count."


def finish(target: Target, files: Callable[[], Files], done: Callable[[Actor], None] = lambda _: None) -> bool:
    """Save files as the signed-in person and open the change; returns whether others wrote the same lines."""
    return finish_with(lambda actor: save(app().reviews.changes, actor, target, files()), done)


def finish_with(saving: Callable[[Actor], Change], done: Callable[[Actor], None] = lambda _: None) -> bool:
    """Save as the signed-in person and open the change.

    A refusal is shown in its own words; a conflict returns True.
    """
    actor = identity.me()
    try:
        change = saving(actor)
    except ConcordError as error:
        st.error(flash.refused(error), icon=":material/error:")
        return isinstance(error, Conflict) and bool(error.paths)
    done(actor)
    flash.say(_next_step(change))
    st.switch_page("pages/reviews.py", query_params={keys.CHANGE: str(change.id)})
    return False
