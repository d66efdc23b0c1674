"""What one writer at a time costs: three processes write at once, into SQLite and into PostgreSQL.

python -m bench.database            # both, and prints a table
python -m bench.database URL HOME   # one process: what the others run
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from bench.corpus import ROOT
from bench.measure import markdown_table
from core.access import SYSTEM
from core.bootstrap import App, build
from core.services.people.accounts import DEMO
from core.settings import load
from tests.support.postgres import server

PROCESSES = 3
MESSAGES = 300
MERGES = 15
READS = 1000
_, AUTHOR, _, REVIEWER, _, _ = DEMO


def main() -> None:
    """A process of its own for each writer, so that only the database makes them wait."""
    if len(sys.argv) == 3:
        print(json.dumps(_write(_app(sys.argv[1], Path(sys.argv[2])), time.time_ns())))
        return
    with server() as postgres, tempfile.TemporaryDirectory() as folder:
        rows = [_measured("SQLite", f"sqlite:///{folder}/shared.db", Path(folder) / "sqlite")]
        rows.append(_measured("PostgreSQL", postgres.database("bench"), Path(folder) / "postgres"))
    heads = (
        "database",
        "writers",
        "messages a second",
        "merges a second",
        "reads a second",
        "one write, ms",
        "one read, ms",
    )
    print(markdown_table(heads, rows))


def _measured(name: str, url: str, home: Path) -> list[Any]:
    _app(url, home)
    command = [sys.executable, "-m", "bench.database", url, str(home)]
    running = [subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE) for _ in range(PROCESSES)]
    said = [json.loads(process.communicate()[0]) for process in running]
    many = {what: sum(row[what] for row in said) for what in ("messages", "merges", "reads")}
    alone = _write(_app(url, home), time.time_ns())
    return [
        name,
        PROCESSES,
        *(f"{many[what]:.0f}" if what != "merges" else f"{many[what]:.1f}" for what in ("messages", "merges", "reads")),
        f"{1000 / alone['messages']:.2f}",
        f"{1000 / alone['reads']:.2f}",
    ]


def _app(url: str, home: Path) -> App:
    app = build(load({}, home=home, database=url))
    app.platform.workspace.create()
    return app


def _write(app: App, mark: int) -> dict[str, float]:
    """How many a second: messages with a line of audit, whole changes from proposal to merge, and single reads."""
    database = app.platform.backups.database

    def message(n: int) -> None:
        with database.transaction() as state:
            state.messages.add(
                account="author",
                kind="merged",
                about="change",
                ref=str(n),
                title="T",
                actor="a",
                actor_name="A",
                at="now",
            )
            app.people.audit.record(state, SYSTEM, "tell", str(n))

    def merge(n: int) -> None:
        name = f"{mark}-{n}"
        number = app.reviews.changes.propose(AUTHOR, name, {f"{name}.md": f"# {name}\n\nText.\n".encode()}).id
        app.reviews.changes.submit(AUTHOR, number)
        app.reviews.discussion.approve(REVIEWER, number)
        app.reviews.merger.merge(AUTHOR, number)

    return {
        "messages": _rate(message, MESSAGES),
        "merges": _rate(merge, MERGES),
        "reads": _rate(lambda _: database.accounts.get("author"), READS),
    }


def _rate(work: Callable[[int], object], times: int) -> float:
    start = time.perf_counter()
    for n in range(times):
        work(n)
    return times / (time.perf_counter() - start)


if __name__ == "__main__":
    main()
