"""Who is here. The first line of every page is `me = require(action)`; callbacks ask again."""

from __future__ import annotations

import streamlit as st

from core.access import Actor, allowed
from core.services import accounts
from pages.ui import keys


def me() -> Actor:
    """The person behind this session. The demo lets everybody be anybody, where nobody else can reach it."""
    return accounts.demo(st.session_state.get(keys.PERSONA, "admin"))


def require(action: str) -> Actor:
    """The person, if the role allows the action; else a page that says so, and nothing more."""
    address = str(st.get_option("server.address") or "")
    if not accounts.may_demo(address):
        st.error(refusal(address))
        st.stop()
    actor = me()
    if not allowed(actor, action):
        st.title("Not for this role")
        st.info(
            f"{actor.name} is signed in as {actor.role}. Ask an admin, or go back to the search.",
            icon=":material/lock:",
        )
        st.stop()
    return actor


def refusal(address: str) -> str:
    """Why the demo does not run here."""
    return (
        f"The demo lets everybody act as anybody, so it only runs on this machine's own address, not on {address or 'all addresses'}. "
        "Start it with: make run"
    )


def persona_switch() -> None:
    """The demo's switch, at the foot of the sidebar."""
    with st.sidebar.container(key="persona_box"):
        st.selectbox(
            "Demo: you act as",
            [actor.id for actor in accounts.DEMO],
            index=[actor.id for actor in accounts.DEMO].index(me().id),
            format_func=lambda name: f"{accounts.demo(name).name} · {accounts.demo(name).role}",
            key=keys.PERSONA,
            persist_state="session",
            help="This demo has no sign-in. Switch roles to see what each of them can do.",
        )
