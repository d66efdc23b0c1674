"""How much memory this process has taken, and how much it may take."""

from __future__ import annotations

import ctypes
import gc
import os
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from threading import Lock

from core.access import UPKEEP, use_case
from core.errors import Unavailable

FULL = 0.8  # share of the limit from which on nothing large is begun
PAUSE = 10.0  # seconds between two attempts to give memory back
_UNLIMITED = 1 << 60
_GROUPS = ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes")
NO_ROOM = (
    "The server has little memory left ({taken:,} of {limit:,} MB), so {what}. Try again in a minute; "
    "whoever runs it sets CONCORD_MEMORY."
)


class ProcessMemory:
    """What large work asks before it begins; searches never ask."""

    def __init__(
        self, limit: int, taken: Callable[[], int] | None = None, now: Callable[[], float] = time.monotonic
    ) -> None:
        """`limit` is in bytes; 0 is what the container or the machine has."""
        self.limit, self.taken, self._now = limit or available(), taken or resident, now
        self._lock, self._given_back = Lock(), -PAUSE
        self.releases: list[Callable[[], object]] = []  # empty caches that can be filled again

    @use_case(UPKEEP)
    def require_room(self, what: str) -> None:
        """Refuse with a sentence while most of the memory is taken; `what` is what does not happen."""
        self.relieve()
        if self._full():
            megabytes = [size // 1_000_000 for size in (self.taken(), self.limit)]
            raise Unavailable(NO_ROOM.format(taken=megabytes[0], limit=megabytes[1], what=what))

    def _full(self) -> bool:
        return bool(self.limit) and self.taken() > FULL * self.limit

    @use_case(UPKEEP)
    def relieve(self) -> None:
        """Where memory is short, empty the caches and return to the system what was freed: the allocator keeps it otherwise."""
        with self._lock:
            if not self._full() or self._now() - self._given_back < PAUSE:
                return
            self._given_back = self._now()
        for release in self.releases:
            release()
        gc.collect()
        with suppress(OSError, AttributeError):  # another C library than glibc
            ctypes.CDLL(None).malloc_trim(0)


def resident() -> int:
    """Bytes of this process in memory; 0 where the system does not say."""
    with suppress(OSError, ValueError, IndexError):
        return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    return 0


def available() -> int:
    """Bytes that the container or the machine has; 0 where neither says."""
    limits = [_machine(), *map(_group, _GROUPS)]
    return min((limit for limit in limits if 0 < limit < _UNLIMITED), default=0)


def _machine() -> int:
    with suppress(OSError, ValueError):
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    return 0


def _group(path: str) -> int:
    with suppress(OSError, ValueError):
        return int(Path(path).read_text())
    return 0
