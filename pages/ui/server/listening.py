"""Where the app listens, how many connections it takes, for how long it keeps one, and how it ends.

A demo stays on this machine's own address.
"""

from __future__ import annotations

import asyncio
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from types import FrameType

import streamlit as st
import uvicorn

from core.services.people.accounts import may_demo

KEPT = 125  # seconds: longer than nginx and AWS (60), Traefik (90) and Caddy (120) keep an idle connection to an app
LEAVE = 3.0  # seconds in which a proxy notices that a node leaves: two looks and some
ENDED = 20.0  # seconds more in which requests that are under way may end; a proxy would cut them once nobody listens
LEAVING = threading.Event()  # a proxy sends nothing new, and what is under way ends well
UNDER_WAY: set[object] = set()  # requests, without the connections of tabs
_FAREWELL = ((b"connection", b"close"), (b"set-cookie", b"concord_node=; Max-Age=0; Path=/"))
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

    uvicorn closes one after 5 seconds, also while the next request is on its way, which then fails.
    """
    _configure("timeout_keep_alive", seconds)


def bound_messages() -> None:
    """Refuse a message of a tab that is larger than Streamlit takes before it is in memory, not after."""
    _configure("ws_max_size", int(st.get_option("server.maxWidgetStateSize")) * 1024 * 1024)


def leave_slowly(seconds: float = LEAVE) -> None:
    """Where a proxy spreads people over nodes: let it know for a moment that this one ends, before it ends.

    A second signal ends it at once.
    """
    stop, loop = signal.getsignal(signal.SIGTERM), asyncio.get_running_loop()

    def leave(number: int, frame: FrameType | None) -> None:
        if LEAVING.is_set():
            end(number, 0.0)
        else:
            LEAVING.set()
            loop.call_soon_threadsafe(loop.call_later, seconds, end, number, loop.time() + seconds + ENDED)

    def end(number: int, until: float) -> None:
        if UNDER_WAY and loop.time() < until:
            loop.call_later(0.1, end, number, until)
        elif callable(stop):
            stop(number, None)

    if callable(stop):
        signal.signal(signal.SIGTERM, leave)


@contextmanager
def under_way() -> Iterator[None]:
    """Somebody waits for an answer while the block lasts."""
    request = object()
    UNDER_WAY.add(request)
    try:
        yield
    finally:
        UNDER_WAY.discard(request)


def farewell() -> tuple[tuple[bytes, bytes], ...]:
    """Headers by which whoever is bound to a node that leaves goes to another one with the next request; none as long
    as it stays.
    """
    return _FAREWELL if LEAVING.is_set() else ()


def raise_connections() -> None:
    """Take as many connections as the system allows; the usual 1,024 are few for many open tabs."""
    with suppress(ImportError, OSError, ValueError):  # a system without such a limit
        import resource

        _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))


def _configure(name: str, value: int) -> None:
    """A setting of uvicorn for which Streamlit has none.

    Streamlit has made the server's configuration when this file is imported, so the class answers for it.
    """
    setattr(uvicorn.Config, name, property(lambda config: value, lambda config, given: None))
