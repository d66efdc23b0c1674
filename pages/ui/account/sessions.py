"""Where somebody is signed in: their own on Account, everybody's on Accounts."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from core.access import Actor
from core.services.people.sessions import Session
from pages.ui import actions, flash, identity, style
from pages.ui.workspace import app


def draw(me: Actor) -> None:
    """One's own sessions, with a way to end them, and one's own password."""
    if app().settings.sign_in == "demo":
        st.caption("The demo has no sign-in: choose who you are at the foot of the menu.")
        return
    current, sessions = identity.session(), app().people.sessions.all(me, me.id)
    listing(sessions, current[0].id if current else 0)
    if len(sessions) > 1:
        st.button("End all others", on_click=end_others, key="end_others", icon=":material/logout:")
    if app().settings.sign_in == "local":
        _password()


def _password() -> None:
    with (
        st.expander("Change your password", icon=":material/key:", type="compact"),
        st.form("own_password", border=False, clear_on_submit=True),
    ):
        st.text_input("Current password", type="password", key="own_current", autocomplete="current-password")
        st.text_input("New password", type="password", key="own_new", autocomplete="new-password")
        st.form_submit_button("Change it", on_click=_change_password)


def _change_password() -> None:
    current, new = (str(st.session_state.get(key) or "") for key in ("own_current", "own_new"))
    here = identity.session()

    def change(actor: Actor) -> str:
        app().people.accounts.change_password(actor, current, new, here[0].id if here else 0)
        return "Your password is changed. Everywhere else you are signed out."

    actions.do(change)


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
