"""The JSON body of a request, bounded in size and depth before anything parses it."""

from __future__ import annotations

import json
import re
from typing import Any

from starlette.requests import Request

from core.errors import BadInput

MAX_BYTES = 1_000_000
MAX_DEPTH = 32
_MARKS = re.compile(rb'"(?:[^"\\]|\\.)*+"?|([\[{])|([\]}])', re.DOTALL)  # a string without an end takes the rest


class Unreadable(BadInput):
    """A body that cannot be used, with the status that says why."""

    def __init__(self, status: int, sentence: str) -> None:
        super().__init__(sentence)
        self.status = status


async def json_object(request: Request) -> dict[str, Any]:
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != "application/json":
        raise Unreadable(415, "Send the body as application/json.")
    if request.headers.get("content-encoding", "identity").lower() != "identity":
        raise Unreadable(415, "Send the body as it is, not compressed.")
    return parsed(await _bytes(request))


async def _bytes(request: Request) -> bytes:
    body = bytearray()
    async for part in request.stream():
        body += part
        if len(body) > MAX_BYTES:
            raise Unreadable(413, f"The body is longer than {MAX_BYTES:,} bytes.")
    return bytes(body)


def parsed(body: bytes) -> dict[str, Any]:
    """JSON text as an object; nesting is counted first, since parsers recurse.

    >>> parsed(b'{"a": [1, "[[["]}')
    {'a': [1, '[[[']}
    """
    _check_depth(body)
    try:
        value = json.loads(body.decode("utf-8"), parse_constant=_no_constant)
    except ValueError:
        raise Unreadable(400, "The body is not JSON in UTF-8.") from None
    if not isinstance(value, dict):
        raise Unreadable(400, "The body must be a JSON object.")
    return value


def _check_depth(body: bytes) -> None:
    depth = 0
    for mark in _MARKS.finditer(body):
        depth += bool(mark[1]) - bool(mark[2])
        if depth > MAX_DEPTH:
            raise Unreadable(400, f"The body is nested deeper than {MAX_DEPTH} levels.")


def _no_constant(name: str) -> float:
    raise ValueError(f"{name} is no number.")
