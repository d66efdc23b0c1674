"""Where the app listens, and for how long it keeps a connection. A demo stays on this machine's own address."""

from __future__ import annotations

import streamlit as st
import uvicorn

from core.services.people.accounts import may_demo

KEPT = 125  # seconds: longer than nginx and AWS (60), Traefik (90) and Caddy (120) keep an idle connection to an app
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


def keep_connections(seconds: int = KEPT) -> None:
    """Let clients, not the server, end an idle connection.

    uvicorn closes one after 5 seconds, also while the next request is on its way, which then fails. Streamlit has no
    setting for it and has made the server's configuration when this file is imported, so the class answers for it.
    """
    kept = property(lambda config: seconds, lambda config, value: None)
    setattr(uvicorn.Config, "timeout_keep_alive", kept)  # noqa: B010 - a property in the place of a plain value
