"""What of a segment is gone: documents that a later generation has in another state, or not any more."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa

from core.storage.index.arrays import image
from core.storage.index.arrays.cache import ArrayCache
from core.storage.index.record.segment_list import Segment


def without(cache: ArrayCache, generation: Path, segment: Segment, gone: Iterable[str]) -> Segment:
    """The segment after some more of its documents are gone."""
    ids = image.MappedTexts(_table(cache, generation, segment, "documents"), "doc")
    numbers = {*segment.gone, *(n for doc in gone if (n := ids.find(doc)) is not None)}
    if len(numbers) == len(segment.gone):
        return segment
    left = replace(segment, gone=tuple(sorted(numbers)))
    return replace(left, live=segment.chunks - int(of_gone(cache, generation, left).sum()))


def gone_since(cache: ArrayCache, generation: Path, before: Segment, now: Segment | None) -> list[str]:
    """The ids of documents that were in a segment before and are gone from it now; all where it is not there any
    more.
    """
    gone = range(before.documents) if now is None else now.gone
    numbers = sorted(set(gone).difference(before.gone))
    documents = _table(cache, generation, before, "documents")
    ids: list[str] = documents["doc"].take(np.array(numbers, np.int64)).to_pylist()
    return ids


def of_gone(cache: ArrayCache, generation: Path, segment: Segment) -> np.ndarray:
    """Which chunks belong to documents that are gone."""
    chunks = _table(cache, generation, segment, "chunks")
    return np.isin(image.numbers(chunks, "doc"), np.array(segment.gone, np.int32))


def gone_chunks(cache: ArrayCache, generation: Path, segment: Segment) -> list[str]:
    """The ids of chunks whose documents are gone."""
    if not segment.gone:
        return []
    places = np.flatnonzero(of_gone(cache, generation, segment))
    ids: list[str] = _table(cache, generation, segment, "chunks")["id"].take(places).to_pylist()
    return ids


def _table(cache: ArrayCache, generation: Path, segment: Segment, name: str) -> pa.Table:
    return cache.read(generation, segment, lambda folder: image.read_table(folder / f"{name}.arrow"))
