"""Texts to vectors, through the cache."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from core.ports import Embedder, Progress, no_progress
from core.retrieval.legs.embedders import concatenation

if TYPE_CHECKING:
    import numpy as np

    from core.adapters.cache.vectors import EmbeddingCache

_SLICE = 128  # texts embedded between two saves: what a kill can cost


def embed_texts(
    embedder: Embedder, cache: EmbeddingCache, texts: Sequence[str], progress: Progress = no_progress
) -> tuple[np.ndarray, int]:
    """One vector per text, and how many were new. Each slice is cached when done, so a kill loses little."""
    import numpy as np

    if embedder.parts:  # each part under its own name, so that profiles share what was embedded
        parts = [embed_texts(part, cache, texts, progress) for part in embedder.parts]
        return concatenation([vectors for vectors, _ in parts]), max(new for _, new in parts)
    unique = list(dict.fromkeys(texts))
    known = dict(cache.get(embedder.name, unique))
    new = sorted((text for text in unique if text not in known), key=len, reverse=True)
    for n in range(0, len(new), _SLICE):
        some = new[n : n + _SLICE]
        rows = embedder.documents(some, lambda done, _, what, n=n: progress(n + done, len(new), what))  # type: ignore[misc]
        fresh = dict(zip(some, rows, strict=True))
        cache.put(embedder.name, fresh)
        known |= fresh
    vectors = (
        np.stack([known[text] for text in texts]) if texts else np.zeros((0, embedder.dimension), dtype=np.float32)
    )
    return vectors, len(new)


def unknown_texts(embedder: Embedder, cache: EmbeddingCache, texts: Sequence[str]) -> list[str]:
    """The texts that some part of the embedder has not embedded yet."""
    names = [part.name for part in embedder.parts] or [embedder.name]
    known = [cache.get(name, texts) for name in names]
    return [text for text in texts if not all(text in some for some in known)]
