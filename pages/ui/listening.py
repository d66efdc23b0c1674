"""Where the app listens. A demo lets everybody act as anybody, so it stays on this machine's own address."""

from __future__ import annotations

import streamlit as st

from core.services.people.accounts import may_demo

DEMO_ADDRESS = (
    "The demo lets everybody act as anybody, so it only runs on this machine's own address, not on {address}. "
    "Start it with: make run, or give people accounts and set CONCORD_SIGN_IN to local or oidc."
)


def refusal() -> str:
    """Why a demo does not run on the address that a flag, the environment or config.toml set; "" where it may.

    Without any address Streamlit listens on all of them.
    """
    address = str(st.get_option("server.address") or "")
    return "" if may_demo(address) else DEMO_ADDRESS.format(address=address or "all addresses")
