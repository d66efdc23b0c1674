"""Pages are drawn in a thread for each tab: a few of one account at a time, so that its tabs do not slow down everybody's searches."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from threading import BoundedSemaphore, Lock

AT_ONCE = 4  # tabs of one account


@dataclass(slots=True)
class _Drawn:
    turns: BoundedSemaphore = field(default_factory=lambda: BoundedSemaphore(AT_ONCE))
    tabs: int = 0  # that draw or wait


_LOCK = Lock()
_DRAWN: dict[str, _Drawn] = {}


@contextmanager
def turn(account: str) -> Iterator[None]:
    """Wait until fewer than `AT_ONCE` tabs of the account are being drawn, and count as one during the block."""
    with _LOCK:
        drawn = _DRAWN.setdefault(account, _Drawn())
        drawn.tabs += 1
    try:
        with drawn.turns:
            yield
    finally:
        with _LOCK:
            drawn.tabs -= 1
            if not drawn.tabs:
                _DRAWN.pop(account, None)
