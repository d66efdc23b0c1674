"""Bodies of requests, before anything reads them: large ones are taken from known accounts alone, and only so many at a
time.

Whatever is small passes. Each route has its own limit for one body; here all of them together have one, by account and
in all.
"""

from __future__ import annotations

import uuid
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import anyio
import streamlit as st
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from streamlit.runtime import Runtime

from core.access import SYSTEM, Actor, require
from core.bootstrap import App
from core.entrypoints.api import problems
from core.entrypoints.api.gateway import MAX_BYTES
from core.entrypoints.api.problems import status_of
from core.entrypoints.mcp.endpoint import refused
from core.errors import Busy, ConcordError, NotFound, Refused, Unauthenticated, Unavailable
from core.settings import load
from pages.ui.server import direct
from pages.ui.server.uploaded import MB, OverQuota, UploadQuota
from pages.ui.sign_in import cookies
from pages.ui.workspace import current_app

SMALL = 64 * 1024  # bytes that nobody is asked about
OF_ACCOUNT, OF_ALL = 16 * MB, 64 * MB  # bytes of large bodies on their way
NOBODY = "A body of more than 64 kB is only taken from somebody known. Send an access token that is valid."
TOO_MANY = (
    "Bodies of {} MB are on their way from this account, and {} MB is the limit. Send the next when one is answered."
)
ALL_TAKEN = "The server takes no more large bodies at the moment. Try again in a minute."
NO_TAB = "This file belongs to no open tab. Load the page again."
NOT_YOURS = "This file was sent for a tab of another sign-in. Load the page again."
SIGN_IN = "Sign in to upload files."
UPLOADS = "/_stcore/upload_file/"


class Intake:
    """ASGI middleware in front of everything that reads bodies."""

    def __init__(self, app: Any) -> None:
        self.app, self.bodies, self.uploads = app, Bodies(), UploadQuota(load())

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        path = scope["path"].removeprefix(cookies.at("/").rstrip("/")) if scope["type"] == "http" else ""
        try:
            if path.startswith(UPLOADS) and scope["method"] != "OPTIONS":
                await self._upload(Request(scope), path, (scope, receive, send))
            elif path.startswith(("/api/", "/mcp")) and (size := _declared(scope, MAX_BYTES)) > SMALL:
                await self._body(Request(scope), size, (scope, receive, send))
            else:
                await self.app(scope, receive, send)
        except ConcordError as error:
            await _answer(error, path)(scope, receive, send)

    async def _upload(self, request: Request, path: str, call: tuple[Any, Any, Any]) -> None:
        """A file for a page: from its own sign-in, by somebody who may use it, while there is room."""
        tab = path.removeprefix(UPLOADS).partition("/")[0]
        account = await anyio.to_thread.run_sync(_uploader, request, tab)
        if request.method != "PUT":
            await self.app(*call)
            return
        current_app().platform.memory.require_room("no file is taken")
        size = _declared(request.scope, int(st.get_option("server.maxUploadSize")) * 1024 * 1024)
        with self.uploads.taking(tab, account, size):
            await self.app(*call)

    async def _body(self, request: Request, size: int, call: tuple[Any, Any, Any]) -> None:
        actor = await anyio.to_thread.run_sync(_sender, request)
        current_app().platform.memory.require_room("no large body is taken")
        with self.bodies.taking(actor.id, size):
            await self.app(*call)


class Bodies:
    """How many bytes are on their way, by account."""

    def __init__(self, of_account: int = OF_ACCOUNT, of_all: int = OF_ALL) -> None:
        self.of_account, self.of_all = of_account, of_all
        self._coming: dict[str, int] = {}

    @contextmanager
    def taking(self, account: str, size: int) -> Iterator[None]:
        """Keep a place for so many bytes during the block, or say why there is none."""
        own = self._coming.get(account, 0) + size
        if own > self.of_account:
            raise Busy(TOO_MANY.format(round(own / MB), self.of_account // MB))
        if sum(self._coming.values()) + size > self.of_all:
            raise Unavailable(ALL_TAKEN)
        self._coming[account] = own
        try:
            yield
        finally:
            self._coming[account] -= size
            if not self._coming[account]:
                del self._coming[account]


def _declared(scope: Mapping[str, Any], most: int) -> int:
    """The bytes of a body: what its length says, or the most that it may have."""
    headers = dict(scope["headers"])
    if b"transfer-encoding" in headers:
        return most
    length = headers.get(b"content-length", b"0")
    return min(int(length), most) if length.isdigit() else most


def _uploader(request: Request, tab: str) -> str:
    """The account that brings a file for a tab; a demo has only one."""
    client, app = Runtime.instance().get_client(tab), current_app()
    if app.settings.sign_in == "demo":
        if client is None:
            raise NotFound(NO_TAB)
        return SYSTEM.id
    sender = cookies.found(app.people.sessions, request.cookies)
    if sender is None:
        raise Unauthenticated(SIGN_IN)
    require(sender[1], "propose a change")
    if client is None:
        raise NotFound(NO_TAB)
    owner = cookies.found(app.people.sessions, client.client_context.cookies if client.client_context else {})
    if owner is None or owner[0].id != sender[0].id:
        raise Refused(NOT_YOURS)
    return sender[1].id


def _sender(request: Request) -> Actor:
    """Whose token a request brings: an access token, or that of a page."""
    kind, _, secret = request.headers.get("authorization", "").partition(" ")
    app: App = current_app()
    secret = secret.strip() if kind.lower() == "bearer" else ""
    if not secret:
        raise Unauthenticated(NOBODY)
    return direct.holder(secret, app) or app.people.tokens.holder(secret, "api")


def _answer(error: ConcordError, path: str) -> Response:
    """A refusal that never read the body, in the form of its door."""
    status = error.status if isinstance(error, OverQuota) else status_of(error)
    if path.startswith("/api/v1/"):
        return problems.answer(status, str(error), uuid.uuid4().hex)
    if path.startswith("/mcp"):
        return refused(status, str(error))
    return JSONResponse({"error": str(error)}, status)
