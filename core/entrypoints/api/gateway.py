"""Around every request to the API: its id, the size of its body, one line in the log, one count in the metrics."""

from __future__ import annotations

import logging
import time
from typing import Any

from fastapi import HTTPException

from core import logs
from core.entrypoints.api import problems
from core.entrypoints.api.calls import FAULT, Service

LOG = logging.getLogger("concord.api")
MAX_BYTES = 4_000_000  # of a body: a change of many documents


class Gateway:
    """ASGI middleware. It counts the body while it comes in: a length can be missing, or a lie. HEAD is GET without a
    body.
    """

    def __init__(self, app: Any, service: Service) -> None:
        self.app, self.service = app, service

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        method, started = scope["method"], time.perf_counter()
        status, taken = 0, 0
        scope = {**scope, "method": "GET"} if method == "HEAD" else scope
        request = logs.begin(scope)

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
            elif method == "HEAD":
                message = {**message, "body": b""}
            await answer(message)

        answer = logs.answering(scope, send)
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
        facts = {"method": method, "path": path, "status": status, "ms": round(1000 * seconds, 1), "who": who}
        LOG.info(f"{request} %(method)s %(path)s %(status)d %(ms).1f ms, by %(who)s", facts, extra={"facts": facts})
