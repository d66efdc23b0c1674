"""The vectors that come along with the starter knowledge base: python -m tests.vectors, or `make vectors`.

The whole sample is played once, in a folder of its own; whatever it embeds is written to kb/sample/vectors.bin. Texts that the
file lacks, such as documents that were edited since, are embedded as any others.
"""

from __future__ import annotations

import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from core.access import SYSTEM
from core.adapters.models.weights import bundled
from core.bootstrap import build
from core.ports import no_progress
from core.profiles import DEFAULT
from core.services.platform import base
from core.storage.cache.shipped import QUERY, ShippedVectors, ship
from core.storage.cache.vectors import EmbeddingCache, text_key
from tests.conftest import NoProcesses, demo, kb_settings

FILE = base.shipped_vectors().path


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


def play(home: Path) -> None:
    """Everything that a first start embeds: the index, the sample, its answers, and what its open changes do to search."""
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
    with tempfile.TemporaryDirectory() as folder:
        play(Path(folder) / "home")
    model = DEFAULT.embedder
    documents, queries = (RecordedCache.seen[name] for name in (model, QUERY + model))
    size = ship(FILE, model, bundled(model).files[0][1], documents, queries)
    print(f"{FILE.name}: {len(documents)} passages and {len(queries)} questions, {size:,} bytes")
