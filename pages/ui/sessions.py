"""Where somebody is signed in: their own in a dialog, everybody's on the Accounts page."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from core.services.people.sessions import Session
from pages.ui import actions, flash, identity, style
from pages.ui.workspace import app


@st.dialog("Your sessions", width="medium")
def mine() -> None:
    """One's own sessions, with a way to end them."""
    me, current = identity.me(), identity.session()
    sessions = app().people.sessions.all(me, me.id)
    listing(sessions, current[0].id if current else 0)
    if len(sessions) > 1:
        st.button("End all others", on_click=end_others, key="end_others", icon=":material/logout:")
    flash.show()


def listing(sessions: Sequence[Session], current: int) -> None:
    """A line for each: device, when it was last used, and a button that ends it."""
    for session in sessions:
        with st.container(horizontal=True, vertical_alignment="center", key=f"session_{session.id}"):
            with st.container(width="stretch", gap="xxsmall"):
                here = " :green-badge[This one]" if session.id == current else ""
                st.markdown(f"**{flash.plain(session.device)}**{here}")
                st.caption(f"Last seen {style.moment(session.seen)} · since {style.moment(session.created)}")
            if session.id != current:
                st.button("End", key=f"end_{session.id}", on_click=end, args=(session.id,))


def end(number: int) -> None:
    actions.do(lambda actor: f"The session on {app().people.sessions.end(actor, number).device} has ended.")


def end_others() -> None:
    current = identity.session()
    keep = current[0].id if current else 0
    actions.do(lambda actor: f"{style.count(app().people.sessions.end_all(actor, actor.id, keep), 'session')} ended.")
