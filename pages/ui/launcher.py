"""Starts the app: `streamlit run pages/ui/launcher.py`. One process; slow things are loaded before the first visitor."""

from __future__ import annotations

import gc
import logging
import sys
import uuid
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from functools import cache
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

import anyio  # noqa: E402
import streamlit as st  # noqa: E402
from starlette.middleware import Middleware  # noqa: E402
from starlette.requests import Request  # noqa: E402
from starlette.responses import JSONResponse, Response  # noqa: E402
from starlette.routing import Route  # noqa: E402

for name in ("runtime.caching.cache_data_api", "runtime.scriptrunner_utils.script_run_context", "runtime.state"):
    logging.getLogger(f"streamlit.{name}").setLevel(logging.ERROR)  # there is no session yet, and that is fine

from core.access import Actor, allowed  # noqa: E402
from core.bootstrap import App  # noqa: E402
from core.errors import ConcordError  # noqa: E402
from core.services.accounts import may_demo  # noqa: E402
from core.services.comparing import to_json  # noqa: E402
from core.settings import load  # noqa: E402
from pages.ui import direct, flash  # noqa: E402
from pages.ui.components.search_view import answer, filters_from  # noqa: E402
from pages.ui.identity import refusal  # noqa: E402
from pages.ui.playground_parts import serving  # noqa: E402
from pages.ui.security import SecurityHeaders  # noqa: E402
from pages.ui.workspace import app as workspace  # noqa: E402

LOG = logging.getLogger("concord")


@cache
def opened() -> App:
    """The App of the pages, held here: asking Streamlit's cache for it takes a fiftieth of a search."""
    return workspace()


def check_address() -> None:
    """Refuse to start the demo where others could reach it."""
    address = str(st.get_option("server.address") or "")
    if load().sign_in == "demo" and not may_demo(address):
        raise SystemExit(refusal(address))


async def health(request: Request) -> JSONResponse:
    """Whether the app is up, and what it serves."""
    current = await anyio.to_thread.run_sync(opened)
    serving = current.shelf.current(current.preferences.production().profile)
    return JSONResponse(
        {
            "status": "ok",
            "generation": serving.number if serving else None,
            "commit": serving.commit if serving else None,
        }
    )


def _holder(request: Request) -> Actor | None:
    """Whoever the token of a request was made for."""
    return direct.holder(request.headers.get("authorization", "").removeprefix("Bearer ").strip(), opened().accounts)


async def find(request: Request) -> Response:
    """What the search box asks while somebody types: the same search as everywhere, drawn as the page draws it."""
    actor = _holder(request)
    if actor is None or not allowed(actor, "search"):
        return JSONResponse({"error": "This page is too old to search. Load it again."}, status_code=401)
    asked = request.query_params
    filters = filters_from(asked.getlist, asked.get("history") == "true")
    return await _answered(request, lambda: answer(opened(), asked.get("q", ""), filters))


async def _answered(request: Request, work: Callable[[], Any]) -> Response:
    """Work and its JSON in a thread, so that nobody else waits for them."""
    zipped = "gzip" in request.headers.get("accept-encoding", "")
    return await anyio.to_thread.run_sync(lambda: direct.packed(work(), zipped))


async def compare(request: Request) -> Response:
    """A playground by its link, for programs."""
    actor = _holder(request)
    if actor is None or not allowed(actor, "compare configurations"):
        return JSONResponse({"error": "This token is too old, or may not compare configurations."}, status_code=401)

    def answer() -> dict[str, Any]:
        setup = opened().notebook.opened(actor, request.query_params.get("link", ""))
        return to_json(opened().comparing.run(setup.query, setup.columns, setup.filters))

    try:
        return await _answered(request, answer)
    except ConcordError as error:
        return JSONResponse({"error": str(error)}, status_code=400)


async def playground(request: Request) -> Response:
    """What the playground's knobs ask while somebody moves them: ranked again from memory, drawn as the page draws it."""
    actor = _holder(request)
    if actor is None or not allowed(actor, "compare configurations"):
        return JSONResponse({"error": "This page is too old to compare. Load it again."}, status_code=401)
    try:
        asked = await request.json()
        return await _answered(request, lambda: serving.answer(asked))
    except (ConcordError, ValueError, TypeError, AttributeError) as error:
        return JSONResponse({"error": str(error)}, status_code=400)


def on_script_error(error: Exception) -> bool:
    """The typed error's own words; anything else is logged under a number that a person can quote."""
    if isinstance(error, ConcordError):
        st.error(flash.plain(str(error)))
        return True
    number = uuid.uuid4().hex[:8]
    LOG.error("error %s", number, exc_info=error)
    st.error(f"Something went wrong here. It was logged under the number {number}; the knowledge base is unharmed.")
    return True


def warm_up() -> None:
    """Imports, index, model and compiled loops; then the start-up heap is frozen, which makes every rerun cheaper."""
    import pandas  # noqa: F401

    opened().warm()
    gc.collect()
    gc.freeze()


@asynccontextmanager
async def lifespan(_: st.App) -> AsyncIterator[None]:
    """Warm up before the first session."""
    await anyio.to_thread.run_sync(warm_up)
    yield


check_address()
st.navigation([lambda: None])  # switches the discovery of pages/ off before the first session exists
app = st.App(
    ROOT / "streamlit_app.py",
    routes=[
        Route("/api/health", health),
        Route("/api/find", find),
        Route("/api/compare", compare),
        Route("/api/playground", playground, methods=["POST"]),
    ],
    middleware=[Middleware(SecurityHeaders)],
    lifespan=lifespan,
    on_script_error=on_script_error,
)
