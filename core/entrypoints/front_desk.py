"""The front desk of HTTP: who sends a request, by the access token it brings, and how many more they may send.

The API and the endpoint of assistants have it in common; each says a refusal in its own form.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from core.access import Actor
from core.entrypoints.limits import Allowance, TokenBuckets
from core.errors import ConcordError, Unauthenticated, Unavailable

if TYPE_CHECKING:
    from starlette.requests import Request

    from core.bootstrap import App

LOG = logging.getLogger("concord")
NO_TOKEN = "Send an access token as: Authorization: Bearer TOKEN. Make one on your Account page."
NOT_OPEN = "The workspace cannot be opened. Whoever runs Concord reads the reason in its log."
TOO_MANY = "This token made more requests than it may in a minute. Go on in {} s."


def bearer(request: Request) -> str:
    """The access token of a request; "" without one."""
    kind, _, secret = request.headers.get("authorization", "").partition(" ")
    return secret.strip() if kind.lower() == "bearer" else ""


class NotOpen(Unavailable):
    """The workspace cannot be opened, for a reason that only the log says."""


@dataclass(frozen=True)
class FrontDesk:
    """What a door by HTTP asks before it does anything; `door` is what the audit calls it."""

    opened: Callable[[], App]
    door: str
    buckets: TokenBuckets

    def app(self, request: str) -> App:
        """The workspace, for the request of this id."""
        try:
            return self.opened()
        except ConcordError as error:
            LOG.error("Request %s: %s", request, error.at_terminal())
            raise NotOpen(NOT_OPEN) from error

    def holder(self, secret: str, request: str) -> Actor:
        """The account of the token, with its role of now."""
        if not secret:
            raise Unauthenticated(NO_TOKEN)
        return self.app(request).people.tokens.holder(secret, self.door, request)

    def allowance(self, actor: Actor) -> Allowance | None:
        """What the token may still ask in this minute, once this request is counted; None for any number."""
        return self.buckets.take(f"{actor.id} {actor.token}")
