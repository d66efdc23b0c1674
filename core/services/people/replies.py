"""Answers to requests with an `Idempotency-Key`: a repeated request gets the same answer, and nothing is done twice."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from core.access import ALREADY_CHECKED, UPKEEP, Actor, use_case
from core.errors import BadInput, UnderWay

if TYPE_CHECKING:
    from core.adapters.system.processes import Presence
    from core.storage.state.database import Database, State
    from core.storage.state.records import ReplyRow

KEPT = 24 * 3600.0  # seconds that an answer is repeated
LEASE = 30.0  # seconds without a sign of life after which the process of another machine counts as dead
RENEWED = 5.0  # seconds between two signs of life
MAX_KEY = 200
_LINES = 100  # of the audit that are looked at; a request writes a few
OTHER = "This Idempotency-Key came with another request before. Use a new key for each request."
RUNNING = "The first request with this Idempotency-Key is still being worked on. Ask again in a moment."
TOOK_EFFECT = (
    "The first request with this Idempotency-Key took effect, but the server stopped before it could answer. "
    "Read the result, and use a new key for the next request."
)


@dataclass(frozen=True, slots=True)
class KeptReply:
    """An answer as it was given."""

    status: int
    headers: Mapping[str, str]
    body: bytes


@dataclass(frozen=True, slots=True)
class Interrupted:
    """A request whose process died before it answered; the key is the caller's now, as a new one is."""

    took_effect: bool  # the audit has a line of it, which is written together with what it says
    change: int = 0  # that the line names


class Replies:
    """Keeps answers for a day, by account, token and key."""

    def __init__(self, database: Database, process: Presence, now: Callable[[], float] = time.time) -> None:
        self.database, self.process, self.now = database, process, now
        self._in_hand: set[tuple[str, str]] = set()

    @use_case(ALREADY_CHECKED)
    def begin(self, actor: Actor, key: str, request: str) -> KeptReply | Interrupted | None:
        """The answer that was kept; None for a new key, which is the caller's until `keep` or `drop`. `request` is the
        digest of what is asked: a key belongs to one request."""
        caller, outcome = _caller(actor), None
        if not 1 <= len(key) <= MAX_KEY or not (key.isascii() and key.isprintable()):
            raise BadInput(f"An Idempotency-Key has 1 to {MAX_KEY} letters, digits or signs, such as a UUID.")
        with self.database.transaction() as state:
            state.replies.older(self.now() - KEPT)
            row = state.replies.get(caller, key)
            if row and row.request != request:
                raise BadInput(OTHER)
            if row and row.status:
                return KeptReply(row.status, json.loads(row.headers), row.body.encode())
            if row:
                outcome = self._taken_over(state, actor, row)
            else:
                last = next((line.id for line in state.audit.newest(1)), 0)
                work = json.dumps({"process": self.process.name, "request": actor.request, "after": last})
                state.replies.add(caller=caller, key=key, request=request, body=work, at=self.now())
        self._in_hand.add((caller, key))
        return outcome

    def _taken_over(self, state: State, actor: Actor, row: ReplyRow) -> Interrupted:
        """The request of a process that ended, with what the audit has of it."""
        first = json.loads(row.body or "{}")  # an earlier version named no process
        process = first.get("process", "")
        own, silent = process == self.process.name, self.now() - row.at > LEASE
        if (row.caller, row.key) in self._in_hand or not (own or silent or self.process.ended(process)):
            raise UnderWay(RUNNING)
        lines = state.audit.newest(_LINES, who=actor.id, request=first["request"]) if first.get("request") else []
        changes = [line.change for line in lines if line.id > first["after"]]
        work = json.dumps({**first, "process": self.process.name})
        state.replies.set(row.caller, row.key, body=work, at=self.now())
        return Interrupted(bool(changes), max(changes, default=0))

    @use_case(ALREADY_CHECKED)
    def keep(self, actor: Actor, key: str, reply: KeptReply) -> None:
        """Repeat this from now on."""
        values = {"status": reply.status, "headers": json.dumps(dict(reply.headers)), "body": reply.body.decode()}
        self._in_hand.discard((_caller(actor), key))
        self.database.replies.set(_caller(actor), key, **values)

    @use_case(ALREADY_CHECKED)
    def drop(self, actor: Actor, key: str) -> None:
        """It was refused, so nothing was done: the key is free again."""
        self._in_hand.discard((_caller(actor), key))
        self.database.replies.drop(_caller(actor), key)

    @use_case(UPKEEP)
    def renew(self) -> None:
        """Let other machines know that the requests of this process are still being worked on."""
        for caller, key in tuple(self._in_hand):
            self.database.replies.set(caller, key, at=self.now())

    @use_case(UPKEEP)
    def sweep(self) -> int:
        """Remove what is older than a day."""
        self.process.sweep(KEPT)
        return self.database.replies.older(self.now() - KEPT)


def _caller(actor: Actor) -> str:
    return f"{actor.id} {actor.token}"
