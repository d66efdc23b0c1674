"""Account: what is one's own. Who one is here, access tokens, what comes by mail, and where one is signed in."""

import streamlit as st

from pages.ui import flash, identity, keys, sessions
from pages.ui.account import messages, tokens

me = identity.require("manage their own account")
VIEWS = {"Access tokens": tokens.draw, "Messages": messages.draw, "Sign-in": sessions.draw}

st.title("Account")
st.caption(f"{flash.plain(me.name)} · {me.role} · {flash.address(me.email)}")
shown = st.segmented_control(
    "Show",
    list(VIEWS),
    key=keys.ACCOUNT_VIEW,
    default="Access tokens",
    required=True,
    bind="query-params",
    label_visibility="collapsed",
)
VIEWS[shown or "Access tokens"](me)
