"""The foot of the sidebar: who is signed in, and the way out."""

from __future__ import annotations

import streamlit as st

from core.access import PERSON
from pages.ui import flash, identity, keys
from pages.ui.sign_in import cookies
from pages.ui.workspace import app


def draw() -> None:
    """Who is signed in, and the way out."""
    with st.sidebar.container(key="persona_box"):
        if app().settings.sign_in == "demo":
            _persona_switch()
        else:
            actor = identity.me()
            st.caption(f"{flash.plain(actor.name)} · {actor.role}")
            with st.container(horizontal=True, vertical_alignment="center", key="way_out"):
                _sign_out_form()


def _sign_out_form() -> None:
    """A real form: the route ends the session, takes the cookie away and leaves the app."""
    st.html(
        f'<form method="post" action="{cookies.at("/sign-out")}"><button class="plain-button">Sign out</button></form>'
    )


def _persona_switch() -> None:
    people = {
        account.id: account for account in app().people.accounts.all() if account.active and account.kind == PERSON
    }
    st.selectbox(
        "Demo: you act as",
        list(people),
        index=list(people).index(identity.me().id),
        format_func=lambda name: f"{people[name].name} · {people[name].role}",
        key=keys.PERSONA,
        persist_state="session",
        on_change=identity.clear,
        args=(keys.WORK,),
        help="This demo has no sign-in. Switch roles to see what each of them can do.",
    )
