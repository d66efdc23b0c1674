"""The vectors and scores that come along with the starter knowledge base: python -m tests.vectors, or `make vectors`.

The whole sample is played once, in a folder of its own; whatever it embeds is written to kb/sample/vectors.bin, and
what the cross-encoder says to kb/sample/scores.json. Texts that they lack, such as documents that were edited since,
are embedded as any others.
"""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from core.access import SYSTEM
from core.adapters.models.onnx import OnnxReranker
from core.adapters.models.weights import bundled
from core.bootstrap import build
from core.ports import no_progress
from core.profiles import DEFAULT
from core.services.platform import base
from core.services.search.searcher import RERANKER
from core.storage.cache.shipped import QUERY, ShippedVectors, ship, ship_scores
from core.storage.cache.vectors import EmbeddingCache, text_key
from tests.conftest import NoProcesses, demo, kb_settings

FILE, SCORES = base.shipped_vectors().path, base.shipped_scores().path


class RecordedCache(EmbeddingCache):
    """Writes down what it is asked for, in this process."""

    seen: dict[str, dict[bytes, np.ndarray]] = {}

    def __init__(self, path: Path, shipped: ShippedVectors | None = None) -> None:
        super().__init__(path)  # without those that are replaced

    def get(self, model: str, texts: Sequence[str]) -> Mapping[str, np.ndarray]:
        return self._noted(model, super().get(model, texts))

    def put(self, model: str, vectors: Mapping[str, np.ndarray]) -> None:
        super().put(model, self._noted(model, vectors))

    def _noted(self, model: str, vectors: Mapping[str, np.ndarray]) -> Mapping[str, np.ndarray]:
        self.seen.setdefault(model, {}).update({text_key(text): vector for text, vector in vectors.items()})
        return vectors


class RecordedReranker:
    """What the cross-encoder says, and how long it thinks: the time of a machine with nothing else to do."""

    scores: dict[tuple[str, str], float] = {}
    seconds = 0.0

    @classmethod
    def record(cls) -> None:
        real = OnnxReranker.scores

        def recorded(model: OnnxReranker, query: str, texts: Sequence[str]) -> list[float]:
            started = time.process_time()
            scores = real(model, query, texts)
            if len(texts) > 2:  # the canary
                cls.seconds += (time.process_time() - started) / (os.cpu_count() or 1)
                cls.scores.update({(query, text): score for text, score in zip(texts, scores, strict=True)})
            return scores

        OnnxReranker.scores = recorded  # type: ignore[method-assign]


def play(home: Path) -> None:
    """Everything that a first start embeds: the index, the sample, its answers, and what its open changes do to
    search.
    """
    app = build(kb_settings(home), processes=NoProcesses())
    app.platform.workspace.create()
    app.platform.sample.begin(demo("admin"))
    app.index.builder.build(app.platform.settings.profile())
    app.platform.sample.work({}, no_progress)
    app.answers.checks.work({}, no_progress)
    for change in app.reviews.changes.all(state="open"):
        if change.state != "draft" and not change.conflicts:
            app.reviews.impacts.measure(SYSTEM, change.id)


if __name__ == "__main__":
    base.EmbeddingCache = RecordedCache
    SCORES.unlink(missing_ok=True)
    RecordedReranker.record()
    with tempfile.TemporaryDirectory() as folder:
        play(Path(folder) / "home")
    model = DEFAULT.embedder
    documents, queries = (RecordedCache.seen[name] for name in (model, QUERY + model))
    size = ship(FILE, model, bundled(model).files[0][1], documents, queries)
    recorded = RecordedReranker
    ms = 1000 * recorded.seconds / len(recorded.scores)
    ship_scores(SCORES, bundled(RERANKER).files[0][1], ms, recorded.scores)
    print(f"{SCORES.name}: {len(recorded.scores)} pairs, {SCORES.stat().st_size:,} bytes")
    print(f"{FILE.name}: {len(documents)} passages and {len(queries)} questions, {size:,} bytes")
