"""`/mcp`: the same server over streamable HTTP. Stateless: every request names its token, and any process can answer
it.
"""

from __future__ import annotations

import logging
import uuid
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

import anyio
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, Response

from core.access import Actor
from core.entrypoints.front_desk import NOT_OPEN, TOO_MANY, FrontDesk, NotOpen, bearer
from core.entrypoints.limits import TokenBuckets, Turns
from core.entrypoints.mcp.command import DOOR
from core.entrypoints.mcp.visits import ToolSession
from core.errors import BadInput, Busy, ConcordError, Unauthenticated

if TYPE_CHECKING:
    from anyio.abc import TaskGroup, TaskStatus
    from mcp.server.mcpserver import Context
    from mcp.server.streamable_http_manager import StreamableHTTPSessionManager

    from core.bootstrap import App

LOG = logging.getLogger("concord")
ONLY_POST = "Send messages with POST: this server keeps no session to listen to or to end."
_ACTOR = "concord.actor"  # in the scope of a request: whose token it brought
MAX_BODY = 4 * 1024 * 1024  # bytes
_REFUSED = -32001  # of JSON-RPC: the server's own errors


class McpEndpoint:
    """An ASGI app that asks for an access token before it reads anything. The app in front of it checks hosts and
    origins.
    """

    def __init__(self, opened: Callable[[], App], url: str = "", rate: int = 0) -> None:
        """`url` is where people open the app, by default where a request was sent; `rate` the most requests of a token
        in a minute, 0 for any number."""
        self.url, self._turns = url, Turns(2)
        self.desk = FrontDesk(opened, DOOR, TokenBuckets(rate))
        self._manager: StreamableHTTPSessionManager | None = None
        self._tasks: TaskGroup | None = None
        self._starting = anyio.Lock()

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Answer requests during the block."""
        async with anyio.create_task_group() as self._tasks:
            yield
            self._tasks.cancel_scope.cancel()
        self._manager = self._tasks = None

    async def _managed(self, tasks: TaskGroup) -> StreamableHTTPSessionManager:
        """The SDK's part of the server. It starts with the first request: its import takes a fifth of the app's
        start.
        """
        async with self._starting:
            if self._manager is None:
                self._manager = await tasks.start(self._serve)
        return self._manager

    async def _serve(self, *, task_status: TaskStatus[StreamableHTTPSessionManager]) -> None:
        manager = await anyio.to_thread.run_sync(_session_manager, self._visit)
        async with manager.run():
            task_status.started(manager)
            await anyio.sleep_forever()

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        request = Request(scope, receive)
        response = await self._refusal(request)
        if response is None and self._tasks is not None:
            try:
                manager = await self._managed(self._tasks)
                async with self._turns.of(scope[_ACTOR].id):
                    await manager.handle_request(scope, _after(await _body(request), receive), send)
                return
            except ClientDisconnect:
                LOG.info("A caller of /mcp left before its request was whole.")
                return
            except TooLong as error:
                response = refused(413, str(error))
            except Busy as error:
                response = refused(429, str(error))
        await (response or refused(503, NOT_OPEN))(scope, receive, send)

    async def _refusal(self, request: Request) -> Response | None:
        """Why a request goes no further; None with a good token."""
        if request.method != "POST":
            return refused(405, ONLY_POST, {"Allow": "POST"})
        try:
            actor = request.scope[_ACTOR] = await anyio.to_thread.run_sync(self._holder, request)
        except Unauthenticated as error:
            return refused(401, str(error), {"WWW-Authenticate": "Bearer"})
        except NotOpen as error:
            return refused(503, str(error))
        except ConcordError as error:
            LOG.error("%s", error.at_terminal())
            return refused(503, NOT_OPEN)
        allowance = self.desk.allowance(actor)
        if allowance and allowance.wait:
            return refused(429, TOO_MANY.format(allowance.wait), allowance.headers())
        return None

    def _holder(self, request: Request) -> Actor:
        return self.desk.holder(bearer(request), uuid.uuid4().hex)

    def _visit(self, ctx: Context) -> ToolSession:
        request: Any = ctx.request_context.request
        return ToolSession(self.desk.opened(), request.scope[_ACTOR], self.url or _address(request))


def _session_manager(visit: Callable[[Context], ToolSession]) -> StreamableHTTPSessionManager:
    from mcp.server.transport_security import TransportSecuritySettings

    from core.entrypoints.mcp.server import build_server

    security = TransportSecuritySettings(enable_dns_rebinding_protection=False)  # hosts were checked before
    server = build_server(visit)
    server.streamable_http_app(stateless_http=True, json_response=True, transport_security=security)
    return server.session_manager


class TooLong(BadInput):
    """A body over the limit."""


async def _body(request: Request) -> bytes:
    """The whole body. The library reads it only to log a traceback where the caller has left."""
    body = bytearray()
    async for part in request.stream():
        body += part
        if len(body) > MAX_BODY:
            raise TooLong(f"The body is longer than {MAX_BODY:,} bytes.")
    return bytes(body)


def _after(body: bytes, receive: Any) -> Callable[[], Awaitable[Any]]:
    """Receives what was read already, and then whatever comes."""
    read = [{"type": "http.request", "body": body, "more_body": False}]

    async def again() -> Any:
        return read.pop() if read else await receive()

    return again


def _address(request: Request) -> str:
    """Where the request was sent, without the path of this endpoint; a proxy in front says whether by HTTPS."""
    scheme = request.headers.get("x-forwarded-proto", request.url.scheme).partition(",")[0].strip()
    return f"{scheme}://{request.url.netloc}{request.url.path.rpartition('/')[0]}"


def refused(status: int, sentence: str, headers: dict[str, str] | None = None) -> Response:
    """A sentence in the form that clients of the protocol show."""
    body = {"jsonrpc": "2.0", "id": None, "error": {"code": _REFUSED, "message": sentence}}
    return JSONResponse(body, status, headers)
