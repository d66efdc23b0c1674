"""Corpora of any size: sentences of public collections, or of the starter knowledge base, shuffled with a seed."""

from __future__ import annotations

import itertools
import json
import os
import random
import re
import time
from pathlib import Path

import numpy as np

from core.errors import Unavailable

ROOT = Path(__file__).resolve().parent.parent
SHARED = Path(os.environ.get("CONCORD_SHARED", ROOT.parent / "shared")) / "data"
DIMENSION = 384
CHARACTERS = 730  # of real Markdown in a chunk of the default chunker, about
_WORD = re.compile(r"(?<= )[a-z]{4,}(?= )")


def sentences() -> list[str]:
    """Sentences of the public collections, else of the starter knowledge base."""
    texts: list[str] = []
    for name in ("scifact", "nfcorpus"):
        path = SHARED / "beir" / name / "corpus.jsonl"
        if path.exists():
            texts += [part for line in path.open() for part in json.loads(line)["text"].split(". ") if len(part) > 40]
    if not texts:
        texts = [
            part for path in (ROOT / "kb").rglob("*.md") for part in path.read_text().split(". ") if len(part) > 40
        ]
    return texts


def documents(chunks: int, per_document: int = 10, seed: int = 1) -> dict[str, bytes]:
    """Markdown files that the default chunker cuts into about `chunks` chunks."""
    source, rng = sentences(), random.Random(seed)
    files = {}
    for n in range(chunks // per_document):
        parts = []
        for m in range(per_document):
            text = ". ".join(rng.choices(source, k=7))
            parts.append(f"## Part {m} of {n}\n\n{text}. Reference R-{n:06d}-{m}.")
        files[f"f{n % 50:02d}/{n:06d}.md"] = (
            f"---\nid: D-{n:06d}\ntitle: Document {n}\n---\n\n".encode() + "\n\n".join(parts).encode() + b"\n"
        )
    return files


def exactly(chunks: int, per_document: int = 10, seed: int = 1) -> dict[str, bytes]:
    """Markdown files that the default chunker cuts into exactly `chunks` chunks: every section is one of them."""
    source, rng = [" ".join(part.split())[:220] for part in sentences()], random.Random(seed)
    files = {}
    for n, first in enumerate(range(0, chunks, per_document)):
        parts = [
            f"## Section {m} of {n}\n\nAbout {'. '.join(rng.choices(source, k=5))}."
            for m in range(min(per_document, chunks - first))
        ]
        head = f"---\nid: D-{n:06d}\ntitle: Document {n}\n---\n\n"
        files[f"f{n % 50:02d}/{n:06d}.md"] = (head + "\n\n".join(parts) + "\n").encode()
    return files


def real() -> Path:
    """The folder of real Markdown: public handbooks, else the starter knowledge base."""
    return next(folder for folder in (SHARED / "markdown", ROOT / "kb") if folder.is_dir())


def markdown(chunks: int, seed: int = 1) -> dict[str, bytes]:
    """Real Markdown, repeated to about `chunks` chunks; in each copy a tenth of the words is replaced."""
    folder = real()
    originals = {
        path.relative_to(folder).as_posix(): path.read_text(errors="replace") for path in sorted(folder.rglob("*.md"))
    }
    rng, files = random.Random(seed), {}
    words = sorted({word for text in originals.values() for word in _WORD.findall(text)})
    left = chunks * CHARACTERS
    for n in itertools.count():
        for path, text in originals.items():
            if left <= 0:
                return files
            left -= len(text)
            varied = _WORD.sub(lambda word: word[0] if rng.random() > 0.1 else rng.choice(words), text)
            files[f"copy-{n:03d}/{path}"] = (varied if n else text).encode()
    return files


def queries(count: int, seed: int = 2) -> list[str]:
    """Short questions in the words of the corpus."""
    path = SHARED / "beir" / "scifact" / "queries.jsonl"
    if path.exists():
        return [json.loads(line)["text"] for line in path.open()][:count]
    rng = random.Random(seed)
    source = sentences()
    return [" ".join(rng.choice(source).split()[:8]) for _ in range(count)]


def vectors(rows: int, seed: int = 3) -> np.ndarray:
    """Unit vectors around two hundred centres, like texts on two hundred topics."""
    rng = np.random.default_rng(seed)
    centres = rng.normal(size=(200, DIMENSION)).astype(np.float32)
    points = centres[rng.integers(0, 200, rows)] + rng.normal(size=(rows, DIMENSION)).astype(np.float32)
    return points / np.linalg.norm(points, axis=1, keepdims=True)


class SyntheticEmbedder:
    """Real tokens and made-up vectors, to measure everything but the embedding."""

    name, dimension = "synthetic-384", DIMENSION
    limit, parts = 512, ()

    def __init__(self) -> None:
        from core.bootstrap import build
        from core.settings import load

        self.real = build(load()).models.registry.embedder("bge-small-en-v1.5-int8")
        self._tokens = self.real.tokens
        self._pool, self.spent = vectors(4096), 0.0  # CPU seconds for documents

    def tokens(self, text):  # type: ignore[no-untyped-def]
        return self._tokens(text)

    def documents(self, texts, progress=lambda *_: None):  # type: ignore[no-untyped-def]
        started = time.thread_time()
        rows = np.stack([self._vector(text) for text in texts])
        self.spent += time.thread_time() - started
        return rows

    def query(self, text):  # type: ignore[no-untyped-def]
        return self._vector(text)

    def _vector(self, text):  # type: ignore[no-untyped-def]
        import zlib

        code = zlib.crc32(text.encode())
        mixed = self._pool[code % 4096] + self._pool[(code >> 12) % 4096]
        return mixed / np.linalg.norm(mixed)


class SyntheticModels:
    """The `Models` port on `SyntheticEmbedder`."""

    def __init__(self) -> None:
        self._embedder = SyntheticEmbedder()

    def embedder(self, name):  # type: ignore[no-untyped-def]
        return self._embedder

    def of(self, profile):  # type: ignore[no-untyped-def]
        return self._embedder

    def reranker(self, name):  # type: ignore[no-untyped-def]
        raise Unavailable("The corpus of the benchmark has no such model.")

    def llm(self, name=""):  # type: ignore[no-untyped-def]
        raise Unavailable("The corpus of the benchmark has no such model.")


class RealQueryEmbedder(SyntheticEmbedder):
    """Free vectors for the corpus, the real model for queries, so that a search has its real cost."""

    name = "synthetic-384-asking"

    def query(self, text):  # type: ignore[no-untyped-def]
        return self.real.query(text)


class RealQueryModels(SyntheticModels):
    """The `Models` port on `RealQueryEmbedder`, with the real reranker."""

    def __init__(self) -> None:
        from core.bootstrap import build
        from core.settings import load

        self._embedder, self._real = RealQueryEmbedder(), build(load()).models.registry

    def reranker(self, name):  # type: ignore[no-untyped-def]
        return self._real.reranker(name)
