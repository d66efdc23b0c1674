"""Nodes and workers restarted one after the other, with the same code or another, while people work on."""

from __future__ import annotations

import asyncio
import os
import signal
import time
from collections.abc import Callable
from pathlib import Path

from bench.cluster import running
from bench.cluster.faults import Happened
from bench.cluster.plan import Plan, ports, use_checkout
from bench.cluster.programs import responds
from core.errors import Unavailable

PATIENCE = 180.0  # seconds in which what was ended must serve again
SEEN = 3.0  # seconds in which the proxy sees that a node is back


async def roll(plan: Plan, code: Path | None, said: list[Happened], clock: Callable[[], float]) -> None:
    """Restart node by node, then worker by worker, each once the one before it serves; with `code` they come back
    with that.
    """
    if code:
        use_checkout(plan.folder, code)
    for name in (*plan.node_names, *plan.worker_names):
        await asyncio.sleep(SEEN)
        at = clock()
        await _restart(plan, name)
        said.append(Happened(f"{'upgrade' if code else 'restart'} of {name}", name, at, clock()))


async def _restart(plan: Plan, name: str) -> None:
    before, until = _found(plan, name), time.monotonic() + PATIENCE
    os.kill(before.pid, signal.SIGTERM)
    serves = responds(ports(plan)[name], "/_stcore/health") if name in ports(plan) else lambda: True
    while time.monotonic() < until:
        await asyncio.sleep(0.3)
        now = _found(plan, name)
        if now.starts > before.starts and now.alive and await asyncio.to_thread(serves):
            return
    raise Unavailable(f"{name} did not come back. Its log is {plan.folder / 'logs' / name}.log.")


def _found(plan: Plan, name: str) -> running.Running:
    census = running.read(plan.folder)
    if census is None or name not in census.programs:
        raise Unavailable(f"No cluster with {name} runs in {plan.folder}. Start one with: make cluster")
    return census.programs[name]
