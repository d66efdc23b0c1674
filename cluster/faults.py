"""What goes wrong on purpose, and when."""

from __future__ import annotations

import asyncio
import os
import signal
import time
from dataclasses import dataclass
from pathlib import Path

from cluster import running
from cluster.people import Diary


@dataclass(frozen=True, slots=True)
class Fault:
    """A program to end, at a share of the walk's time. `number` is the signal: 9 asks nobody."""

    share: float
    program: str
    number: int
    words: str


SCHEDULE = (
    Fault(0.12, "node-2", signal.SIGKILL, "kill -9 of an app node"),
    Fault(0.28, "worker-1", signal.SIGKILL, "kill -9 of a worker"),
    Fault(0.44, "volume-2", signal.SIGKILL, "kill -9 of a volume server"),
    Fault(0.60, "gateway-1", signal.SIGKILL, "kill -9 of an S3 gateway"),
    Fault(0.76, "postgres", signal.SIGINT, "restart of PostgreSQL"),
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
        os.kill(before.pid, fault.number)
    until = time.monotonic() + 60
    while time.monotonic() < until:
        now = _program(folder, fault.program)
        if now and before and now.starts > before.starts and now.alive:
            break
        await asyncio.sleep(0.2)
    return Happened(fault.words, fault.program, at, time.monotonic() - diary.started)


def _program(folder: Path, name: str) -> running.Running | None:
    census = running.read(folder)
    return census.programs.get(name) if census else None
