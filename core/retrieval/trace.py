"""The trace of a search: stages with times and costs, and warnings."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field

from core.types import Stage


@dataclass(slots=True)
class Trace:
    """Stages in the order in which they ended, and warnings."""

    clock: Callable[[], float] = time.perf_counter
    stages: list[Stage] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)

    def stage(self, name: str) -> TimedStage:
        """Time a stage; the block may set how many hits it hands on, a note and a cost."""
        return TimedStage(self, name)


class TimedStage:
    """One stage while it runs. A plain class: searches take several, and a generator would cost twice as much."""

    __slots__ = ("cost", "hits", "name", "note", "started", "trace")

    def __init__(self, trace: Trace, name: str) -> None:
        self.trace, self.name = trace, name
        self.hits, self.note, self.cost = 0, "", 0.0

    def __enter__(self) -> TimedStage:
        self.started = self.trace.clock()
        return self

    def __exit__(self, *_: object) -> None:
        ms = (self.trace.clock() - self.started) * 1000.0
        self.trace.stages.append(Stage(self.name, ms, self.hits, self.note, self.cost))
