"""One index for two machines over a store on the loopback: what an edit uploads and fetches, and what a look costs."""

from __future__ import annotations

import os
import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

from bench.corpus import SyntheticModels, documents
from bench.impact import NoProcesses
from bench.measure import cpu
from core.access import SYSTEM
from core.bootstrap import App, build
from core.settings import load
from tests.support.object_store import BUCKET, seaweedfs

LOOKS = 100
HEADER = ("chunks", "index", "files", "uploaded", "publish", "first fetch", "fetch of an edit", "idle look")


def machine(home: Path, store: str) -> App:
    settings = load(home=home, store=store, threads=2)
    app = build(settings, models=SyntheticModels(), processes=NoProcesses())  # type: ignore[arg-type]
    app.platform.workspace.create()
    return app


def measure(home: Path, chunks: int) -> dict[str, Any]:
    """One row: megabytes, files, and milliseconds of CPU of this process."""
    place = home / f"store{chunks}"
    shutil.rmtree(place, ignore_errors=True)
    with seaweedfs(place / "weed") as server:
        os.environ.update(server.environment)
        return _measured(place, f"s3://{BUCKET}/kb", chunks)


def _measured(place: Path, store: str, chunks: int) -> dict[str, Any]:
    ann = machine(place / "ann", store)
    _save(ann, documents(chunks), "start")
    ann.index.builder.build(ann.platform.settings.profile())
    index = ann.index.generations.copies.index  # type: ignore[union-attr]
    (place / "bob").mkdir()
    shutil.copytree(place / "ann" / "kb.git", place / "bob" / "kb.git")
    with closing(sqlite3.connect(place / "ann" / "app.db")) as source:
        source.execute("VACUUM INTO ?", [str(place / "bob" / "app.db")])
    known = {row.key: row.size for row in index.objects.list("files/")}
    whole = _timed(lambda: machine(place / "bob", store))
    bob = machine(place / "bob", store)
    _save(ann, {"f00/000000.md": b"---\nid: D-000000\ntitle: Document 0\n---\n\nThe fee is 12 dollars.\n"}, "edit")
    publishing: list[float] = []
    publish = index.publish
    index.publish = lambda *arguments: _noted(publishing, lambda: publish(*arguments))  # type: ignore[method-assign]
    ann.index.builder.build(ann.platform.settings.profile())
    now = {row.key: row.size for row in index.objects.list("files/")}
    fetched = _timed(bob.index.following.tick)
    idle = _timed(lambda: [bob.index.following.tick() for _ in range(LOOKS)])
    fresh = [size for key, size in now.items() if key not in known]
    return {
        "chunks": chunks,
        "index": f"{sum(known.values()) / 1e6:.1f} MB",
        "files": len(known),
        "uploaded": f"{sum(fresh) / 1e6:.1f} MB in {len(fresh)} files",
        "publish": f"{1000 * publishing[0]:.0f} ms",
        "first fetch": f"{1000 * whole:.0f} ms",
        "fetch of an edit": f"{1000 * fetched:.0f} ms",
        "idle look": f"{1000 * idle / LOOKS:.1f} ms",
    }


def _save(app: App, files: dict[str, bytes], message: str) -> None:
    app.knowledge.documents.save(SYSTEM, files, [], message)
    app.reviews.merger.repair()


def _timed(call: Callable[[], object]) -> float:
    began = cpu()
    call()
    return cpu() - began


def _noted(spent: list[float], call: Callable[[], Any]) -> Any:
    began = cpu()
    try:
        return call()
    finally:
        spent.append(cpu() - began)
