"""Refusals as problem details (RFC 9457): a status for programs, and the service's own sentence for people."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from http import HTTPStatus
from typing import Any

from pydantic import BaseModel
from starlette.responses import Response

from core.access import ANYBODY, Actor
from core.cures import Action
from core.entrypoints import refusals
from core.errors import (
    BadInput,
    Busy,
    Cancelled,
    ConcordError,
    Conflict,
    NotFound,
    OverBudget,
    Refused,
    Stale,
    StorageFailed,
    Unauthenticated,
    Unavailable,
)

MEDIA_TYPE = "application/problem+json"
STATUSES: tuple[tuple[type[ConcordError], int], ...] = (
    (Unauthenticated, 401),
    (Stale, 412),
    (Busy, 429),
    (Refused, 403),
    (NotFound, 404),
    (Conflict, 409),
    (Cancelled, 409),
    (BadInput, 422),
    (OverBudget, 503),
    (Unavailable, 503),
    (StorageFailed, 503),
)  # the first that fits; anything else is a fault of the server
ALWAYS = (400, 401, 403, 413, 422, 429, 500, 503)  # what every operation may answer
ABOUT = {
    304: "What the caller has is still right.",
    400: "The request cannot be read.",
    401: "There is no access token, or it does not count any more.",
    403: "The rules refuse it: the role, the scope of the token, or the state of the thing. The detail is the rule.",
    404: "There is no such thing.",
    409: "Another request came first (an edit of the same lines, a change that is already merged or closed), or the "
    "first request "
    "with this key is still being worked on.",
    412: "The change was edited since the caller saw it: what If-Match names is not its head any more.",
    413: "The body is too long.",
    422: "A parameter or a part of the body cannot be used; the detail says which and why.",
    429: "The token made too many requests; Retry-After says when to go on.",
    500: "A fault of the server. Its log has the request's id.",
    503: "A model, the index or the disk cannot be used now; the detail says what to do.",
}


class WrongPart(BaseModel):
    """One part of a request that cannot be used."""

    where: str
    why: str


class CureReply(BaseModel):
    """What helps. `url` is the page where it is done and `command` the command for the server, for those who can; else
    `ask` is the role to ask."""

    action: Action
    does: str
    url: str = ""
    command: str = ""
    ask: str = ""


class ProblemDetails(BaseModel):
    """Why a request was refused."""

    type: str
    title: str
    status: int
    detail: str
    request: str
    errors: list[WrongPart] = []
    cure: CureReply | None = None


def status_of(error: ConcordError) -> int:
    """The status that says what kind of refusal it is.

    >>> status_of(NotFound("")), status_of(Refused("")), status_of(BadInput(""))
    (404, 403, 422)
    """
    return next((status for kind, status in STATUSES if isinstance(error, kind)), 500)


def answer(
    status: int,
    detail: str,
    request: str,
    headers: Mapping[str, str] | None = None,
    errors: Sequence[Mapping[str, str]] = (),
    cure: Mapping[str, str] | None = None,
) -> Response:
    body: dict[str, Any] = {"type": "about:blank", "title": HTTPStatus(status).phrase, "status": status}
    body |= {"detail": detail, "request": request, **({"errors": list(errors)} if errors else {})}
    body |= {"cure": dict(cure)} if cure else {}
    text = json.dumps(body, ensure_ascii=False).encode("utf-8", "replace")
    return Response(text, status, dict(headers or {}), MEDIA_TYPE)


def refused(
    error: ConcordError, request: str, actor: Actor = ANYBODY, headers: Mapping[str, str] | None = None
) -> Response:
    """A refusal, with what helps whoever asked."""
    cure = refusals.as_json(error.cure, actor) if error.cure else None
    return answer(status_of(error), refusals.in_words(error, actor), request, headers, cure=cure)


def documented(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """The refusals of an operation, for the OpenAPI document: those that every operation has, and these."""
    schema = {"schema": {"$ref": "#/components/schemas/ProblemDetails"}}
    found: dict[int | str, dict[str, Any]] = {}
    for status in sorted({*ALWAYS, *statuses}):
        found[status] = {"description": ABOUT[status]} | ({"content": {MEDIA_TYPE: schema}} if status != 304 else {})
    return found
