"""How much one access token may ask, and how much of it one account at a time; in the memory of this process."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from math import ceil
from threading import Lock

import anyio

from core.errors import Busy

MINUTE = 60.0
MOST = 10_000  # buckets that are kept; full ones are as good as none
WAITING = 100  # requests of one account that may wait for their turn
TOO_MANY_WAIT = "{} requests of this account wait already. Send the next when some of them are answered."


@dataclass(frozen=True, slots=True)
class Allowance:
    """What is left to somebody after a request; `wait` are the seconds until the next one, 0 when this one may go
    on.
    """

    limit: int
    remaining: int
    reset: int  # seconds until the bucket is full again
    wait: int

    def headers(self) -> dict[str, str]:
        shown = {"RateLimit-Limit": self.limit, "RateLimit-Remaining": self.remaining, "RateLimit-Reset": self.reset}
        return {name: str(value) for name, value in (shown | ({"Retry-After": self.wait} if self.wait else {})).items()}


class TokenBuckets:
    """Each bucket holds a minute's worth of requests and fills evenly."""

    def __init__(self, limit: int, now: Callable[[], float] = time.monotonic) -> None:
        """`limit` is the number of requests a minute; 0 is no limit."""
        self.limit, self._now, self._lock = limit, now, Lock()
        self._buckets: dict[str, tuple[float, float]] = {}  # what was left, and when

    def take(self, name: str) -> Allowance | None:
        """Take one request out of a bucket; None where there is no limit."""
        if not self.limit:
            return None
        with self._lock:
            now = self._now()
            left, then = self._buckets.get(name, (float(self.limit), now))
            left = min(float(self.limit), left + (now - then) * self.limit / MINUTE)
            wait = 0 if left >= 1 else max(1, ceil((1 - left) * MINUTE / self.limit))
            left -= not wait
            self._buckets[name] = (left, now)
            self._sweep(now)
        return Allowance(self.limit, int(left), ceil((self.limit - left) * MINUTE / self.limit), wait)

    def _sweep(self, now: float) -> None:
        if len(self._buckets) > MOST:
            kept = {name: held for name, held in self._buckets.items() if now - held[1] < MINUTE}
            self._buckets = kept


@dataclass(slots=True)
class _Queue:
    turns: anyio.Semaphore
    length: int = 0  # those at work included


class Turns:
    """So many requests of one account work at a time and its others wait, so that nobody's hundred stand before
    another's one.

    For one event loop: nothing here is locked.
    """

    def __init__(self, at_once: int, waiting: int = WAITING) -> None:
        self.at_once, self.waiting = at_once, waiting
        self._queues: dict[str, _Queue] = {}

    @asynccontextmanager
    async def of(self, who: str) -> AsyncIterator[None]:
        """A turn of somebody; Busy where too many of theirs wait."""
        queue = self._queues.setdefault(who, _Queue(anyio.Semaphore(self.at_once)))
        if queue.length >= self.at_once + self.waiting:
            raise Busy(TOO_MANY_WAIT.format(self.waiting))
        queue.length += 1
        try:
            async with queue.turns:
                yield
        finally:
            queue.length -= 1
            if not queue.length:
                self._queues.pop(who, None)
