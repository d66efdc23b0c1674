"""Deliveries: what left by mail and webhooks, what waits and why, and where it goes. For admins."""

import streamlit as st

from pages.ui import identity, keys
from pages.ui.deliveries import log, webhooks

me = identity.require("see deliveries")
VIEWS = {"Log": log.draw, "Webhooks": webhooks.draw, "Mail": log.draw_mail}

st.title("Deliveries")
shown = st.segmented_control(
    "Show",
    list(VIEWS),
    key=keys.DELIVERIES_VIEW,
    default="Log",
    required=True,
    bind="query-params",
    label_visibility="collapsed",
)
VIEWS[shown or "Log"](me)
