"""Texts to vectors, through the cache, and what goes on meanwhile."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import TYPE_CHECKING, TypeVar

from core.bulk import in_steps
from core.errors import ConcordError
from core.ports import Bulk, Embedder, Progress, no_progress
from core.retrieval.legs.several_embedders import concatenation

if TYPE_CHECKING:
    import numpy as np

    from core.storage.cache.vectors import EmbeddingCache


def embed_texts(
    embedder: Embedder,
    cache: EmbeddingCache,
    texts: Sequence[str],
    progress: Progress = no_progress,
    bulk: Bulk | None = None,
) -> tuple[np.ndarray, int]:
    """One vector per text, and how many were new. Each part is cached when done, so a kill loses little."""
    import numpy as np

    if embedder.parts:  # each part under its own name, so that profiles share what was embedded
        parts = [embed_texts(part, cache, texts, progress, bulk) for part in embedder.parts]
        return concatenation([vectors for vectors, _ in parts]), max(new for _, new in parts)
    unique = list(dict.fromkeys(texts))
    known = dict(cache.get(embedder.name, unique))
    new = sorted((text for text in unique if text not in known), key=len, reverse=True)
    batches = bulk.map("embed", embedder.name, new, progress) if bulk else in_steps("embed", embedder, new, progress)
    for n, rows in batches:
        fresh = dict(zip(new[n : n + len(rows)], rows, strict=True))
        cache.put(embedder.name, fresh)
        known |= fresh
    vectors = (
        np.stack([known[text] for text in texts]) if texts else np.zeros((0, embedder.dimension), dtype=np.float32)
    )
    return vectors, len(new)


def evenly(texts: Sequence[str], step: int) -> list[str]:
    """Texts in such an order that each `step` of them has short and long ones: so the time left can be told from the
    first.

    >>> evenly(["a", "cc", "dddd", "bbb"], 2)
    ['a', 'bbb', 'cc', 'dddd']
    """
    ordered, parts = sorted(texts, key=lambda text: (len(text), text)), max(1, -(-len(texts) // step))
    return [text for n in range(parts) for text in ordered[n::parts]]


def unknown_texts(embedder: Embedder, cache: EmbeddingCache, texts: Sequence[str]) -> list[str]:
    """The texts that some part of the embedder has not embedded yet, each once."""
    texts = list(dict.fromkeys(texts))
    names = [part.name for part in embedder.parts] or [embedder.name]
    known = [cache.get(name, texts) for name in names]
    return [text for text in texts if not all(text in some for some in known)]


T = TypeVar("T")


@contextmanager
def in_background(work: Callable[[Progress], T]) -> Iterator[Callable[[], T]]:
    """Run `work` in a second thread during the block; leaving the block cancels it at its next step.

    >>> with in_background(lambda step: sum(range(5))) as total:
    ...     total()
    10
    """
    cancelled = threading.Event()

    def step(done: int, total: int, what: str) -> None:
        if cancelled.is_set():
            raise ConcordError(f"{what} was cancelled.")

    with ThreadPoolExecutor(1) as pool:
        future = pool.submit(work, step)
        try:
            yield future.result
        finally:
            cancelled.set()
