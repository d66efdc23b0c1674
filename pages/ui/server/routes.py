"""HTTP routes: health for load balancers, the library of the editor, pictures, sign-in; and the doors for programs and assistants."""

from __future__ import annotations

import logging
from typing import Any

import anyio
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from core.access import Actor, allowed
from core.entrypoints.api import application
from core.entrypoints.api.operations import of_module
from core.entrypoints.mcp.endpoint import McpEndpoint
from core.errors import ConcordError
from core.settings import load
from pages.ui import pictures
from pages.ui.components import editor_view
from pages.ui.server import direct, operations, unsubscribe
from pages.ui.sign_in import cookies
from pages.ui.sign_in.routes import ROUTES as SIGN_IN
from pages.ui.workspace import current_app

_LOG = logging.getLogger(__name__)


async def health(request: Request) -> Response:
    """Whether the app is up; what it serves only for those who may see the index."""
    try:
        return JSONResponse(await anyio.to_thread.run_sync(lambda: _state(request)))
    except ConcordError as error:
        _LOG.error("The app is not healthy: %s", error)
    except Exception:
        _LOG.exception("The app is not healthy.")
    return JSONResponse({"status": "down"}, status_code=503)


def _state(request: Request) -> dict[str, Any]:
    app = current_app()
    generation = app.index.generations.current(app.platform.settings.production().profile)
    actor = _account(request)
    if actor is None or not allowed(actor, "see the index"):
        return {"status": "ok"}
    number, commit = (generation.number, generation.commit) if generation else (None, None)
    store = app.index.following.state
    return {"status": "ok", "generation": number, "commit": commit, **({"store": store.word} if store else {})}


def _account(request: Request) -> Actor | None:
    """The account that the request's token names."""
    token = request.headers.get("authorization", "").removeprefix("Bearer ").strip()
    return direct.holder(token, current_app())


async def codemirror(request: Request) -> Response:
    """The library of the editor, which browsers keep: its address changes with its content."""
    headers = {"Content-Encoding": "gzip", "Cache-Control": "public, max-age=31536000, immutable"}
    return Response(editor_view.bundle()[0], headers=headers, media_type="text/javascript")


ROUTES = [
    Route("/api/health", health),
    Route(editor_view.ROUTE, codemirror),
    *pictures.ROUTES,
    *unsubscribe.ROUTES,
    *SIGN_IN,
]

ASSISTANTS = McpEndpoint(lambda: current_app(), load().url, load().api_rate)
MOUNTS = [Route(cookies.at("/mcp"), ASSISTANTS)]  # with access tokens of its own
API = application.create(lambda: current_app(), load(), direct.holder, of_module(operations.__name__))
