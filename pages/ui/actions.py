"""Actions that change something: run as the signed-in person, confirmed first where that matters, reported in one
sentence.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import streamlit as st

from core.access import Actor
from core.errors import ConcordError
from core.services.models.call_estimates import CallEstimate, total
from core.services.models.fitness import FEATURES
from pages.ui import dialogs, flash, identity


def do(action: Callable[[Actor], str]) -> None:
    """Run an action as the signed-in person; show what it says, or why it was refused."""
    try:
        flash.say(action(identity.me()))
    except ConcordError as error:
        flash.refuse(error)


def do_quietly(action: Callable[[Actor], object]) -> None:
    """Like `do`, but silent unless it was refused."""
    try:
        action(identity.me())
    except ConcordError as error:
        flash.refuse(error)


def after_estimate(what: str, calls: Sequence[CallEstimate], action: Callable[[Actor], str]) -> None:
    """Act at once where no language model is asked; else say first what that takes."""
    if not calls:
        do(action)
        st.rerun()
    unknown = not all(row.seconds for row in calls)
    confirm(
        f"{what} asks a language model. Go on?",
        [
            f"{total(calls)}.",
            *([] if len(calls) == 1 else [f"{FEATURES[row.purpose]}: {total([row])}." for row in calls]),
            *(["How long that takes is not known before the first call."] if unknown else []),
            "It stops when the month's budget is spent. What is done until then is kept.",
        ],
        "Start",
        action,
    )


@dialogs.dialog("Please confirm")
def confirm(what: str, will: list[str], yes: str, action: Callable[[Actor], str]) -> None:
    """Say what will happen; act on the second click."""
    identity.me()
    st.markdown(f"**{flash.plain(what)}**")
    for line in will:
        st.markdown(f"- {flash.plain(line)}")
    with st.container(horizontal=True, horizontal_alignment="right"):
        if st.button("Cancel", key="confirm_no"):
            st.rerun()
        if st.button(yes, type="primary", key="confirm_yes"):
            do(action)
            st.rerun()
