"""CPU and wall time of a call, and tables of ratios."""

from __future__ import annotations

import resource
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Timing:
    """Milliseconds per call."""

    cpu50: float
    cpu95: float
    wall50: float
    wall95: float


def cpu() -> float:
    """CPU seconds of this process and its finished children, all threads."""
    usages = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(usage.ru_utime + usage.ru_stime for usage in usages)


def cpu_besides_embedding(app: Any) -> float:
    """The same without the seconds of made-up vectors."""
    return cpu() - float(app.models.registry.embedder("").spent)


def timed(call: Callable[[Any], Any], inputs: Sequence[Any], warm: int = 3) -> Timing:
    """Time one call per input, after a few to warm up."""
    return in_turns([call], inputs, warm)[0]


def in_turns(calls: Sequence[Callable[[Any], Any]], inputs: Sequence[Any], warm: int = 3) -> list[Timing]:
    """Time several calls per input, one after the other: what slows the machine for a while slows all of them."""
    for value in inputs[:warm]:
        for call in calls:
            call(value)
    spent: list[tuple[list[float], list[float]]] = [([], []) for _ in calls]
    for value in inputs:
        for call, (cpus, walls) in zip(calls, spent, strict=True):
            before, started = time.process_time(), time.perf_counter()
            call(value)
            cpus.append((time.process_time() - before) * 1000)
            walls.append((time.perf_counter() - started) * 1000)
    return [Timing(_at(cpus, 0.5), _at(cpus, 0.95), _at(walls, 0.5), _at(walls, 0.95)) for cpus, walls in spent]


def _at(values: list[float], share: float) -> float:
    return sorted(values)[min(len(values) - 1, int(share * len(values)))]


def memory() -> float:
    """Resident megabytes of this process now."""
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * resource.getpagesize() / 1e6


def peak() -> float:
    """The most resident megabytes this process ever had."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3


def markdown_table(heads: Sequence[str], rows: Sequence[Sequence[Any]]) -> str:
    """Rows as a Markdown table."""
    lines = [heads, ["---"] * len(heads), *rows]
    return "\n".join("| " + " | ".join(str(cell) for cell in line) + " |" for line in lines)
