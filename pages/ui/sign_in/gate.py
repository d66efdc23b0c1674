"""Whoever opens a page without being signed in is sent to sign in first, and back afterwards. Where the workspace cannot be
opened, everybody reads why."""

from __future__ import annotations

import logging
from typing import Any
from urllib.parse import quote

import anyio
from starlette.requests import Request
from starlette.responses import JSONResponse, RedirectResponse, Response

from core.errors import ConcordError
from core.settings import load
from pages.ui.sign_in import cookies, html
from pages.ui.workspace import current_app

LOG = logging.getLogger("concord")
IN_THE_LOG = "Whoever runs this app reads the reason in its log, and with: python -m core verify"
OPEN = (
    "/sign-in",
    "/sign-out",
    "/oauth2callback",
    "/unsubscribe",
    "/api/",
    "/mcp",
    "/_stcore/",
    "/static/",
    "/media/",
    "/component/",
)


class SignInGate:
    """ASGI middleware for whole pages. The pages themselves ask again at every click."""

    def __init__(self, app: Any) -> None:
        self.app = app

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        request = Request(scope)
        try:
            refused = _is_page(request) and not await anyio.to_thread.run_sync(_may_pass, request)
            await (_to_sign_in(request) if refused else self.app)(scope, receive, send)
        except ConcordError as error:  # our routes and this gate ask the workspace before they answer
            await _unusable(request, str(error))(scope, receive, send)


def _unusable(request: Request, problem: str) -> Response:
    """Why the workspace cannot be opened. Only a demo, which nobody else can reach, says it with paths and commands."""
    LOG.error("%s", problem)
    problem = problem if load().sign_in == "demo" else IN_THE_LOG
    if _path(request).startswith(("/api/", "/mcp")):
        return JSONResponse({"error": problem}, 503)
    return html.unusable(problem)


def _to_sign_in(request: Request) -> RedirectResponse:
    after = request.url.path + (f"?{request.url.query}" if request.url.query else "")
    return RedirectResponse(f"{cookies.at('/sign-in')}?next={quote(after, safe='')}", 303)


def _is_page(request: Request) -> bool:
    wants = request.headers.get("sec-fetch-dest") == "document" or "text/html" in request.headers.get("accept", "")
    return request.method in ("GET", "HEAD") and wants and not _path(request).startswith(OPEN)


def _path(request: Request) -> str:
    return request.url.path.removeprefix(cookies.at("/").rstrip("/"))


def _may_pass(request: Request) -> bool:
    app = current_app()
    return app.settings.sign_in == "demo" or cookies.found(app.people.sessions, request.cookies) is not None
