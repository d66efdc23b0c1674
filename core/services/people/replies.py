"""Answers to requests that carry a key (`Idempotency-Key`): whoever asks again gets the same answer, and nothing is done twice."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from core.access import IN_HAND, UPKEEP, Actor, use_case
from core.errors import BadInput, Conflict, UnderWay

if TYPE_CHECKING:
    from core.storage.state.database import Database

KEPT = 24 * 3600.0  # seconds that an answer is repeated
LONGEST = 600.0  # seconds after which no request is still being worked on
MAX_KEY = 200
OTHER = "This Idempotency-Key came with another request before. Use a new key for each request."
RUNNING = "The first request with this Idempotency-Key is still being worked on. Ask again in a moment."
CUT_OFF = "The first request with this Idempotency-Key did not come to an end. Look whether it took effect, then use a new key."


@dataclass(frozen=True, slots=True)
class KeptReply:
    """An answer as it was given."""

    status: int
    headers: Mapping[str, str]
    body: bytes


class Replies:
    """Keeps answers for a day, by account, token and key."""

    def __init__(self, database: Database, now: Callable[[], float] = time.time) -> None:
        self.database, self.now = database, now

    @use_case(IN_HAND)
    def begin(self, actor: Actor, key: str, request: str) -> KeptReply | None:
        """The answer that was kept; None for a new key, which is the caller's until `keep` or `drop`. `request` is the
        digest of what is asked: a key belongs to one request."""
        if not 1 <= len(key) <= MAX_KEY or not (key.isascii() and key.isprintable()):
            raise BadInput(f"An Idempotency-Key has 1 to {MAX_KEY} letters, digits or signs, such as a UUID.")
        with self.database.transaction() as state:
            state.replies.older(self.now() - KEPT)
            row = state.replies.get(_caller(actor), key)
            if row is None:
                state.replies.add(caller=_caller(actor), key=key, request=request, at=self.now())
                return None
        if row.request != request:
            raise BadInput(OTHER)
        if not row.status:
            raise UnderWay(RUNNING) if self.now() - row.at < LONGEST else Conflict(CUT_OFF)
        return KeptReply(row.status, json.loads(row.headers), row.body.encode())

    @use_case(IN_HAND)
    def keep(self, actor: Actor, key: str, reply: KeptReply) -> None:
        """Repeat this from now on."""
        values = {"status": reply.status, "headers": json.dumps(dict(reply.headers)), "body": reply.body.decode()}
        self.database.replies.set(_caller(actor), key, **values)

    @use_case(IN_HAND)
    def drop(self, actor: Actor, key: str) -> None:
        """It was refused, so nothing was done: the key is free again."""
        self.database.replies.drop(_caller(actor), key)

    @use_case(UPKEEP)
    def sweep(self) -> int:
        """Remove what is older than a day."""
        return self.database.replies.older(self.now() - KEPT)


def _caller(actor: Actor) -> str:
    return f"{actor.id} {actor.token}"
