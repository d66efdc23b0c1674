"""The arrays of a segment: flat files that every process maps into memory.

    documents.arrow, chunks.arrow     what a hit shows, in the order of ids
    terms.arrow, start.npy,           BM25 postings: per term the chunks that hold it, and how often each does
    where.npy, counts.npy
    lengths.npy                       words of each chunk
    impacts.npy                       what each posting adds to its chunk's score, where the segment is all there is
    sketches.npy                      what tells quickly that a passage is no copy of another

They follow from the DuckDB file alone, and are shared between processes through the page cache.
"""

from __future__ import annotations

import mmap
from bisect import bisect_left
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from core.chunking import with_context
from core.retrieval.near_copies import SKETCH
from core.storage.index.arrays import kernels
from core.storage.index.record import duckdb
from core.types import DocumentFacts, LexicalOptions


def compile_lexical(connection: Any, folder: Path, options: LexicalOptions) -> None:
    """Documents, chunks and BM25 postings from a segment's DuckDB file."""
    documents, chunks = duckdb.tables(connection)
    write_table(folder / "documents.arrow", documents)
    write_table(folder / "chunks.arrow", chunks.drop(["sketch"]))
    occurrences = duckdb.occurrences(connection)
    start, where, counts, lengths = kernels.postings(
        occurrences.chunk, occurrences.term, occurrences.chunks, len(occurrences.terms)
    )
    write_table(folder / "terms.arrow", pa.table({"term": pa.array(occurrences.terms, pa.string())}))
    idf = inverse_frequencies(np.diff(start), occurrences.chunks) * (options.k1 + 1.0)
    arrays = {
        "start": start,
        "where": where,
        "counts": narrow(counts),
        "lengths": lengths.astype(np.uint32),
        "impacts": kernels.impacts(start, where, counts, norms(lengths, options), idf),
        "sketches": np.frombuffer(b"".join(chunks["sketch"].to_pylist()), np.uint32).reshape(len(chunks), SKETCH),
    }
    for name, array in arrays.items():
        np.save(folder / f"{name}.npy", array)


def embedded_texts(folder: Path, chosen: Sequence[int]) -> list[str]:
    """What the embedder reads of some chunks."""
    documents, chunks = (read_table(folder / f"{name}.arrow") for name in ("documents", "chunks"))
    bodies, contexts = MappedTexts(documents, "text"), MappedTexts(chunks, "context")
    homes, first, last = (numbers(chunks, name) for name in ("doc", "first_byte", "last_byte"))
    return [with_context(contexts[n], bodies.part(homes.item(n), first.item(n), last.item(n))) for n in chosen]


def narrow(counts: np.ndarray) -> np.ndarray:
    """Whole numbers in as few bytes as the largest needs.

    >>> narrow(np.array([1.0, 300.0])).dtype
    dtype('uint16')
    """
    return counts.astype(np.min_scalar_type(int(counts.max(initial=0))))


def inverse_frequencies(frequencies: np.ndarray, chunks: int) -> np.ndarray:
    """ln((N - n + 0.5) / (n + 0.5) + 1) for terms that n of N chunks hold (thesis, equation 12).

    >>> [round(float(value), 4) for value in inverse_frequencies(np.array([1, 5]), 10)]
    [1.9924, 0.6931]
    """
    return np.log((chunks - frequencies + 0.5) / (frequencies + 0.5) + 1.0)


def norms(lengths: np.ndarray, options: LexicalOptions) -> np.ndarray:
    """k1 * (1 - b + b * length / average length), the part of BM25 that depends on the chunk alone.

    >>> norms(np.array([1, 3]), LexicalOptions()).tolist()
    [0.9375, 2.0625]
    """
    average = lengths.mean() if len(lengths) and lengths.sum() else 1.0
    return np.asarray(options.k1 * (1.0 - options.b + options.b * lengths / average))


