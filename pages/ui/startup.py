"""Start-up: refuse a demo that other hosts could reach, then load what is slow."""

from __future__ import annotations

import gc
import logging
import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

import anyio
import streamlit as st

from core.errors import ConcordError
from core.services.jobs.crew import PAUSE
from core.settings import load
from pages.ui import listening

LOG = logging.getLogger("concord")
CALENDAR_PAUSE = 600  # seconds between two looks at the calendar
MINUTE = 60  # between two looks at what waits: whether the git remote is due
OUTBOX_PAUSE = 5  # seconds between two looks at the outbox
STORE_PAUSE = 1  # second between two looks at what other machines published

# Streamlit warns when its functions are called without a session; at start-up there is none yet.
NOISY = ("runtime.caching.cache_data_api", "runtime.scriptrunner_utils.script_run_context", "runtime.state")


def prepare() -> None:
    """What must happen before pages and routes are imported."""
    for name in NOISY:
        logging.getLogger(f"streamlit.{name}").setLevel(logging.ERROR)
    log_requests()
    check_address()
    listening.keep_connections()
    listening.bound_messages()
    listening.raise_connections()
    st.navigation([lambda: None])  # else a deep link would run a file of pages/ without the frame


def log_requests() -> None:
    """One line for each request of a program, on standard error."""
    log, lines = logging.getLogger("concord.api"), logging.StreamHandler()
    lines.setFormatter(logging.Formatter("%(asctime)s %(name)s %(message)s"))
    log.setLevel(logging.INFO)
    log.handlers, log.propagate = [lines], False


def check_address() -> None:
    """Refuse to start a demo that other hosts could reach."""
    if load().sign_in == "demo" and (reason := listening.refusal()):
        raise SystemExit(reason)


@asynccontextmanager
async def lifespan(_: st.App) -> AsyncIterator[None]:
    """Warm up before the first session; later look now and then whether a new day has begun, and what is to be sent."""
    from pages.ui.routes import ASSISTANTS

    await anyio.to_thread.run_sync(warm_up)
    await anyio.to_thread.run_sync(welcome)
    ending = threading.Event()
    works = (send_messages, tend_workers, follow, follow_store)
    threads = [threading.Thread(target=work, args=(ending,), daemon=True) for work in works]
    for thread in threads:
        thread.start()
    async with ASSISTANTS.running(), anyio.create_task_group() as tasks:
        tasks.start_soon(every_day)
        tasks.start_soon(every_minute)
        yield
        tasks.cancel_scope.cancel()
    ending.set()
    for thread in threads:
        await anyio.to_thread.run_sync(thread.join, 5.0)  # what is under way is written down, if it is quick


def welcome() -> None:
    """Print the way to the first admin, where people sign in with passwords and none can yet."""
    from pages.ui.workspace import current_app

    with suppress(ConcordError):  # the pages say why the workspace cannot be opened
        settings, page = current_app().settings, current_app().people.accounts.first_page()
        if settings.sign_in == "local" and page:
            print(f"Make the first admin, once: {settings.url.rstrip('/')}{page}", flush=True)


def send_messages(ending: threading.Event) -> None:
    """Work off the outbox until the app ends."""
    from pages.ui.workspace import current_app

    while not ending.wait(OUTBOX_PAUSE):
        try:
            sender = current_app().deliveries.sender
            sender.stopping = ending
            sender.run()
        except ConcordError as error:
            LOG.error("Messages were not sent: %s", error)
        except Exception:  # the app serves on, and the next look tries again
            LOG.exception("Messages were not sent.")


def tend_workers(ending: threading.Event) -> None:
    """Look after the workers until the app ends."""
    from pages.ui.workspace import current_app

    while not ending.wait(PAUSE):
        try:
            current_app().platform.jobs.tend()
        except ConcordError as error:
            LOG.error("The workers were not looked after: %s", error)
        except Exception:  # the app serves on, and the next look tries again
            LOG.exception("The workers were not looked after.")


def follow(ending: threading.Event) -> None:
    """What other nodes write, until the app ends."""
    from pages.ui.workspace import current_app

    with suppress(ConcordError):  # the pages say why the workspace cannot be opened
        current_app().platform.follower.run(ending)


def follow_store(ending: threading.Event) -> None:
    """Serve what other machines publish, until the app ends; nothing to do without a store."""
    from pages.ui.workspace import current_app

    if not load().store:
        return
    while not ending.wait(STORE_PAUSE):
        try:
            current_app().index.following.tick()
        except ConcordError as error:
            LOG.error("The store was not followed: %s", error)
        except Exception:  # the app serves on, and the next look tries again
            LOG.exception("The store was not followed.")
    current_app().index.following.stop()


async def every_day() -> None:
    """The work of each day, soon after midnight."""
    from pages.ui.workspace import app

    while True:
        await anyio.sleep(CALENDAR_PAUSE)
        try:
            await anyio.to_thread.run_sync(app().platform.daily.run)
        except Exception:  # the app serves on, and the next look tries again
            LOG.exception("The work of the day failed.")


async def every_minute() -> None:
    """What is tried again after a while, commits that were made elsewhere, and what a node that died left to do."""
    from pages.ui.workspace import app

    while True:
        await anyio.sleep(MINUTE)
        try:
            await anyio.to_thread.run_sync(app().platform.memory.relieve)
            await anyio.to_thread.run_sync(app().remote.remotes.tick)
            await anyio.to_thread.run_sync(app().platform.workspace.catch_up)
        except Exception:  # the app serves on, and the next look tries again
            LOG.exception("The look at what waits failed.")


def warm_up() -> None:
    """Imports, index, model and compiled loops; then freeze the heap: reruns cost 12 ms of CPU instead of 60."""
    import pandas  # type: ignore[import-untyped]  # noqa: F401

    from pages.ui.workspace import app

    try:
        app().platform.workspace.warm()
    except ConcordError as error:  # the pages say it too; whoever runs the app reads it here
        LOG.error("%s", error)
    gc.collect()
    gc.freeze()
