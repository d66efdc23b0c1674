"""Whoever opens a page without being signed in is sent to sign in first, and back afterwards."""

from __future__ import annotations

from typing import Any
from urllib.parse import quote

import anyio
from starlette.requests import Request
from starlette.responses import RedirectResponse

from pages.ui.sign_in import cookies
from pages.ui.workspace import current_app

OPEN = ("/sign-in", "/sign-out", "/oauth2callback", "/api/", "/_stcore/", "/static/", "/media/", "/component/")


class SignInGate:
    """ASGI middleware for whole pages. The pages themselves ask again at every click."""

    def __init__(self, app: Any) -> None:
        self.app = app

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        request = Request(scope) if scope["type"] == "http" else None
        refused = request and _is_page(request) and not await anyio.to_thread.run_sync(_may_pass, request)
        answer = _to_sign_in(request) if request and refused else self.app
        await answer(scope, receive, send)


def _to_sign_in(request: Request) -> RedirectResponse:
    after = request.url.path + (f"?{request.url.query}" if request.url.query else "")
    return RedirectResponse(f"{cookies.at('/sign-in')}?next={quote(after, safe='')}", 303)


def _is_page(request: Request) -> bool:
    path = request.url.path.removeprefix(cookies.at("/").rstrip("/"))
    wants = request.headers.get("sec-fetch-dest") == "document" or "text/html" in request.headers.get("accept", "")
    return request.method in ("GET", "HEAD") and wants and not path.startswith(OPEN)


def _may_pass(request: Request) -> bool:
    app = current_app()
    return app.settings.sign_in == "demo" or cookies.found(app.people.sessions, request.cookies) is not None
