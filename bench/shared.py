"""What a shared repository costs: the same merges with the workspace's own, over a folder and over `git http-backend`.

The ways take turns, so that whatever else the machine does meets all of them. CPU is that of the node and of the git
processes it
waits for; the host of smart HTTP is another process, and its CPU is given beside it.
"""

from __future__ import annotations

import os
import resource
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from bench import report
from bench.measure import markdown_table
from core.bootstrap import App
from tests.conftest import NoProcesses, put, small_app
from tests.support.git_server import free_port, started
from tests.support.nodes import REVIEWER, node, proposed
from tests.support.remotes import bare

MERGES = 15
OWN, FOLDER, HTTP = "its own", "shared, a folder", "shared, smart HTTP"


def write() -> None:
    """Measure and write the section."""
    with tempfile.TemporaryDirectory() as place:
        rows = measured(Path(place))
    heads = (
        "Repository",
        "Merge, ms",
        "CPU, ms",
        "CPU of the host, ms",
        "Propose, submit, approve, ms",
        "Look that finds nothing, ms",
        "CPU, ms",
    )
    about = (
        f"Median of {MERGES} merges each, taking turns, with everything that a merge does but the index: checks,"
        " compare-and-swap, audit, messages, deletion of the branch. A look is the fetch that every node makes each"
        " second."
    )
    report.write("shared", "A shared repository", f"{about}\n\n{markdown_table(heads, rows)}\n\n{_machine()}")


def _machine() -> str:
    return f"{report.machine()}, load {os.getloadavg()[0]:.0f}: wall times are those of a machine with other work."


def measured(place: Path) -> list[tuple[str, ...]]:
    port = free_port()
    bare(place / "host" / "http.git")
    host = started(place / "host", port)
    try:
        apps = {
            OWN: small_app(place / "own", NoProcesses()),
            FOLDER: node(place / "folder", "one", bare(place / "folder.git")),
            HTTP: node(place / "http", "one", f"http://127.0.0.1:{port}/http.git"),
        }
        taken: dict[str, list[tuple[float, ...]]] = {name: [] for name in apps}
        for app in apps.values():
            put(app, {"a.md": "# A\n\nOne.\n"})
        for n in range(MERGES + 1):
            for name, app in apps.items():
                taken[name].append(_merge(app, n, host.pid))
    finally:
        host.kill()
        host.wait()
    return [(name, *_row(name, figures[1:])) for name, figures in taken.items()]  # the first warms up


def _merge(app: App, n: int, host: int) -> tuple[float, ...]:
    number = 0

    def propose() -> None:
        nonlocal number
        number = proposed(app, f"docs/{n}.md", f"# Text\n\nMerge {n}.\n")

    first = _timed(propose)[0]
    before = _cpu_of(host)
    wall, cpu = _timed(lambda: app.reviews.merger.merge(REVIEWER, number))
    return wall, cpu, _cpu_of(host) - before, first, *_timed(app.knowledge.repository.follow)


def _timed(work: Callable[[], object]) -> tuple[float, float]:
    """Wall and CPU milliseconds, children included."""
    began, used = time.perf_counter(), _cpu()
    work()
    return 1000 * (time.perf_counter() - began), 1000 * (_cpu() - used)


def _cpu() -> float:
    return sum(sum(resource.getrusage(who)[:2]) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))


def _cpu_of(pid: int) -> float:
    """CPU milliseconds of a process and the children that it waited for."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return 1000 * sum(map(int, fields[11:15])) / os.sysconf("SC_CLK_TCK")


def _row(name: str, figures: list[tuple[float, ...]]) -> list[str]:
    wall, cpu, host, first, look, look_cpu = (statistics.median(column) for column in zip(*figures, strict=True))
    shown = [f"{wall:.0f}", f"{cpu:.0f}", f"{host:.0f}" if name == HTTP else "–", f"{first:.0f}"]
    return [*shown, *(["–", "–"] if name == OWN else [f"{look:.0f}", f"{look_cpu:.0f}"])]
