"""HTTP routes: health for load balancers, and what components and programs call without a rerun."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import anyio
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from core.access import Actor, require
from core.errors import ConcordError, Refused
from core.services.playground.compare import to_json
from pages.ui import direct
from pages.ui.components.search_view import answer, filters_from
from pages.ui.playground import view_data
from pages.ui.sign_in.routes import ROUTES as SIGN_IN
from pages.ui.workspace import current_app


async def health(request: Request) -> Response:
    """Whether the app is up, and what it serves."""
    try:
        app = await anyio.to_thread.run_sync(current_app)
        generation = app.index.generations.current(app.platform.settings.production().profile)
    except ConcordError as error:
        return _refused(503, str(error))
    return JSONResponse(
        {
            "status": "ok",
            "generation": generation.number if generation else None,
            "commit": generation.commit if generation else None,
        }
    )


async def find(request: Request) -> Response:
    """The search box as the user types: the same results as the page."""
    if isinstance(actor := _authorised(request, "search"), Response):
        return actor
    parameters = request.query_params
    filters = filters_from(parameters.getlist, parameters.get("history") == "true")
    return await _computed(request, lambda: answer(current_app(), parameters.get("q", ""), filters))


async def compare(request: Request) -> Response:
    """A playground by its link, for programs."""
    actor = _authorised(request, "compare configurations")
    if isinstance(actor, Response):
        return actor

    def compared() -> dict[str, Any]:
        setup = current_app().playground.notebook.opened(actor, request.query_params.get("link", ""))
        return to_json(current_app().playground.comparer.run(actor, setup.query, setup.columns, setup.filters))

    try:
        return await _computed(request, compared)
    except ConcordError as error:
        return _refused(400, str(error))


async def playground(request: Request) -> Response:
    """The playground's knobs as they move: ranked from the cache."""
    actor = _authorised(request, "compare configurations")
    if isinstance(actor, Response):
        return actor
    try:
        body = await request.json()
        return await _computed(request, lambda: view_data.update(actor, body))
    except (ConcordError, ValueError, TypeError, AttributeError) as error:
        return _refused(400, str(error))


ROUTES = [
    Route("/api/health", health),
    Route("/api/find", find),
    Route("/api/compare", compare),
    Route("/api/playground", playground, methods=["POST"]),
    *SIGN_IN,
]


def _authorised(request: Request, action: str) -> Actor | Response:
    """The account that the request's token names, if its role allows the action; else the refusal."""
    token = request.headers.get("authorization", "").removeprefix("Bearer ").strip()
    actor = direct.holder(token, current_app())
    if actor is None:
        return _refused(401, "There is no token, or it is too old. Load the page again.")
    try:
        require(actor, action)
    except Refused as error:
        return _refused(403, str(error))
    return actor


async def _computed(request: Request, work: Callable[[], Any]) -> Response:
    """The result of `work` as JSON; both in a thread, so that other requests do not wait."""
    zipped = "gzip" in request.headers.get("accept-encoding", "")
    return await anyio.to_thread.run_sync(lambda: direct.packed(work(), zipped))


def _refused(status: int, reason: str) -> Response:
    return JSONResponse({"error": reason}, status_code=status)
