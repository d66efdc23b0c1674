"""Start-up: refuse a demo that other hosts could reach, then load what is slow."""

from __future__ import annotations

import gc
import logging
import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

import anyio
import streamlit as st

from core import logs
from core.errors import ConcordError
from core.settings import load
from pages.ui.server import listening

LOG = logging.getLogger("concord")
PAUSE = 5.0  # seconds between two tries to open the workspace

# Streamlit warns when its functions are called without a session; at start-up there is none yet.
NOISY = ("runtime.caching.cache_data_api", "runtime.scriptrunner_utils.script_run_context", "runtime.state")


def prepare() -> None:
    """What must happen before pages and routes are imported.

    Until all is warm there is nothing to collect: an eighth of the CPU.
    """
    gc.disable()
    for name in NOISY:
        logging.getLogger(f"streamlit.{name}").setLevel(logging.ERROR)
    logs.start(load().log)
    check_address()
    listening.keep_connections()
    listening.bound_messages()
    listening.raise_connections()
    st.navigation([lambda: None])  # else a deep link would run a file of pages/ without the frame


def check_address() -> None:
    """Refuse to start a demo that other hosts could reach."""
    if load().sign_in == "demo" and (reason := listening.refusal()):
        raise SystemExit(reason)


@asynccontextmanager
async def lifespan(_: st.App) -> AsyncIterator[None]:
    """Warm up before the first session; then serve, with the loops of the workspace behind it."""
    from pages.ui.server.routes import ASSISTANTS

    await anyio.to_thread.run_sync(warm_up)
    await anyio.to_thread.run_sync(welcome)
    ending = threading.Event()
    loops = threading.Thread(target=run_loops, args=(ending,), daemon=True)
    loops.start()
    if load().database:
        listening.leave_slowly()
    async with ASSISTANTS.running():
        yield
    ending.set()
    await anyio.to_thread.run_sync(loops.join, 10.0)


def welcome() -> None:
    """Print the way to the first admin, where people sign in with passwords and none can yet."""
    from pages.ui.workspace import current_app

    with suppress(ConcordError):  # the pages say why the workspace cannot be opened
        settings, page = current_app().settings, current_app().people.accounts.first_page()
        if settings.sign_in == "local" and page:
            here = settings.url.rstrip("/") or f"http://127.0.0.1:{st.get_option('server.port')}"
            print(f"Make the first admin, once: {here}{page}", flush=True)


def run_loops(ending: threading.Event) -> None:
    """What the workspace does by itself, until the app ends; one that cannot be opened is tried again."""
    from pages.ui.workspace import current_app

    while not ending.wait(PAUSE):
        try:
            background = current_app().platform.background
        except ConcordError:  # the pages say why
            continue
        except Exception:
            LOG.exception("The workspace could not be opened.")
            continue
        background.start()
        ending.wait()
        background.end()


def warm_up() -> None:
    """Imports, index, model and compiled loops; then freeze the heap: reruns cost 12 ms of CPU instead of 60."""
    import pandas  # type: ignore[import-untyped]  # noqa: F401

    from pages.ui.workspace import app

    try:
        app().platform.workspace.warm()
    except ConcordError as error:  # the pages say it too; whoever runs the app reads it here
        LOG.error("%s", error.at_terminal())
    gc.collect()
    gc.freeze()
    gc.enable()
