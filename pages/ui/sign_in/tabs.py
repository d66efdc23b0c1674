"""Open tabs: so many of one account, so many clicks of all of them, and so many of their pages drawn at a time.

Every page is drawn in a thread of its own, and all threads share one interpreter with the searches. So a click waits
here, before
Streamlit starts a thread for it.
"""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from typing import Any

import anyio
from google.protobuf.message import DecodeError
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg

DEMO = ""  # the account of everybody in a demo, which nobody else can reach: no limits
RELOADED = 10  # connections above the limit: pages are refused first, and one that is loaded again has two for a moment
RATE, BURST = 5.0, 60  # clicks of one account: a second, and at once after a pause
DRAWN = 4  # pages of one account that are drawn at a time
LONGEST = 5.0  # seconds after which a page that takes long does not count any more
_SHORT = 2_000  # bytes; a longer message is a click, or a part of a page

Receive = Callable[[], Awaitable[Any]]
Send = Callable[[Any], Awaitable[None]]


class Tabs:
    """Counts tabs by account, and lets messages wait that come faster than people click or pages are drawn."""

    def __init__(self, most: int, now: Callable[[], float] = time.monotonic) -> None:
        """`most` is 0 for no limit."""
        self.most, self._now = most, now
        self._open: Counter[str] = Counter()
        self._places: dict[str, anyio.Semaphore] = {}  # by account: for pages that are drawn
        self._next: dict[str, float] = {}  # by account: when its messages so far are due at an even rate

    def room(self, account: str, more: int = 0) -> bool:
        """Whether the account may open another tab, `more` above the limit."""
        return account == DEMO or not self.most or self._open[account] < self.most + more

    @contextmanager
    def opened(self, account: str, receive: Receive, send: Send) -> Iterator[tuple[Receive, Send]]:
        """One more tab during the block, and its messages at the account's pace."""
        self._open[account] += 1
        drawing = PageDrawing(self._places.setdefault(account, anyio.Semaphore(DRAWN)))
        try:
            yield (
                (receive, send) if account == DEMO else (self._paced(account, receive, drawing), drawing.watched(send))
            )
        finally:
            drawing.end()
            self._open[account] -= 1
            if not self._open[account]:
                del self._open[account], self._places[account]
            self._next = {who: due for who, due in self._next.items() if due > self._now()}

    def _paced(self, account: str, receive: Receive, drawing: PageDrawing) -> Receive:
        async def paced() -> Any:
            message = await receive()
            if message["type"] == "websocket.receive":
                await anyio.sleep(self.wait(account))
                if _is_click(message.get("bytes") or b""):
                    await drawing.begin()
            return message

        return paced

    def wait(self, account: str) -> float:
        """Seconds that a message waits: none until `BURST` of them came at once, then so that `RATE` a second go on."""
        now = self._now()
        due = self._next[account] = max(self._next.get(account, now), now) + 1 / RATE
        return max(0.0, due - now - BURST / RATE)


class PageDrawing:
    """The page of one tab: from a click until it is drawn, it has one of its account's places."""

    def __init__(self, places: anyio.Semaphore, longest: float = LONGEST) -> None:
        self.places, self.longest = places, longest
        self._timer: asyncio.TimerHandle | None = None  # runs while it has one

    async def begin(self) -> None:
        """Wait for a place, unless the page has one: Streamlit stops what it draws there and starts anew."""
        if self._timer is None:
            await self.places.acquire()
            self._timer = asyncio.get_running_loop().call_later(self.longest, self.end)

    def end(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
            self.places.release()

    def watched(self, send: Send) -> Send:
        """The messages to the tab; the one that says that its page is drawn gives the place back."""

        async def watched(message: Any) -> None:
            await send(message)
            if _is_drawn(message.get("bytes") or b""):
                self.end()

        return watched


def _is_click(raw: bytes) -> bool:
    """Whether a message from a tab draws its page; what cannot be read is Streamlit's to refuse."""
    if len(raw) > _SHORT:
        return True
    try:
        return bool(BackMsg.FromString(raw).WhichOneof("type") == "rerun_script")
    except DecodeError:
        return False


def _is_drawn(raw: bytes) -> bool:
    if not raw or len(raw) > _SHORT:
        return False
    message = ForwardMsg.FromString(raw)
    finished = message.WhichOneof("type") == "script_finished"
    return bool(finished and message.script_finished != ForwardMsg.FINISHED_EARLY_FOR_RERUN)
