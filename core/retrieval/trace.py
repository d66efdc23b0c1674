"""What a search did so far: stages with their times and costs, and what went wrong on the way."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from core.types import Stage


@dataclass(slots=True)
class Trace:
    """What happened so far: stages with their times, and what went wrong on the way."""

    clock: Callable[[], float] = time.perf_counter
    stages: list[Stage] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)

    @contextmanager
    def stage(self, name: str) -> Iterator[list[object]]:
        """Time a stage; the block puts what it hands on, a note and a cost if it has them, into the list."""
        out: list[object] = []
        started = self.clock()
        try:
            yield out
        finally:
            count = len(out[0]) if out and hasattr(out[0], "__len__") else 0  # type: ignore[arg-type]
            note = str(out[1]) if len(out) > 1 else ""
            cost = float(out[2]) if len(out) > 2 else 0.0  # type: ignore[arg-type]
            self.stages.append(Stage(name, (self.clock() - started) * 1000.0, count, note, cost))
