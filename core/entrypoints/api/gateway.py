"""Around every request to the API: its id, the size of its body, one line in the log, one count in the metrics."""

from __future__ import annotations

import logging
import re
import time
import uuid
from typing import Any

from fastapi import HTTPException

from core.entrypoints.api import problems
from core.entrypoints.api.calls import FAULT, Service

LOG = logging.getLogger("concord.api")
MAX_BYTES = 4_000_000  # of a body: a change of many documents
_ID = re.compile(rb"[A-Za-z0-9._-]{1,64}")


class Gateway:
    """ASGI middleware. It counts the body while it comes in: a length can be missing, or a lie. HEAD is GET without a body."""

    def __init__(self, app: Any, service: Service) -> None:
        self.app, self.service = app, service

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        method, started, status, taken = scope["method"], time.perf_counter(), 0, 0
        scope = {**scope, "method": "GET"} if method == "HEAD" else scope
        request = scope["concord.request"] = _request_id(scope)

        async def counted() -> Any:
            nonlocal taken
            message = await receive()
            taken += len(message.get("body", b""))
            if taken > MAX_BYTES:
                raise HTTPException(413, f"The body is longer than {MAX_BYTES:,} bytes.")
            return message

        async def named(message: Any) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                message["headers"] = [*message["headers"], (b"x-request-id", request.encode())]
            elif method == "HEAD":
                message = {**message, "body": b""}
            await send(message)

        try:
            await self.app(scope, counted, named)
        except Exception as error:
            if status:
                raise
            LOG.error("Request %s failed.", request, exc_info=error)
            await problems.answer(500, FAULT, request)(scope, receive, named)
        finally:
            self._note(scope, method, request, status, time.perf_counter() - started)

    def _note(self, scope: Any, method: str, request: str, status: int, seconds: float) -> None:
        route = getattr(scope.get("route"), "path", "unknown")
        self.service.meters.request(method, route, status, seconds)
        path = scope.get("raw_path", b"").decode("ascii", "backslashreplace")  # without the question: that is private
        who = scope.get("concord.who", "nobody")
        LOG.info("%s %s %s %d %.1f ms, by %s", request, method, path, status, 1000 * seconds, who)


def _request_id(scope: Any) -> str:
    """The caller's own, if it is a plain word, else a new one."""
    given = next((value for name, value in scope["headers"] if name == b"x-request-id"), b"")
    return given.decode() if _ID.fullmatch(given) else uuid.uuid4().hex
