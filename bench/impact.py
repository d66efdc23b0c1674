"""The impact of a change of one document: what it costs at several sizes, and what twenty open changes take."""

from __future__ import annotations

import time
from functools import partial
from pathlib import Path
from typing import Any

from bench.corpus import SyntheticModels, documents
from bench.measure import cpu_besides_embedding
from core.access import SYSTEM
from core.bootstrap import App, build
from core.settings import load

QUESTIONS = 500
OPEN_AT_ONCE = 20


class NoProcesses:
    """Jobs are not started: everything is measured in this process."""

    def spawn(self, job: int) -> None: ...
    def alive(self, job: int) -> bool:
        return True


def workspace(home: Path, chunks: int) -> App:
    """A workspace whose documents list 500 questions in all."""
    app = build(load(home=home, threads=2), models=SyntheticModels(), processes=NoProcesses())  # type: ignore[arg-type]
    app.platform.workspace.create()
    if not app.knowledge.repository.head():
        app.knowledge.documents.save(SYSTEM, with_questions(documents(chunks)), [], f"{chunks} chunks")
        app.reviews.merger.repair()
    app.index.builder.build(app.platform.settings.profile())
    return app


def with_questions(files: dict[str, bytes]) -> dict[str, bytes]:
    """Some questions for every document, each with words of its own text."""
    asked, each = dict(files), max(1, -(-QUESTIONS // len(files)))
    for path in list(files)[: -(-QUESTIONS // each)]:
        text = files[path].decode()
        lines = [line for line in text.splitlines() if len(line) > 200][:each]
        listed = "".join(f"  - {' '.join(word for word in line.split()[3:12] if word.isalpha())}?\n" for line in lines)
        asked[path] = text.replace("\n---\n", f"\nanswers:\n{listed}---\n", 1).encode()
    return asked


def measure(home: Path, chunks: int) -> dict[str, Any]:
    """CPU of one measurement without embedding, and disk and time of twenty open changes."""
    app = workspace(home / f"i{chunks}", chunks)
    used = partial(cpu_besides_embedding, app)
    numbers = [_propose(app, n) for n in range(OPEN_AT_ONCE)]
    spent, walls = [], []
    for number in numbers:
        before, started = used(), time.perf_counter()
        impact = app.reviews.impacts.measure(SYSTEM, number)
        spent.append(used() - before)
        walls.append(time.perf_counter() - started)
    disk = _bytes(app.settings.home / "impact")
    served = app.index.generations.current(app.platform.settings.profile())
    for number in numbers:
        app.reviews.changes.close(SYSTEM, number)
    return {
        "chunks": served.chunks if served else 0,
        "questions": sum(impact.questions.values()),
        "first_cpu_s": round(spent[0], 2),
        "median_cpu_s": round(sorted(spent)[len(spent) // 2], 2),
        "median_wall_s": round(sorted(walls)[len(walls) // 2], 2),
        "index_mb": round(served.bytes / 1e6) if served else 0,
        "twenty_mb": round(disk / 1e6),
        "left_mb": round(_bytes(app.settings.home / "impact") / 1e6),
        "peak_mb": round(int(Path("/proc/self/status").read_text().split("VmHWM:")[1].split()[0]) / 1e3),
    }


def _propose(app: App, n: int) -> int:
    path = f"f{n:02d}/{n:06d}.md"
    text = (
        app.knowledge.repository.read("main", path)
        .decode()
        .replace("Reference", f"Edited {time.time_ns()}, reference", 1)
    )
    number = app.reviews.changes.propose(SYSTEM, f"Edit {n}", {path: text.encode()}).id
    app.reviews.changes.submit(SYSTEM, number)
    return number


def _bytes(folder: Path) -> int:
    """What the files take; a file with several links counts for each of its folders in part."""
    files = [path.stat() for path in folder.rglob("*") if path.is_file()]
    return int(sum(stat.st_size / stat.st_nlink for stat in files))
