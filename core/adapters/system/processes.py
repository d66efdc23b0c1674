"""This machine: its clock, its memory, and the worker processes of a workspace.

A worker has a place: a file whose lock it inherits from whoever started it. So the kernel tells the living from the
dead, and a process that is still starting has its place already.
"""

from __future__ import annotations

import ctypes
import gc
import os
import resource
import secrets
import signal
import subprocess
import sys
import time
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from datetime import date, datetime
from pathlib import Path
from threading import Lock

from core.access import UPKEEP, use_case
from core.adapters.system.files import try_flock
from core.errors import Unavailable, storing
from core.settings import PROJECT

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
        """Where memory is short, empty the caches and return to the system what was freed: the allocator keeps it
        otherwise.
        """
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


LEAST_MEMORY = 1024  # megabytes; with fewer the bundled model does not load
NICE = 10  # the server goes first
OOM_SCORE = 500  # where memory runs out the kernel ends workers before the server


class SystemProcesses:
    """Starts `python -m core worker` with spawn, never fork: LanceDB may hang in a forked child."""

    def __init__(self, home: Path, limit: int, memory: int = 0) -> None:
        """At most `limit` workers, each with so many megabytes; 0 shares half of the machine."""
        self.home, self.limit = home, limit
        self.memory = memory or max(LEAST_MEMORY, (available() >> 20) // 2 // max(1, limit))
        self.folder = home / "jobs"
        self.place: int | None = None  # of this process, if it is a worker

    def spawn(self) -> str | None:
        """Start a worker that outlives this process, where a place is free; its name."""
        for number in range(1, self.limit + 1):
            with self._taken(self._file(number)) as place:
                if place is None or os.read(place, 1):  # whoever had it before has not been reported yet
                    continue
                name = f"worker-{number}-{secrets.token_hex(3)}"
                os.pwrite(place, f"{name}\n".encode(), 0)
                os.pwrite(place, f"{name}\n{self._start(name, place)}\n".encode(), 0)
                return name
        return None

    def _start(self, name: str, place: int) -> int:
        command = ["-m", "core", "--home", str(self.home), "--quiet", "worker", "--name", name, "--place", str(place)]
        with storing(self.folder), open(self.folder / "workers.log", "ab") as log:
            return subprocess.Popen(
                [sys.executable, *command],
                cwd=PROJECT,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
                pass_fds=(place,),
                env={**os.environ, "PYTHONUNBUFFERED": "1"},
            ).pid

    def alive(self) -> dict[str, float]:
        """The workers that have a place, starting ones too, and for how many seconds."""
        held: dict[str, float] = {}
        for file in self._files():
            with self._taken(file) as place:
                if place is None and (name := _name(file)):
                    held[name] = time.time() - file.stat().st_mtime
        return held

    def gone(self) -> tuple[str, ...]:
        """The workers that died since the last call; their places are free again."""
        dead = []
        for file in self._files():
            with self._taken(file) as place:
                if place is not None and (name := _name(file)):
                    dead.append(name)
                    os.ftruncate(place, 0)
        return tuple(dead)

    def kill(self, name: str) -> None:
        """End a worker that hangs."""
        for file in self._files():
            with self._taken(file) as place:
                written = file.read_text().split()
                if place is None and written[:1] == [name] and len(written) == 2:
                    with suppress(ProcessLookupError):
                        os.kill(int(written[1]), signal.SIGKILL)

    def turn(self, pause: float) -> bool:
        """Whether it is this process's turn to look after the workers: one caller at a time, seconds after the last."""
        with self._taken(self.folder / "turn.lock") as turn:
            if turn is None or (os.fstat(turn).st_size and abs(time.time() - os.fstat(turn).st_mtime) < pause):
                return False
            os.pwrite(turn, b".", 0)
            return True

    # ------------------------------------------------------------ inside a worker

    def settle(self, place: int) -> None:
        """Be a worker: give way to the server, keep within the limit of memory, and hand the place to no child."""
        os.nice(NICE)
        with suppress(OSError):
            Path("/proc/self/oom_score_adj").write_text(str(OOM_SCORE))
        with suppress(ValueError, OSError):  # where an administrator set a lower limit, that one counts
            resource.setrlimit(resource.RLIMIT_DATA, (self.memory << 20, resource.getrlimit(resource.RLIMIT_DATA)[1]))
        if place:
            os.set_inheritable(place, False)
            self.place = place

    def leave(self) -> None:
        """Give the place back before the process ends: jobs that come in now get a worker of their own."""
        if self.place is not None:
            os.ftruncate(self.place, 0)
            os.close(self.place)
            self.place = None

    def large(self) -> bool:
        """Whether this worker keeps so much memory that a fresh one is better for the next job."""
        return resident() >> 20 > self.memory // 2

    # ------------------------------------------------------------ files

    def _file(self, number: int) -> Path:
        return self.folder / f"worker-{number}.lock"

    def _files(self) -> list[Path]:
        return sorted(self.folder.glob("worker-*.lock"))

    @contextmanager
    def _taken(self, file: Path) -> Iterator[int | None]:
        """The lock of a place, or None where somebody has it."""
        with storing(self.folder):
            self.folder.mkdir(parents=True, exist_ok=True)
            descriptor = try_flock(file)
        try:
            yield descriptor
        finally:
            if descriptor is not None:
                os.close(descriptor)


def worker_limit(workers: int, shared: bool) -> int:
    """How many workers a machine starts: -1 is one per core, or none where nodes share the database and have their own.

    >>> worker_limit(3, shared=True), worker_limit(-1, shared=True), worker_limit(-1, shared=False) > 0
    (3, 0, True)
    """
    if workers >= 0:
        return workers
    if shared:
        return 0
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _name(file: Path) -> str:
    return "".join(file.read_text().split()[:1])


class Presence:
    """This process, as others on the machine see it: a file whose lock it holds as long as it lives."""

    def __init__(self, folder: Path) -> None:
        self.folder, self._name, self._guard = folder, "", Lock()

    @property
    def name(self) -> str:
        with self._guard, storing(self.folder):
            if not self._name:
                name = f"process-{secrets.token_hex(8)}"
                self.folder.mkdir(parents=True, exist_ok=True)
                if (descriptor := try_flock(self.folder / f"{name}.lock")) is not None:
                    weakref.finalize(self, os.close, descriptor)
                self._name = name
            return self._name

    def ended(self, name: str) -> bool:
        """Whether a process of this machine is gone; a process of another machine left no file here."""
        file = self.folder / f"{name}.lock"
        if name == self._name or not file.exists() or (descriptor := try_flock(file)) is None:
            return False
        os.close(descriptor)
        return True

    def sweep(self, age: float) -> None:
        """Remove what processes left that ended so many seconds ago."""
        for file in self.folder.glob("process-*.lock"):
            if time.time() - file.stat().st_mtime > age and self.ended(file.stem):
                file.unlink()


class SystemClock:
    """The `Clock` port."""

    def today(self) -> date:
        return date.today()

    def stamp(self) -> str:
        """ISO 8601, to the second, with the zone."""
        return datetime.now().astimezone().isoformat(timespec="seconds")
