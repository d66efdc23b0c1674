"""Several embedders behind the port of one."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from core.ports import Embedder, Progress, no_progress
from core.retrieval.combining import concatenation


class CombinedEmbedder:
    """The `Embedder` port on concatenated vectors. Chunks are measured with the first model's tokens."""

    def __init__(self, parts: Sequence[Embedder]) -> None:
        self.parts = tuple(parts)
        self.name = "+".join(part.name for part in parts)
        self.dimension = sum(part.dimension for part in parts)
        self.limit = min(part.limit for part in parts)

    def tokens(self, text: str) -> Sequence[tuple[int, int]]:
        return self.parts[0].tokens(text)

    def documents(self, texts: Sequence[str], progress: Progress = no_progress) -> np.ndarray:
        return concatenation([part.documents(texts, progress) for part in self.parts])

    def query(self, text: str) -> np.ndarray:
        return concatenation([part.query(text) for part in self.parts])
