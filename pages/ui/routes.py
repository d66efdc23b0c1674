"""The server's own routes: health for load balancers, and what components and programs ask without a rerun."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import anyio
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from core.access import Actor, allowed
from core.bootstrap import App
from core.errors import ConcordError
from core.services.playground.compare import to_json
from pages.ui import direct
from pages.ui.components.search_view import answer, filters_from
from pages.ui.playground import serving
from pages.ui.workspace import app as workspace


@cache
def opened() -> App:
    """The App of the pages, kept here: asking Streamlit's cache for it takes a fiftieth of a search."""
    return workspace()


async def health(request: Request) -> Response:
    """Whether the app is up, and what it serves."""
    app = await anyio.to_thread.run_sync(opened)
    generation = app.index.generations.current(app.platform.settings.production().profile)
    return JSONResponse(
        {
            "status": "ok",
            "generation": generation.number if generation else None,
            "commit": generation.commit if generation else None,
        }
    )


async def find(request: Request) -> Response:
    """The search box while somebody types: the same search as everywhere, drawn as the page draws it."""
    if not _authorised(request, "search"):
        return _refused(401, "This page is too old to search. Load it again.")
    parameters = request.query_params
    filters = filters_from(parameters.getlist, parameters.get("history") == "true")
    return await _computed(request, lambda: answer(opened(), parameters.get("q", ""), filters))


async def compare(request: Request) -> Response:
    """A playground by its link, for programs."""
    actor = _authorised(request, "compare configurations")
    if not actor:
        return _refused(401, "This token is too old, or may not compare configurations.")

    def compared() -> dict[str, Any]:
        setup = opened().playground.notebook.opened(actor, request.query_params.get("link", ""))
        return to_json(opened().playground.comparer.run(setup.query, setup.columns, setup.filters))

    try:
        return await _computed(request, compared)
    except ConcordError as error:
        return _refused(400, str(error))


async def playground(request: Request) -> Response:
    """The playground's knobs while somebody moves them: ranked again from memory, drawn as the page draws it."""
    if not _authorised(request, "compare configurations"):
        return _refused(401, "This page is too old to compare. Load it again.")
    try:
        question = await request.json()
        return await _computed(request, lambda: serving.answer(question))
    except (ConcordError, ValueError, TypeError, AttributeError) as error:
        return _refused(400, str(error))


ROUTES = [
    Route("/api/health", health),
    Route("/api/find", find),
    Route("/api/compare", compare),
    Route("/api/playground", playground, methods=["POST"]),
]


def _authorised(request: Request, action: str) -> Actor | None:
    """The account that the request's token names, if its role allows the action."""
    token = request.headers.get("authorization", "").removeprefix("Bearer ").strip()
    actor = direct.holder(token, opened().people.accounts)
    return actor if actor and allowed(actor, action) else None


async def _computed(request: Request, work: Callable[[], Any]) -> Response:
    """The work and its JSON, in a thread, so that nobody else waits for them."""
    zipped = "gzip" in request.headers.get("accept-encoding", "")
    return await anyio.to_thread.run_sync(lambda: direct.packed(work(), zipped))


def _refused(status: int, reason: str) -> Response:
    return JSONResponse({"error": reason}, status_code=status)
