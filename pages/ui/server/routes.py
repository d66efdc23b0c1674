"""HTTP routes: health for load balancers, the library of the editor, pictures, sign-in; and the doors for programs and
assistants.
"""

from __future__ import annotations

import logging
from functools import partial

import anyio
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from core.access import allowed
from core.bootstrap import App
from core.entrypoints.api import application
from core.entrypoints.api.operations import of_module
from core.entrypoints.api.service import served
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
        state = await anyio.to_thread.run_sync(lambda: served(current_app(), partial(_may_see, request)))
        return JSONResponse(state)
    except ConcordError as error:
        _LOG.error("The app is not healthy: %s", error.at_terminal())
    except Exception:
        _LOG.exception("The app is not healthy.")
    return JSONResponse({"status": "down"}, status_code=503)


def _may_see(request: Request, app: App) -> bool:
    token = request.headers.get("authorization", "").removeprefix("Bearer ").strip()
    account = direct.holder(token, app)
    return account is not None and allowed(account, "see the index")


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
