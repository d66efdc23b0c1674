"""Which processes a cluster has: written by its supervisor, read by whoever asks, ends or disturbs it."""

from __future__ import annotations

import json
import os
import signal
import time
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path

FILE = "running.json"


@dataclass(frozen=True, slots=True)
class Running:
    """One process. A number alone may belong to somebody else by now, so the tick of its start is kept with it."""

    pid: int
    tick: int
    starts: int = 1

    @property
    def alive(self) -> bool:
        return started_at(self.pid) == self.tick


@dataclass(frozen=True, slots=True)
class Census:
    """The supervisor and its programs; `ready` once people can come."""

    supervisor: Running
    programs: dict[str, Running] = field(default_factory=dict)
    ready: bool = False


def started_at(pid: int) -> int:
    """The kernel's tick at which a process started; 0 if there is none, or only its remains.

    >>> started_at(os.getpid()) > 0, started_at(2**22 + 1)
    (True, 0)
    """
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0
    return 0 if fields[0] in "ZX" else int(fields[19])


def this_process(pid: int, starts: int = 1) -> Running:
    return Running(pid, started_at(pid), starts)


def write(folder: Path, census: Census) -> None:
    """Replace the file in one step: a reader never sees half of it."""
    draft = folder / f".{FILE}"
    draft.write_text(json.dumps(asdict(census), indent=2))
    draft.replace(folder / FILE)


def read(folder: Path) -> Census | None:
    """The processes of a cluster; None if none was started."""
    try:
        raw = json.loads((folder / FILE).read_text())
    except FileNotFoundError:
        return None
    programs = {name: Running(**one) for name, one in raw["programs"].items()}
    return Census(Running(**raw["supervisor"]), programs, raw["ready"])


def end_group(pid: int, number: int) -> None:
    """A signal to a process and all that it started."""
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(pid, number)


def end_orphans(census: Census, patience: float = 10.0) -> list[str]:
    """End the programs of a supervisor that is gone; the names of those that were still there."""
    left = {name: one for name, one in census.programs.items() if one.alive}
    for one in left.values():
        end_group(one.pid, signal.SIGTERM)
    _wait(left.values(), patience)
    for one in left.values():
        if one.alive:
            end_group(one.pid, signal.SIGKILL)
    return sorted(left)


def _wait(processes: Iterable[Running], patience: float) -> None:
    until = time.monotonic() + patience
    while time.monotonic() < until and any(one.alive for one in processes):
        time.sleep(0.1)


def cpu_seconds(pid: int) -> float:
    """What a program has used so far: its process, and all that descend from it and run.

    >>> cpu_seconds(os.getpid()) > 0, cpu_seconds(2**22 + 1)
    (True, 0.0)
    """
    used, children = {}, dict[int, list[int]]()
    for place in Path("/proc").iterdir():
        if place.name.isdigit():
            with suppress(OSError, IndexError):
                fields = (place / "stat").read_text().rpartition(")")[2].split()
                used[int(place.name)] = sum(map(int, fields[11:15]))
                children.setdefault(int(fields[1]), []).append(int(place.name))
    ticks, left = 0, [pid]
    while left:
        one = left.pop()
        ticks += used.get(one, 0)
        left += children.get(one, [])
    return ticks / os.sysconf("SC_CLK_TCK")
