"""What goes wrong on purpose, and when."""

from __future__ import annotations

import asyncio
import os
import signal
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from bench.cluster import running
from bench.cluster.people import Diary


@dataclass(frozen=True, slots=True)
class Fault:
    """A program to end or to stop, at a share of the walk's time. `number` is the signal: 9 asks nobody; one that is
    stopped goes on
    after `pause` seconds."""

    share: float
    program: str
    number: int
    words: str
    pause: float = 0.0


PAUSE = 20.0  # seconds that a program hangs
SCHEDULE = (
    Fault(0.05, "node-2", signal.SIGKILL, "kill -9 of an app node"),
    Fault(0.12, "node-3", signal.SIGSTOP, "pause of an app node", PAUSE),
    Fault(0.21, "worker-1", signal.SIGKILL, "kill -9 of a worker"),
    Fault(0.26, "worker-2", signal.SIGSTOP, "pause of a worker", PAUSE),
    Fault(0.34, "volume-2", signal.SIGKILL, "kill -9 of a volume server"),
    Fault(0.40, "gateway-1", signal.SIGKILL, "kill -9 of an S3 gateway"),
    Fault(0.46, "filer", signal.SIGSTOP, "pause of the store's filer", PAUSE),
    Fault(0.54, "git", signal.SIGKILL, "kill -9 of the git server"),
    Fault(0.60, "git", signal.SIGSTOP, "pause of the git server", PAUSE),
    Fault(0.69, "postgres", signal.SIGINT, "restart of PostgreSQL"),
    Fault(0.77, "postgres", signal.SIGSTOP, "pause of PostgreSQL", PAUSE),
    Fault(0.88, "proxy", signal.SIGKILL, "kill -9 of the proxy"),
)


@dataclass(frozen=True, slots=True)
class Happened:
    """A fault as it was: when the program ended and when it ran again, in seconds since the start."""

    words: str
    program: str
    at: float
    again: float


async def disturb(folder: Path, minutes: float, diary: Diary, said: list[Happened]) -> None:
    """Carry the schedule out; the supervisor starts again what ends."""
    for fault in SCHEDULE:
        await asyncio.sleep(max(0.0, diary.started + fault.share * minutes * 60 - time.monotonic()))
        said.append(await _one(folder, fault, diary))


async def _one(folder: Path, fault: Fault, diary: Diary) -> Happened:
    before = _program(folder, fault.program)
    at = time.monotonic() - diary.started
    if before and before.alive:
        await (_hang(before.pid, fault.pause) if fault.pause else _end(folder, fault, before))
    return Happened(fault.words, fault.program, at, time.monotonic() - diary.started)


async def _hang(pid: int, seconds: float) -> None:
    """Stop a program with all that it started, and let it go on; whoever waits for it learns nothing."""
    stopped = [pid, *_children(pid)]
    _send(stopped, signal.SIGSTOP)
    try:
        await asyncio.sleep(seconds)
    finally:
        _send(stopped, signal.SIGCONT)


async def _end(folder: Path, fault: Fault, before: running.Running) -> None:
    """End a program, and wait until the supervisor has started it again."""
    os.kill(before.pid, fault.number)
    until = time.monotonic() + 60
    while time.monotonic() < until:
        now = _program(folder, fault.program)
        if now and now.starts > before.starts and now.alive:
            break
        await asyncio.sleep(0.2)


def _send(pids: list[int], number: int) -> None:
    for pid in pids:
        with suppress(ProcessLookupError):
            os.kill(pid, number)


def _children(pid: int) -> list[int]:
    """Every process that descends from one."""
    parents: dict[int, list[int]] = {}
    for folder in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            fields = (folder / "stat").read_text().rpartition(")")[2].split()
            parents.setdefault(int(fields[1]), []).append(int(folder.name))
    found, ahead = list[int](), [pid]
    while ahead:
        more = parents.get(ahead.pop(), [])
        found += more
        ahead += more
    return found


def _program(folder: Path, name: str) -> running.Running | None:
    census = running.read(folder)
    return census.programs.get(name) if census else None