def write_table(path: Path, table: pa.Table) -> None:
    """A memory-mappable Arrow file."""
    table = table.cast(pa.schema([field.with_type(_wide(field.type)) for field in table.schema])).combine_chunks()
    with pa.OSFile(str(path), "wb") as sink, pa.ipc.new_file(sink, table.schema) as writer:
        writer.write_table(table)


def _wide(kind: pa.DataType) -> pa.DataType:
    """Text columns may exceed two gigabytes."""
    return pa.large_string() if pa.types.is_string(kind) else kind


def read_table(path: Path) -> pa.Table:
    with pa.memory_map(str(path)) as source:
        return pa.ipc.open_file(source).read_all()


def numbers(table: pa.Table, name: str) -> np.ndarray:
    """A 32-bit column without a copy (`to_numpy` would import pandas: a quarter second)."""
    column = _column(table, name)
    if not len(column):
        return np.empty(0, np.int32)
    return np.frombuffer(column.buffers()[1], dtype=np.int32)[column.offset : column.offset + len(column)]


def fixed(table: pa.Table, name: str, width: int) -> np.ndarray:
    """A text column whose texts all have as many ASCII characters, without a copy."""
    column = _column(table, name)
    if not len(column):
        return np.empty(0, f"S{width}")
    data, first = column.buffers()[2], column.offset * width
    return np.frombuffer(data, f"S{width}", count=len(column), offset=first)


def facts(documents: pa.Table) -> list[DocumentFacts]:
    """What is known of each document besides its text."""
    columns = documents.drop(["text", "meta"]).to_pydict()
    columns["tags"] = [tuple(tags) for tags in columns["tags"]]
    names = list(DocumentFacts.__dataclass_fields__)
    rows = zip(*(columns[name] for name in names), strict=True)
    return [DocumentFacts(**dict(zip(names, row, strict=True))) for row in rows]


class MappedTexts:
    """A text column without a copy; a text is a slice of one buffer, read in a third of pyarrow's time.

    >>> texts = MappedTexts(pa.table({"name": pa.array(["", "café", "tea"], pa.large_string())}), "name")
    >>> texts[1], texts.part(1, 0, 2), texts.all()
    ('café', 'ca', ['', 'café', 'tea'])
    """

    def __init__(self, table: pa.Table, name: str) -> None:
        self._column = column = _column(table, name)
        _, starts, data = column.buffers() if len(column) else (None, None, None)
        self._starts = np.zeros(1, np.int64) if starts is None else np.frombuffer(starts, np.int64)[column.offset :]
        self._bytes = memoryview(data or b"")

    def __len__(self) -> int:
        return len(self._column)

    def __getitem__(self, n: int) -> str:
        return str(self._bytes[self._starts.item(n) : self._starts.item(n + 1)], "utf-8")

    def part(self, n: int, first: int, last: int) -> str:
        """Some bytes of one text, without touching the rest."""
        at = self._starts.item(n)
        return str(self._bytes[at + first : at + last], "utf-8")

    def all(self) -> list[str]:
        texts: list[str] = self._column.to_pylist()
        return texts

    def find(self, text: str) -> int | None:
        """Where a text stands in a column that is in order; None if it is not there."""
        at = bisect_left(self, text)
        return at if at < len(self) and self[at] == text else None


def _column(table: pa.Table, name: str) -> pa.Array:
    column = table[name]
    if column.num_chunks == 1:  # to combine one would copy it
        return column.chunk(0)
    combined = column.combine_chunks()
    return combined.chunk(0) if isinstance(combined, pa.ChunkedArray) else combined


def map_array(path: Path) -> np.ndarray:
    return np.asarray(np.load(path, mmap_mode="r"))


def warm(array: np.ndarray) -> None:
    """Ask the kernel to read an array ahead, so that the first search does not wait for the disk."""
    base: Any = array.base if array.base is not None else array
    while not isinstance(base, mmap.mmap) and getattr(base, "base", None) is not None:
        base = base.base
    if isinstance(base, mmap.mmap) and hasattr(mmap, "MADV_WILLNEED"):
        base.madvise(mmap.MADV_WILLNEED)
