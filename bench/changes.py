"""What a list of changes costs: CPU of the node with its git processes, and how many of those it starts.

The changes are made by one fast-import and one transaction: to propose a thousand of them would take minutes, and a
list cannot tell.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

from bench import report
from bench.measure import cpu, markdown_table
from core.access import SYSTEM
from core.bootstrap import App
from tests.conftest import put, small_app

DOCUMENTS, PAGE = 300, 100
PAGES = ("all, first time", "all, after a merge", "a page, after a merge", "again", "a page, after a restart")


def write() -> None:
    """Measure and write the section."""
    rows = [row for count in (10, 100, 1000) for row in measured(count)]
    heads = ("Open changes", "List", "CPU, ms", "git processes")
    about = (
        f"{DOCUMENTS} documents with links; each change edits one, adds one or moves one; CPU of the node and of git. A"
        f" page has {PAGE}.\nBefore changes were asked about together, the first list took 948 ms and 140 processes for"
        " 10 changes, 8,432 ms and 1,366 for\n100, 80,123 ms and 13,648 for 1,000, and nearly as much again after"
        " every merge (7,564 ms and 976 for 100). The first time is nearly all\nMarkdown that nobody has parsed yet;"
        " what parsing gave is kept on disk, so that a start pays it once for each text."
    )
    report.write("changes", "Lists of changes", f"{about}\n\n{markdown_table(heads, rows)}\n\n{report.machine()}")


def document(n: int, words: str = "") -> str:
    """A document of some length, with three links."""
    links = "".join(
        f"See [number {m}](../folder{m % 10}/d{m}.md#steps).\n"
        for m in (n * 7 % DOCUMENTS, n * 3 % DOCUMENTS, n * 5 % DOCUMENTS)
    )
    body = "".join(f"{step}. Do step {step} of {n}, and write down what you saw.\n" for step in range(60))
    return (
        f"---\nid: DOC-{n}\ntitle: Document {n}\nowner: Mei\n---\n# Document {n}\n\n{words}\n\n##"
        f" Steps\n\n{body}\n{links}"
    )


def workspace(home: Path, count: int) -> App:
    """A workspace with so many changes in review."""
    app = small_app(home)
    start = put(app, {f"folder{n % 10}/d{n}.md": document(n) for n in range(DOCUMENTS)})
    with app.reviews.changes.database.transaction() as state:
        now = app.reviews.changes.clock.stamp()
        said = {"author": SYSTEM.id, "author_name": "Ann", "stage": "in review", "created": now, "updated": now}
        numbers = [
            state.changes.add(**said, title=f"Change {n}", description="", start=start, reverts=0) for n in range(count)
        ]
    lines = "".join(_commit(number, start) for number in numbers)
    app.knowledge.repository.git.ask("fast-import", "--quiet", stdin=lines.encode())
    return app


def _commit(number: int, start: str) -> str:
    n = number % DOCUMENTS
    path = f"folder{n % 10}/d{n}.md"
    text = document(n, f"Words of change {number}.") if number % 10 else document(10_000 + number)
    name = path if number % 10 else f"new/d{number}.md"
    move = f"D {path}\n" if number % 25 == 0 else ""
    return (
        f"commit refs/heads/change/{number}\ncommitter Ann <ann@example.org> {1_700_000_000 + number} +0000\n"
        f"data 4\nEdit\nfrom {start}\n{move}M 100644 inline {name}\ndata {len(text)}\n{text}\n"
    )


def measured(count: int) -> list[tuple[str, ...]]:
    """Rows of the table for so many open changes."""
    with tempfile.TemporaryDirectory() as place:
        app = workspace(Path(place), count)

        def every() -> object:
            return list(app.reviews.changes.listed(SYSTEM, state="open"))

        def page() -> object:
            return app.reviews.changes.listed(SYSTEM, state="open")[:PAGE]

        found = [counted(app, every)]
        put(app, {"folder1/d1.md": document(1, "Merged words.")})
        found.append(counted(app, every))
        put(app, {"folder2/d2.md": document(2, "Merged words.")})
        found += [counted(app, page), counted(app, page)]
        app = small_app(Path(place))
        found.append(counted(app, page))
    return [
        (f"{count:,}", name, f"{spent:,.0f}", str(started)) for name, (spent, started) in zip(PAGES, found, strict=True)
    ]


def counted(app: App, work: Callable[[], object]) -> tuple[float, int]:
    """CPU milliseconds, children included, and git processes."""
    git, started = app.knowledge.repository.git, 0
    execute = git._execute

    def counting(*arguments: object) -> object:
        nonlocal started
        started += 1
        return execute(*arguments)  # type: ignore[arg-type]

    git._execute = counting  # type: ignore[method-assign, assignment]
    before = cpu()
    try:
        work()
    finally:
        git._execute = execute  # type: ignore[method-assign]
    return (cpu() - before) * 1000, started


if __name__ == "__main__":
    for size in map(int, sys.argv[1:]):
        for line in measured(size):
            print(*line, sep=" | ", flush=True)
