"""What a search did so far: stages with their times and costs, and what went wrong on the way."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field

from core.types import Stage


@dataclass(slots=True)
class Trace:
    """What happened so far: stages with their times, and what went wrong on the way."""

    clock: Callable[[], float] = time.perf_counter
    stages: list[Stage] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)

    def stage(self, name: str) -> Timed:
        """Time a stage; the block puts what it hands on, a note and a cost if it has them, into the list."""
        return Timed(self, name)


class Timed:
    """One stage while it runs. A plain class: searches take several, and a generator would cost twice as much."""

    __slots__ = ("name", "out", "started", "trace")

    def __init__(self, trace: Trace, name: str) -> None:
        self.trace, self.name = trace, name

    def __enter__(self) -> list[object]:
        self.out: list[object] = []
        self.started = self.trace.clock()
        return self.out

    def __exit__(self, *_: object) -> None:
        ms, out = (self.trace.clock() - self.started) * 1000.0, self.out
        count = len(out[0]) if out and hasattr(out[0], "__len__") else 0
        note = str(out[1]) if len(out) > 1 else ""
        cost = float(out[2]) if len(out) > 2 else 0.0  # type: ignore[arg-type]
        self.trace.stages.append(Stage(self.name, ms, count, note, cost))
