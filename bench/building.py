"""Indexing: one edited document against a full rebuild, and the time to open an index."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from bench.corpus import SyntheticModels, documents
from bench.measure import cpu_besides_embedding
from core.access import SYSTEM
from core.bootstrap import App, build
from core.retrieval import config as configs
from core.settings import load

EDITS = 5
OPEN = """
import json, resource, sys, time
from pathlib import Path
from core.bootstrap import build
from core.retrieval import config as configs
from core.settings import load
before, started = time.process_time(), time.perf_counter()
app = build(load(home=Path(sys.argv[1])))
profile = app.platform.settings.profile()
loaded = time.perf_counter()
index = app.index.generations.open(profile)
opened = time.perf_counter()
vector = index.vector(0)
from core.retrieval import config, pipeline
for query in ("cells and growth in mice", "protein expression"):
    pipeline.search(query, config.DEFAULT, index, pipeline.SearchContext(embed=lambda _: vector))
searched = time.perf_counter()
peak = open("/proc/self/status").read().split("VmHWM:")[1].split()[0]
print(json.dumps({"imports": loaded - started, "open": opened - loaded, "open_and_search": searched - loaded,
                  "chunks": index.size, "peak_mb": int(peak) / 1e3}))
"""


def workspace(home: Path, chunks: int) -> App:
    """A workspace with about `chunks` chunks; reused by later benchmarks."""
    app = build(load(home=home, threads=2), models=SyntheticModels())
    app.platform.workspace.create()
    if not app.knowledge.repository.head():
        app.knowledge.documents.save(SYSTEM, documents(chunks), [], f"{chunks} chunks")
    return app


def measure(home: Path, chunks: int) -> dict[str, Any]:
    """Full rebuild, one edit, opening in a fresh process."""
    app = workspace(home / f"w{chunks}", chunks)
    profile = app.platform.settings.profile()
    used = partial(cpu_besides_embedding, app)
    full = _full(app, home / f"w{chunks}", used)
    app.search.searcher.search("warm up")
    edits = []
    for n in range(EDITS):
        path = f"f{n:02d}/{n:06d}.md"
        text = (
            app.knowledge.repository.read("main", path)
            .decode()
            .replace("Reference", f"Edited {time.time_ns()}, reference", 1)
        )
        app.knowledge.repository.commit("main", {path: text.encode()}, SYSTEM.person, "edit")
        before, started = used(), time.perf_counter()
        built = app.index.builder.build(profile)
        word = text.split("Edited ")[1].split(",")[0]
        hits = app.search.searcher.search(word, config=configs.parse("bm25")).hits
        assert hits[0].path == path, "the edit is searchable"
        edits.append((used() - before, time.perf_counter() - started, built.changed))
    edit_cpu, edit_wall, changed = sorted(edits)[EDITS // 2]
    done = subprocess.run(
        [sys.executable, "-c", OPEN, str(home / f"w{chunks}")], capture_output=True, text=True, check=True
    )
    opened = json.loads(done.stdout)
    return {
        "chunks": app.index.generations.current(profile).chunks,
        "full_cpu_s": full,
        "edit_cpu_s": round(edit_cpu, 3),
        "edit_wall_s": round(edit_wall, 3),
        "edit_share": f"1/{full / edit_cpu:.0f}",
        "changed": changed,
        "open_s": round(opened["open"], 3),
        "open_and_search_s": round(opened["open_and_search"], 3),
        "peak_mb": round(opened["peak_mb"]),
        "index_mb": round(app.index.generations.current(profile).bytes / 1e6),
    }


def _full(app: App, place: Path, used: Callable[[], float]) -> float:
    """CPU seconds of a full build; the figure is kept, so that edits can be measured again without another one."""
    note, profile = place / "full.json", app.platform.settings.profile()
    if not note.exists() or app.index.generations.current(profile) is None:
        before = used()
        app.index.builder.build(profile, full=True)
        note.write_text(json.dumps(round(used() - before, 2)))
    return float(json.loads(note.read_text()))
