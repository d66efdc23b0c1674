"""Bulk work on Ray beside one process: the same documents, CPU of every process, and what a kill changes."""

from __future__ import annotations

import hashlib
import os
import shutil
import signal
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psutil

from bench.corpus import ROOT
from bench.measure import cpu
from core.access import SYSTEM
from core.adapters.models.ray_cluster import RayCluster
from core.bootstrap import App, build
from core.bulk import InlineBulk
from core.ports import Bulk, Progress, no_progress
from core.profiles import DEFAULT
from core.settings import load

HEADS = (
    "way",
    "wall s",
    "starting s",
    "CPU s, all processes",
    "builder",
    "workers",
    "Ray's own",
    "CPU against one process",
    "CPU ms a chunk",
    "index",
)


class ProcessTree:
    """CPU seconds of this process and of all that it started, also of those that were killed: looked at five
    times a second.
    """

    def __init__(self) -> None:
        self.own, self.spent = cpu(), {}  # type: float, dict[str, dict[int, float]]
        self._done = threading.Event()
        self._looker = threading.Thread(target=self._look)
        self._looker.start()

    def _look(self) -> None:
        while not self._done.wait(0.2):
            for child in psutil.Process().children(recursive=True):
                try:
                    times, command = child.cpu_times(), " ".join(child.cmdline())
                except psutil.Error:
                    continue
                working = any(word in command for word in ("ray::work_on", "ray::IDLE", "default_worker"))
                known = next((kind for kind, spent in self.spent.items() if child.pid in spent), "ray")
                kind = "workers" if working else known  # what has ended has no command any more
                for other in self.spent.values():
                    other.pop(child.pid, None)
                self.spent.setdefault(kind, {})[child.pid] = times.user + times.system

    def stop(self) -> tuple[float, float, float]:
        """Of the builder, of the workers, of Ray's own processes."""
        self._done.set()
        self._looker.join()
        kinds = (sum(self.spent.get(kind, {}).values()) for kind in ("workers", "ray"))
        return time.process_time(), *kinds


class MeteredBulk(InlineBulk):
    """Work in this process, with the CPU of each kind by the clock of its thread."""

    def __init__(self, app: App) -> None:
        super().__init__(app.models.registry)
        self.spent: dict[str, float] = {}

    def map(
        self, work: str, key: Any, things: Sequence[Any], progress: Progress = no_progress
    ) -> Iterator[tuple[int, Sequence[Any]]]:
        parts, began = super().map(work, key, things, progress), time.thread_time()
        for part in parts:
            self.spent[work] = self.spent.get(work, 0.0) + time.thread_time() - began
            yield part
            began = time.thread_time()


def workspace(home: Path) -> App:
    """A part of the starter knowledge base, in a workspace without any vectors."""
    shutil.rmtree(home, ignore_errors=True)
    app = build(load({}, home=home))
    app.platform.workspace.create()
    files = sorted((ROOT / "kb").rglob("*.md"))[::3]
    app.knowledge.documents.save(
        SYSTEM, {path.relative_to(ROOT / "kb").as_posix(): path.read_bytes() for path in files}, [], "A third"
    )
    return app


def content(app: App) -> str:
    """The digest of the chunks, words and vectors of a generation, and of what it finds."""
    index, digest = app.index.generations.open(DEFAULT), hashlib.sha256()
    for n in range(index.size):
        digest.update(repr((index.passage(n), index.text(index.document_of(n)), index.context(n))).encode())
        digest.update(index.vector(n).tobytes())
    digest.update(repr(sorted(index.vocabulary.items())).encode())
    digest.update(repr([hit.score for hit in app.search.searcher.search("who approves a refund").hits]).encode())
    return digest.hexdigest()


def serial(home: Path) -> dict[str, float]:
    """CPU s of a build by kind of work: what workers can take, and what the builder does by itself."""
    app = workspace(home)
    before = time.process_time()
    app.index.builder.build(DEFAULT)
    whole = time.process_time() - before
    bulk, before = MeteredBulk(app), time.process_time()
    app.index.builder.build(DEFAULT, full=True, bulk=bulk)
    known = time.process_time() - before  # every vector came from the cache
    spent = {"chunk and analyse": bulk.spent["chunk"], "entities": bulk.spent["extract"]}
    return {"embed": whole - known, **spent, "read, write, publish": known - sum(spent.values()), "all": whole}


@contextmanager
def _machines(count: int) -> Iterator[Any]:
    """A head without work, and machines with one processor each, all on this one."""
    from ray.cluster_utils import Cluster

    os.environ["CONCORD_MODELS"] = str(load({}).models)
    cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 0, "include_dashboard": False})
    for _ in range(count):
        cluster.add_node(num_cpus=1)
    try:
        yield cluster
    finally:
        cluster.shutdown()


def _kill(machines: Any) -> None:
    """A worker process, and another machine as a whole."""
    named = [(child.pid, child.cmdline()) for child in psutil.Process().children(recursive=True)]
    os.kill(next(pid for pid, command in named if "ray::work_on" in " ".join(command)), signal.SIGKILL)
    machines.remove_node(next(iter(machines.worker_nodes)), allow_graceful=False)


def measure(home: Path, way: str) -> dict[str, Any]:
    """One build in this process, which must be a fresh one."""
    app, started = workspace(home / way.replace(" ", "-")), time.perf_counter()
    tree, before, ready = ProcessTree(), time.process_time(), []  # type: ignore[var-annotated]
    struck: list[bool] = []

    def run(bulk: Bulk | None, strike: Callable[[], object] = lambda: None) -> None:
        def progress(done: int, total: int, what: str) -> None:
            ready.append(time.perf_counter() - started)
            if what == "Embedding" and 0 < done < total and not struck:
                struck.append(True)
                strike()

        app.index.builder.build(DEFAULT, progress=progress, bulk=bulk)

    here = InlineBulk(app.models.registry)
    if way == "one process":
        run(None)
    elif way == "Ray of this machine":
        with RayCluster("ray", app.settings, here) as cluster:
            run(cluster)
    else:
        with _machines(2) as machines, RayCluster(machines.address, app.settings, here) as cluster:
            run(cluster, (lambda: _kill(machines)) if "killed" in way else lambda: None)
    wall = time.perf_counter() - started
    own, workers, ray = tree.stop()
    return {
        "way": way,
        "wall": wall,
        "starting": ready[0],
        "builder": own - before,
        "workers": workers,
        "ray": ray,
        "chunks": app.index.generations.open(DEFAULT).size,
        "content": content(app),
    }


WAYS = (
    "one process",
    "Ray of this machine",
    "Ray, a head and two machines",
    "Ray, a worker process and a raylet killed",
)


def rows(measured: Sequence[dict[str, Any]]) -> Iterator[list[str]]:
    """The table."""
    base = measured[0]
    for each in measured:
        total = each["builder"] + each["workers"] + each["ray"]
        yield [
            each["way"],
            f"{each['wall']:.0f}",
            f"{each['starting']:.0f}",
            *(f"{value:.1f}" for value in (total, each["builder"], each["workers"], each["ray"])),
            f"{total / base['builder']:.2f}x",
            f"{1e3 * total / each['chunks']:.0f}",
            "the same" if each["content"] == base["content"] else "ANOTHER",
        ]


if __name__ == "__main__":
    import json
    import sys

    found = serial(Path(sys.argv[1]) / "serial") if sys.argv[2] == "serial" else measure(Path(sys.argv[1]), sys.argv[2])
    print(json.dumps(found))
