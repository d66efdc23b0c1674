"""Open tabs: so many of one account, and so many clicks of all of them."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from typing import Any

import anyio

DEMO = ""  # the account of everybody in a demo, which nobody else can reach: no limits
RELOADED = 10  # connections above the limit: pages are refused first, and one that is loaded again has two for a moment
RATE, BURST = 10.0, 100  # clicks of one account: a second, and at once after a pause


class Tabs:
    """Counts tabs by account, and lets messages wait that come faster than people click."""

    def __init__(self, most: int, now: Callable[[], float] = time.monotonic) -> None:
        """`most` is 0 for no limit."""
        self.most, self._now = most, now
        self._open: Counter[str] = Counter()
        self._next: dict[str, float] = {}  # by account: when its messages so far are due at an even rate

    def room(self, account: str, more: int = 0) -> bool:
        """Whether the account may open another tab, `more` above the limit."""
        return account == DEMO or not self.most or self._open[account] < self.most + more

    @contextmanager
    def opened(self, account: str) -> Iterator[None]:
        """One more tab during the block."""
        self._open[account] += 1
        try:
            yield
        finally:
            self._open[account] -= 1
            self._open += Counter()  # drops those at 0
            self._next = {who: due for who, due in self._next.items() if due > self._now()}

    def paced(self, account: str, receive: Callable[[], Awaitable[Any]]) -> Callable[[], Awaitable[Any]]:
        """The messages of a tab, not faster than `RATE` for the account once `BURST` of them came at once."""

        async def paced() -> Any:
            message = await receive()
            if message["type"] != "websocket.disconnect" and account != DEMO:
                await anyio.sleep(self.wait(account))
            return message

        return paced

    def wait(self, account: str) -> float:
        """Seconds that a message waits."""
        now = self._now()
        due = self._next[account] = max(self._next.get(account, now), now) + 1 / RATE
        return max(0.0, due - now - BURST / RATE)
