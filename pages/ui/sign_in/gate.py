"""Whoever opens a page without being signed in is sent to sign in first, and back afterwards; so is a tab that
connects.
Where the workspace cannot be opened, everybody reads why."""

from __future__ import annotations

import logging
from typing import Any
from urllib.parse import quote

import anyio
from starlette.requests import HTTPConnection, Request
from starlette.responses import JSONResponse, PlainTextResponse, RedirectResponse, Response
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg

from core.errors import ConcordError
from core.settings import load
from pages.ui import batches
from pages.ui.server import uploaded
from pages.ui.sign_in import cookies, html
from pages.ui.sign_in.tabs import DEMO, RELOADED, Tabs
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
FILES = "/media/"  # Streamlit gives them to whoever knows their address


class SignInGate:
    """ASGI middleware for whole pages and the websockets of tabs. The pages themselves ask again at every click."""

    def __init__(self, app: Any) -> None:
        self.app, self.tabs = app, Tabs(load().tabs)

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] == "websocket":
            await self._tab(scope, receive, send)
            return
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        request = Request(scope)
        try:
            answer = await (self._page(request) if _is_page(request) else _file(request))
            await (answer or self.app)(scope, receive, send)
        except ConcordError as error:  # our routes and this gate ask the workspace before they answer
            await _unusable(request, error.at_terminal())(scope, receive, send)

    async def _page(self, request: Request) -> Response | None:
        """What somebody gets in the place of a page; None where the page is for them."""
        account = await anyio.to_thread.run_sync(_visitor, request)
        if account is None:
            return _to_sign_in(request)
        return None if self.tabs.room(account) else html.many_tabs(self.tabs.most)

    async def _tab(self, scope: Any, receive: Any, send: Any) -> None:
        """A tab of somebody who is signed in.

        Nothing is kept for anybody else: their tab is told to load its page again.
        """
        try:
            account = await anyio.to_thread.run_sync(_visitor, HTTPConnection(scope))
        except ConcordError as error:
            LOG.error("%s", error.at_terminal())
            await send({"type": "websocket.close", "code": 1011})
            return
        if account is None:
            await _load_again(scope, receive, send)
        elif not self.tabs.room(account, RELOADED):
            await send({"type": "websocket.close", "code": 1008})
        else:
            try:
                with self.tabs.opened(account, receive, send) as messages:
                    await self.app(scope, *messages)
            finally:
                uploaded.sweep()
                batches.sweep()


async def _file(request: Request) -> Response | None:
    """What somebody gets in the place of a file that a page made, such as an export; None where it is for them."""
    if not _path(request).startswith(FILES) or await anyio.to_thread.run_sync(_visitor, request) is not None:
        return None
    return PlainTextResponse("Sign in to get this file.", 401)


async def _load_again(scope: Any, receive: Any, send: Any) -> None:
    """The one message to a tab whose session has ended: loading its page again leads to the sign-in, and back."""
    message = ForwardMsg()
    message.auth_redirect.SetInParent()  # to the address where the tab is: an empty one
    await receive()
    await send({"type": "websocket.accept", "subprotocol": next(iter(scope.get("subprotocols") or ()), None)})
    await send({"type": "websocket.send", "bytes": message.SerializeToString()})
    await send({"type": "websocket.close", "code": 1008, "reason": "Sign in."})


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


def _visitor(connection: HTTPConnection) -> str | None:
    """The account of the session, "" in a demo; None for whoever has to sign in."""
    app = current_app()
    if app.settings.sign_in == "demo":
        return DEMO
    match = cookies.found(app.people.sessions, connection.cookies)
    return match[1].id if match else None
