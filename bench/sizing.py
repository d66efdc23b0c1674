"""What one server takes, in CPU seconds and megabytes: `python -m bench.sizing [DOCUMENTS]`, the figures of
docs/limits.md.

Vectors of the corpus are free, since one costs the same in any corpus: `embed a chunk` is measured by itself on 100 of
them.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from bench.corpus import RealQueryEmbedder, SyntheticModels, exactly, queries
from bench.measure import cpu, timed
from core.access import SYSTEM
from core.bootstrap import App, build
from core.retrieval import config as configs
from core.settings import load

CHUNKS = 8  # of a document; 2,618 real ones had 20,921
OPEN, SAMPLE = 100, 100


class _Models(SyntheticModels):
    def __init__(self) -> None:
        self._embedder = RealQueryEmbedder()


def sized(home: Path, count: int) -> dict[str, Any]:
    """Every figure of one size."""
    app = build(load(home=home, threads=2, workers=0), models=_Models())
    app.platform.workspace.create()
    files, profile = exactly(CHUNKS * count, CHUNKS), app.platform.settings.profile()
    value: dict[str, Any] = {"documents": len(files)}
    value["import s"] = _spent(lambda: app.knowledge.documents.save(SYSTEM, files, [], "Start"))
    value["index without vectors s"] = _spent(lambda: app.index.builder.build(profile))
    generation = app.index.generations.current(profile)
    assert generation is not None
    value |= {"chunks": generation.chunks, "index MB": generation.bytes / 1e6}
    value["embed a chunk s"] = _embedded(app, list(files.values()))
    search = timed(lambda text: app.search.searcher.search(text), queries(60))
    value |= {"search p50 ms": search.cpu50, "search p95 ms": search.cpu95}
    value["one edit, until it is found s"] = _edited(app, next(iter(files)))
    for n, (path, text) in zip(range(OPEN), files.items(), strict=False):
        change = app.reviews.changes.propose(SYSTEM, f"Edit {n}", {path: text + b"\n\nMore.\n"})
        app.reviews.changes.submit(SYSTEM, change.id)
    value[f"list of {OPEN} open changes s"] = _spent(lambda: app.reviews.changes.all())
    value["backup s"] = _spent(lambda: app.platform.backups.take(SYSTEM, home.parent / "backup"))
    value["workspace MB"] = sum(path.stat().st_size for path in home.rglob("*") if path.is_file()) / 1e6
    value["backup MB"] = (
        sum(path.stat().st_size for path in (home.parent / "backup").rglob("*") if path.is_file()) / 1e6
    )
    value["memory MB"] = int(Path("/proc/self/status").read_text().split("VmHWM:")[1].split()[0]) / 1e3
    return value


def _spent(work: Callable[[], object]) -> float:
    before = cpu()
    work()
    return cpu() - before


def _embedded(app: App, texts: list[bytes]) -> float:
    real, size = app.models.registry.embedder("").real, CHUNKS  # type: ignore[attr-defined]
    chunks = [part for text in texts[: SAMPLE // size + 1] for part in text.decode().split("\n## ")[1:]][:SAMPLE]
    real.documents(chunks[:4])
    return _spent(lambda: real.documents(chunks)) / len(chunks)


def _edited(app: App, path: str) -> float:
    text = app.knowledge.repository.read("main", path) + b"\n\nXylophone rehearsal.\n"
    app.knowledge.repository.commit("main", {path: text}, SYSTEM.person, "Edit")

    def found() -> None:
        app.index.builder.build(app.platform.settings.profile())
        assert app.search.searcher.search("xylophone", config=configs.parse("bm25")).hits[0].path == path

    return _spent(found)


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        for name, value in sized(Path(folder) / "home", int(sys.argv[1]) if sys.argv[1:] else 1000).items():
            print(f"{name:32} {value:,.3f}" if isinstance(value, float) else f"{name:32} {value:,}", flush=True)
