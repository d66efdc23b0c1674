"""Account: what is one's own. Who one is here, access tokens, what comes by mail, and where one is signed in."""

import streamlit as st

from core.access import allowed
from pages.ui import actions, flash, identity, keys
from pages.ui.account import messages, sessions, tokens
from pages.ui.workspace import app

me = identity.require("manage their own account")
VIEWS = {"Sign-in": sessions.draw, "Messages": messages.draw, "Access tokens": tokens.draw}


def choose_analysis() -> None:
    yes = bool(st.session_state[keys.ANALYSIS])
    actions.do_quietly(lambda actor: app().people.accounts.see_analysis(actor, yes))


first = "Access tokens" if app().settings.sign_in == "demo" else "Sign-in"
st.title("Account")
st.container(key="address_me").caption(f"{flash.plain(me.name)} · {me.role} · {flash.address(me.email)}")
if allowed(me, "compare configurations"):
    st.session_state[keys.ANALYSIS] = identity.analyses(me)
    st.toggle(
        "Show Analysis: Playground, Graph, Evaluation, Tuning, chunks, and how a search ran",
        key=keys.ANALYSIS,
        on_change=choose_analysis,
    )
shown = st.segmented_control(
    "Show",
    list(VIEWS),
    key=keys.ACCOUNT_VIEW,
    default=first,
    required=True,
    bind="query-params",
    label_visibility="collapsed",
)
VIEWS[shown or first](me)
