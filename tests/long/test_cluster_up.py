"""The whole cluster for real: up, one merge that every node finds, the loss of a node, down."""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import closing
from itertools import takewhile
from pathlib import Path
from typing import Any

import pytest

from bench.cluster import running, walk
from bench.cluster.plan import HERE, Plan, every_port, ports, taken
from clients.concord_client import Client

ROOT = Path(__file__).resolve().parents[2]
HAPROXY = shutil.which("haproxy", path=os.environ["PATH"] + ":/usr/sbin")


def free_plan(folder: Path) -> Plan:
    """A plan whose ports are all free now."""
    for _ in range(20):
        with closing(socket.socket()) as probe:
            probe.bind((HERE, 0))
            first = probe.getsockname()[1]
        plan = Plan(folder, 1_024 + first % 50_000, nodes=3, workers=2, pause=1.0)
        if not taken(every_port(plan)):
            return plan
    raise AssertionError("no free ports")


def command(plan: Plan, *words: str) -> list[str]:
    return [
        sys.executable,
        "-m",
        "bench.cluster",
        "--folder",
        str(plan.folder),
        "--port",
        str(plan.port),
        "--pause",
        "1",
        *words,
    ]


@pytest.fixture
def plan(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Iterator[Plan]:
    if not HAPROXY:
        pytest.skip("NO HAPROXY ON THIS MACHINE: apt install haproxy")
    folder = tmp_path_factory.mktemp("cluster")
    for place in takewhile(lambda place: not place.stat().st_mode & 0o001, (folder, *folder.parents)):
        place.chmod(0o755)  # PostgreSQL runs as another user where this one is root
    monkeypatch.setenv("CONCORD_CACHE", str(ROOT / ".cache" / "tests"))
    chosen = free_plan(folder)
    try:
        yield chosen
    finally:
        subprocess.run(command(chosen, "down"), cwd=ROOT, capture_output=True)


def found_by(client: Client, words: str, seconds: float = 90.0) -> dict[str, Any]:
    """The first hit for some words, once it is a document that holds them."""
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        hits = client.search(words, k=1)["hits"]
        if hits and words in hits[0]["text"]:
            return dict(hits[0])
        time.sleep(0.5)
    raise AssertionError(f"{client.base} does not find {words!r}")


@pytest.mark.slow
def test_a_merge_at_one_node_is_found_at_all_of_them_and_outlives_its_node(plan: Plan) -> None:
    started = subprocess.run(command(plan, "up", "--detach"), cwd=ROOT, capture_output=True, text=True, timeout=600)
    assert started.returncode == 0, started.stderr
    assert plan.address in started.stdout
    second = subprocess.run(command(plan, "up"), cwd=ROOT, capture_output=True, text=True)
    assert (second.returncode, "runs already" in second.stderr) == (1, True)

    people = {person["role"]: person["token"] for person in walk.accounts(plan, 3)}
    author, reviewer = (Client(plan.address, people[role]) for role in ("author", "reviewer"))
    change = author.propose_change(
        "Turnstiles", {"it/turnstiles.md": "# Turnstiles\n\nOil the zorbing hinge weekly.\n"}
    )
    author.submit_change(change["id"])
    reviewer.judge_change(change["id"], "approve", head=change["head"])
    merged = reviewer.merge_change(change["id"], head=change["head"])["merged"]

    nodes = {name: Client(f"http://{HERE}:{ports(plan)[name]}", people["author"]) for name in plan.node_names}
    hits = {name: found_by(client, "zorbing hinge") for name, client in nodes.items()}
    assert all(hit == hits["node-1"] for hit in hits.values())

    census = running.read(plan.folder)
    assert census is not None
    os.kill(census.programs["node-1"].pid, signal.SIGKILL)
    for _ in range(20):
        assert author.search("zorbing hinge", k=1)["commit"] == merged
    down = subprocess.run(command(plan, "down"), cwd=ROOT, capture_output=True, text=True, timeout=120)
    assert down.returncode == 0, down.stderr
    assert not any(program.alive for program in census.programs.values())
    assert taken(ports(plan)) == {}
