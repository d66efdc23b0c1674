"""One edit of a large index: the base has synthetic words and vectors, the edit goes the whole way from commit to hit.

A base of real text takes minutes to chunk and embed; what an edit costs depends on how much there is, not on what it
says.
"""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import numpy as np

from bench.corpus import DIMENSION, SyntheticModels
from bench.measure import cpu_besides_embedding
from core.access import SYSTEM
from core.bootstrap import App, build
from core.retrieval import config as configs
from core.settings import load
from core.storage.index.generation_list import BuildBatch
from core.types import Chunk, Document, Extract

WORDS = 40
PER_DOCUMENT = 10
KNOWN = 100_000
EDITS = 7
OPEN = """
import json, sys, time
from pathlib import Path
from bench.edits import workspace
from bench.measure import in_turns
from core.storage.index.arrays import kernels
app = workspace(Path(sys.argv[1]))
profile = app.platform.settings.profile()
kernels.warm()
started = time.perf_counter()
index = app.index.generations.open(profile)
opened = time.perf_counter() - started
vectors = [index.vector(n * (index.size // 20)) for n in range(20)]
def words(n): index.bm25(f"w{n} w{3 * n} w{40 * n}").search(10, None)
def meaning(n): index.dense(vectors[n]).search(10, None)
bm25, dense = in_turns((words, meaning), range(1, 20))
status = open("/proc/self/status").read()
of = lambda name: int(status.split(name + ":")[1].split()[0]) / 1e3
print(json.dumps({"open_s": opened, "bm25_ms": bm25.cpu50, "dense_ms": dense.cpu50, "own_mb": of("RssAnon"),
                  "mapped_mb": of("RssFile"), "segments": len(index.segments)}))
"""


def workspace(home: Path) -> App:
    """A workspace in which every search is exact."""
    return build(load(home=home, threads=2, exact_limit=10_000_000), models=SyntheticModels())


def about(machine: str) -> str:
    """What the figures say."""
    return (
        f"{machine}. Synthetic words ({WORDS} in a chunk) and vectors ({DIMENSION} wide, searched exactly); the edit is"
        f" a real one, from its commit until its new word is found, CPU without embedding, the middle of {EDITS}."
        " Opening, memory (own, and files that are mapped) and searches with words not asked before are in a fresh"
        " process: of the first generation, and after the edits.\n\n"
    )


def measure(home: Path, chunks: int) -> dict[str, Any]:
    """Disk, opening and memory of `chunks` chunks, and the CPU of edits, of which the middle one counts."""
    app = workspace(home / f"e{chunks}")
    app.platform.workspace.create()
    profile = app.platform.settings.profile()
    if app.index.generations.current(profile) is None:
        _base(app, chunks)
    once = _opened(home / f"e{chunks}")
    app.search.searcher.search("w1 w2")
    edits = sorted(_edit(app, n) for n in range(EDITS))
    serving = app.index.generations.current(profile)
    figures = {"chunks": serving.chunks, "edit_cpu_s": edits[EDITS // 2], "disk_gb": serving.bytes / 1e9}
    return {**figures, "once": once, "edited": _opened(home / f"e{chunks}")}


def _edit(app: App, n: int) -> float:
    """CPU seconds without embedding, from a commit until its new word is found."""
    path, word = _path(n), f"edited{time.time_ns()}"
    text = app.knowledge.repository.read("main", path).decode() + f"\nMore {word}.\n"
    app.knowledge.repository.commit("main", {path: text.encode()}, SYSTEM.person, "edit")
    before = cpu_besides_embedding(app)
    app.index.builder.build(app.platform.settings.profile())
    if app.search.searcher.search(word, config=configs.parse("bm25")).hits[0].path != path:
        raise RuntimeError(f"the edit of {path} is not found")
    return cpu_besides_embedding(app) - before


def _opened(home: Path) -> dict[str, float]:
    done = subprocess.run([sys.executable, "-c", OPEN, str(home)], capture_output=True, text=True, check=True)
    figures: dict[str, float] = json.loads(done.stdout)
    return figures


def _path(n: int) -> str:
    return f"f{n % 50:02d}/{n:06d}.md"


def _base(app: App, chunks: int) -> None:
    """Documents in the repository, and a generation of them, written at once."""
    rng, profile = np.random.default_rng(chunks), app.platform.settings.profile()
    made = list(_documents(rng, chunks // PER_DOCUMENT))
    store = app.knowledge.repository
    store.commit("main", {document.path: document.text.encode() for document, _ in made}, SYSTEM.person, "base")
    ids = {document.path: document.id for document, _ in made}
    rows = {path: [blob, 1, ids[path], ids[path]] for path, blob in store.blobs(store.head()).items()}
    pieces = [chunk for _, own in made for chunk in own]
    vectors = rng.standard_normal((len(pieces), DIMENSION), dtype=np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    facts = {"commit": store.head(), "documents": rows, "skipped": {}, "built": "", "seconds": 0}
    terms, extracts = [chunk.text for chunk in pieces], [Extract()] * len(pieces)
    with app.index.generations.building(profile):
        batch = BuildBatch((), [document for document, _ in made], pieces, terms, vectors, extracts)
        app.index.generations.write(profile, None, batch, facts, lambda _: nullcontext())


def _documents(rng: np.random.Generator, count: int) -> Iterator[tuple[Document, list[Chunk]]]:
    for n in range(count):
        drawn = (KNOWN * rng.random((PER_DOCUMENT, WORDS)) ** 3).astype(np.int64).tolist()
        texts = [" ".join(f"w{term}" for term in row) for row in drawn]
        head = f"---\nid: D-{n:06d}\ntitle: Document {n}\n---\n\n"
        starts = np.cumsum([len(head), *(len(text) + 2 for text in texts)]).tolist()
        document = Document(f"D-{n:06d}", _path(n), f"Document {n}", head + "\n\n".join(texts) + "\n", len(head))
        yield (
            document,
            [
                Chunk(
                    f"{(n * PER_DOCUMENT + m) * 0x9E3779B97F4A7C15 % 2**64:016x}", document.id, at, at + len(text), text
                )
                for m, (at, text) in enumerate(zip(starts, texts, strict=False))
            ],
        )
