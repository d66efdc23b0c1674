"""A full index with the default model: how much of it is the embedder."""

from __future__ import annotations

import json
import math
import os
import shutil
import subprocess
import sys
import time
import zlib
from pathlib import Path
from typing import Any

from bench.corpus import ROOT, SHARED, markdown, real, vectors
from bench.measure import cpu
from core.access import SYSTEM
from core.adapters.models.onnx import OnnxEmbedder
from core.bootstrap import build
from core.settings import load

CORES = os.cpu_count() or 1
LARGE, EVERY = 50_000, 20
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


class EmbeddingClock:
    """CPU seconds inside the model, by the clock of the calling thread, which computes the text itself.

    With `every` above 1, only one text in `every` is computed and its time multiplied; the others get a made-up vector.
    """

    def __init__(self, embedder: OnnxEmbedder, every: int = 1) -> None:
        self.calls: list[float] = []
        self.every, self._vectors = every, vectors(4096)
        self._embed = embedder._embed
        embedder._embed = self._timed  # type: ignore[method-assign]

    @property
    def spent(self) -> float:
        """All CPU seconds, extrapolated."""
        return self.every * math.fsum(self.calls)

    @property
    def missing(self) -> float:
        """The extrapolated part, which was not really spent."""
        return self.spent - math.fsum(self.calls)

    def _timed(self, text: str) -> Any:
        code = zlib.crc32(text.encode("utf-8", "replace"))
        if code % self.every:
            return self._vectors[code % 4096]
        started = time.thread_time()
        row = self._embed(text)
        self.calls.append(time.thread_time() - started)
        return row


def corpora(sizes: list[int]) -> tuple[list[str], list[str]]:
    """What is indexed: folders as they are and real Markdown repeated with variation; then what is too
    large for that.
    """
    small = [str(size) for size in sizes if size <= LARGE]
    folders = [folder.name for folder in FOLDERS if folder.is_dir()] if small else []
    return [*folders, *small], [str(size) for size in sizes if size > LARGE]


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
    app.platform.workspace.create()
    if folder := next((folder for folder in FOLDERS if folder.name == name), None):
        app.knowledge.documents.import_folder(SYSTEM, folder)
    else:
        app.knowledge.documents.save(SYSTEM, markdown(int(name)), [], f"about {name} chunks")
    profile = app.platform.settings.profile()
    every = EVERY if name.isdecimal() and int(name) > LARGE else 1
    meter = EmbeddingClock(app.models.registry.embedder(profile.embedder), every)  # type: ignore[arg-type]
    before, started = cpu(), time.perf_counter()
    built = app.index.builder.build(profile)
    used, wall, generation = cpu() - before + meter.missing, time.perf_counter() - started, built.generation
    wall += meter.missing / CORES
    return [
        name if folder else f"{real().name}, repeated with variation",
        f"{generation.documents:,}",
        f"{generation.chunks:,}",
        f"{built.embedded:,}",
        f"{wall:.1f}",
        f"{generation.chunks / wall:.1f}",
        f"{used:.1f}",
        f"{100 * meter.spent / used:.1f} %",
        f"{100 * meter.spent / CORES / wall:.1f} %",
        f"{100 * (built.seconds['embed'] + meter.missing / CORES) / wall:.1f} %",
    ]


if __name__ == "__main__":
    print(json.dumps(_measure(Path(sys.argv[1]), sys.argv[2])))
