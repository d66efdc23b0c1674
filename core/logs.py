"""Log lines of one form, each with the id of the request it belongs to: from the proxy through API, page and job."""

from __future__ import annotations

import json
import logging
import re
import sys
import uuid
from collections.abc import Callable
from contextvars import ContextVar
from typing import Any

REQUEST: ContextVar[str] = ContextVar("request", default="")  # the id of what is being answered here
FORMS = ("text", "json")
_HEADER = b"x-request-id"
_ID = re.compile(r"[A-Za-z0-9._-]{1,64}")
_OURS = ("concord", "core", "pages")


def plain(given: str) -> str:
    """The id that a caller sent, if it is a plain word, else nothing.

    >>> plain("ticket-4711"), plain("two words")
    ('ticket-4711', '')
    """
    return given if _ID.fullmatch(given) else ""


def begin(scope: Any) -> str:
    """The id of a request, the same for everything that it passes: the caller's own, or a new one."""
    if "concord.request" not in scope:
        given = next((value.decode("latin-1") for name, value in scope["headers"] if name == _HEADER), "")
        scope["concord.request"] = plain(given) or uuid.uuid4().hex
    REQUEST.set(scope["concord.request"])
    return str(scope["concord.request"])


def answering(scope: Any, send: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """`send` with the id of the request on the answer, once."""

    async def named(message: Any) -> None:
        if message["type"] == "http.response.start" and all(name != _HEADER for name, _ in message["headers"]):
            message["headers"] = [*message["headers"], (_HEADER, scope["concord.request"].encode())]
        await send(message)

    return named


class LogLine(logging.Formatter):
    """A line of words, or one of JSON that carries whatever `extra={"facts": ...}` says beside the message."""

    def __init__(self, form: str) -> None:
        super().__init__("%(asctime)s %(levelname)s %(name)s %(message)s")
        self.form = form

    def format(self, record: logging.LogRecord) -> str:
        request = REQUEST.get()
        if self.form == "text":
            said = super().format(record)
            return f"{said} (request {request})" if request and request not in said else said
        value = {
            "at": self.formatTime(record, "%Y-%m-%dT%H:%M:%S%z"),
            "level": record.levelname.lower(),
            "logger": record.name,
            "request": request,
            "message": record.getMessage(),
            **getattr(record, "facts", {}),
        }
        if record.exc_info:
            value["traceback"] = self.formatException(record.exc_info)
        return json.dumps(value, ensure_ascii=False)


def start(form: str, level: int = logging.INFO) -> None:
    """Write every line of this process to standard error, in one form; of libraries only warnings."""
    lines = logging.StreamHandler(sys.stderr)
    lines.setFormatter(LogLine(form))
    root = logging.getLogger()
    root.handlers = [*(each for each in root.handlers if not isinstance(each.formatter, LogLine)), lines]
    for name in _OURS:
        logging.getLogger(name).setLevel(level)
