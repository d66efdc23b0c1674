"""A full index with the default model: how much of it is the embedder."""

from __future__ import annotations

import json
import math
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from bench.building import ME
from bench.corpus import ROOT, SHARED, markdown
from bench.measure import cpu
from core.adapters.onnx import OnnxEmbedder
from core.bootstrap import build
from core.settings import load

CORES = os.cpu_count() or 1
FOLDERS = (ROOT / "kb", SHARED / "markdown" / "18f-handbook")
HEADS = (
    "what",
    "documents",
    "chunks",
    "embedded",
    "seconds",
    "chunks per s",
    "CPU s",
    "embedder: of CPU",
    "of wall, when spread over the cores",
    "its stage, of wall",
)


class Meter:
    """CPU seconds inside the model. Each text is computed by the thread that asks, so its clock is exact."""

    def __init__(self, embedder: OnnxEmbedder) -> None:
        self.calls: list[float] = []
        self._embed = embedder._embed
        embedder._embed = self._timed  # type: ignore[method-assign]

    @property
    def spent(self) -> float:
        """All of it."""
        return math.fsum(self.calls)

    def _timed(self, text: str) -> Any:
        started = time.thread_time()
        row = self._embed(text)
        self.calls.append(time.thread_time() - started)
        return row


def corpora(sizes: list[int]) -> list[str]:
    """What is indexed: folders as they are, and real Markdown repeated with variation."""
    return [*(folder.name for folder in FOLDERS if folder.is_dir()), *map(str, sizes)]


def measure(home: Path, name: str) -> list[str]:
    """One full index, as a row. In a fresh process: what has to be imported counts."""
    done = subprocess.run(
        [sys.executable, "-m", "bench.embedding", str(home), name], stdout=subprocess.PIPE, check=True
    )
    row: list[str] = json.loads(done.stdout)
    return row


def _measure(home: Path, name: str) -> list[str]:
    shutil.rmtree(home, ignore_errors=True)
    app = build(load(home=home, threads=CORES))
    app.create()
    if folder := next((folder for folder in FOLDERS if folder.name == name), None):
        app.documents.import_folder(folder, ME)
    else:
        app.documents.save(markdown(int(name)), [], ME, f"about {name} chunks")
    profile = app.preferences.profile()
    meter = Meter(app.models.embedder(profile.embedder))  # type: ignore[arg-type]
    before, started = cpu(), time.perf_counter()
    built = app.indexing.build(profile)
    used, wall, made = cpu() - before, time.perf_counter() - started, built.generation
    return [
        name if folder else "Markdown, repeated with variation",
        f"{made.documents:,}",
        f"{made.chunks:,}",
        f"{built.embedded:,}",
        f"{wall:.1f}",
        f"{made.chunks / wall:.1f}",
        f"{used:.1f}",
        f"{100 * meter.spent / used:.1f} %",
        f"{100 * meter.spent / CORES / wall:.1f} %",
        f"{100 * built.seconds['embed'] / wall:.1f} %",
    ]


if __name__ == "__main__":
    print(json.dumps(_measure(Path(sys.argv[1]), sys.argv[2])))
