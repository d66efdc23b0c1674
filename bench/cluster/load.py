"""How many searches 1, 2 and 3 nodes answer, through the proxy, and who used the processor meanwhile."""

from __future__ import annotations

import asyncio
import os
import socket
import time
from collections.abc import Mapping
from typing import Any

from bench.cluster import running
from bench.cluster.line import Line, Lost
from bench.cluster.plan import Plan
from bench.cluster.report import latency
from bench.cluster.searches import questions
from bench.cluster.walk import accounts

CLIENTS = 16
TOKENS = 30  # each may ask 600 times a minute


def run(plan: Plan, seconds: float) -> list[dict[str, Any]]:
    """A row for each number of nodes.

    Every node is asked all questions before, so that vectors of questions are cached.
    """
    tokens = [one["token"] for one in accounts(plan, TOKENS)]
    try:
        return [_measured(plan, count, seconds, tokens) for count in range(1, plan.nodes + 1)]
    finally:
        _serve_with(plan, plan.nodes)


def _measured(plan: Plan, count: int, seconds: float, tokens: list[str]) -> dict[str, Any]:
    _serve_with(plan, count)
    time.sleep(2)
    asyncio.run(_ask(plan.address, tokens, 4.0))
    before, busy = _cpu(plan), _machine()
    own, started = time.process_time(), time.monotonic()
    took, errors = asyncio.run(_ask(plan.address, tokens, seconds))
    wall = time.monotonic() - started
    spent = {name: used - before.get(name, 0.0) for name, used in _cpu(plan).items()}
    return {
        "nodes": count,
        "per_second": len(took) / wall,
        "ms": latency(took),
        "errors": errors,
        "cpu_ms": {
            part: 1000 * used / max(1, len(took)) for part, used in _parts(spent, time.process_time() - own).items()
        },
        "busy": (_machine() - busy) / wall / (os.cpu_count() or 1),
    }


def _parts(spent: Mapping[str, float], own: float) -> dict[str, float]:
    """CPU seconds of nodes, of PostgreSQL, of the proxy, of everything else of the cluster, and of the clients."""
    nodes = sum(used for name, used in spent.items() if name.startswith("node-"))
    known = {"nodes": nodes, "postgres": spent.get("postgres", 0.0), "proxy": spent.get("proxy", 0.0)}
    return {**known, "others": sum(spent.values()) - sum(known.values()), "clients": own}


async def _ask(address: str, tokens: list[str], seconds: float) -> tuple[list[float], int]:
    took: list[float] = []
    errors, until, every = 0, time.monotonic() + seconds, questions()

    async def client(number: int) -> None:
        nonlocal errors
        line, turn = Line(address, tokens[number], sticky=False), number
        while time.monotonic() < until:
            line.token = tokens[turn % len(tokens)]
            try:
                reply = await line.get("/search", {"q": every[turn % len(every)]})
            except Lost:
                errors += 1
                continue
            took.append(reply.seconds)
            errors += reply.status != 200
            turn += CLIENTS + 1

    await asyncio.gather(*(client(number) for number in range(CLIENTS)))
    return took, errors


def _serve_with(plan: Plan, count: int) -> None:
    """Let the proxy use the first nodes alone."""
    for number, name in enumerate(plan.node_names, 1):
        tell_proxy(plan, f"set server nodes/{name} state {'ready' if number <= count else 'maint'}")


def tell_proxy(plan: Plan, command: str) -> str:
    with socket.socket(socket.AF_UNIX) as line:
        line.connect(str(plan.folder / "proxy.sock"))
        line.sendall(f"{command}\n".encode())
        return line.makefile().read()


def _cpu(plan: Plan) -> dict[str, float]:
    census = running.read(plan.folder)
    return {name: running.cpu_seconds(one.pid) for name, one in census.programs.items()} if census else {}


def _machine() -> float:
    """Seconds that the machine's cores have worked so far, for whomever."""
    with open("/proc/stat") as file:
        user, nice, system = map(int, file.readline().split()[1:4])
    return (user + nice + system) / os.sysconf("SC_CLK_TCK")


def markdown(rows: list[dict[str, Any]]) -> str:
    lines = [
        (
            "| Nodes | Searches a second | p50 / p95 ms | CPU ms a search: nodes, PostgreSQL, proxy, clients | Cores"
            " busy | Errors |"
        ),
        "|---|---|---|---|---|---|",
    ]
    for row in rows:
        spent = row["cpu_ms"]
        cpu = ", ".join(f"{spent[part]:.1f}" for part in ("nodes", "postgres", "proxy", "clients"))
        lines.append(
            f"| {row['nodes']} | {row['per_second']:.0f} | {row['ms']['p50']:.0f} / {row['ms']['p95']:.0f} | {cpu} |"
            f" {row['busy']:.0%} | {row['errors']} |"
        )
    return "\n".join(lines) + "\n"
