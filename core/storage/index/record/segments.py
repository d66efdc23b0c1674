"""Segments: the immutable parts of a generation, written once. Each has everything of its documents.

An edit writes one small segment with the new state of the documents it changes and notes their old state as gone; files
of the other segments are hard links into the new generation. Small segments are written anew together with the next
edit, larger ones are merged beside the work: sizes grow geometrically, so each chunk is written a few times in its life.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from core.analysis import analyser
from core.chunking import with_context
from core.storage.index.arrays import fields, image
from core.storage.index.record import duckdb, graph_files, lance
from core.storage.index.record.segment_list import Segment, gone_chunks, of_gone
from core.types import Chunk, Document, Extract, LexicalOptions

FOLDED = 256  # chunks; so few are written anew with every edit
MANY = 8  # segments; more are merged
FACTOR = 4  # a segment is merged with smaller ones that together have a quarter of its chunks


@dataclass(frozen=True, slots=True)
class SegmentRows:
    """What a segment is written from: documents, their chunks with terms and vectors, and what the chunks say."""

    documents: pa.Table
    chunks: pa.Table
    terms: Sequence[str]
    vectors: np.ndarray | None  # None: they come later, and until then words alone are searched
    graph: Mapping[str, pa.Table] | None


# ---------------------------------------------------------------- reading and writing


def rows_of(
    documents: Sequence[Document],
    chunks: Sequence[Chunk],
    terms: Sequence[str],
    vectors: np.ndarray | None,
    extracts: Sequence[Extract] | None,
) -> SegmentRows:
    """What a segment of these documents is written from."""
    said = None if extracts is None else graph_files.rows([chunk.id for chunk in chunks], extracts)
    return SegmentRows(duckdb.document_table(documents), duckdb.chunk_table(documents, chunks), terms, vectors, said)


def read(generation: Path, segment: Segment) -> SegmentRows:
    """What a segment would be written from now, without what is gone."""
    folder = segment.folder(generation)
    documents, chunks = (
        image.read_table(folder / "served" / "documents.arrow"),
        image.read_table(folder / "served" / "chunks.arrow"),
    )
    names = documents["doc"].take(chunks["doc"])
    chunks = chunks.set_column(chunks.schema.get_field_index("doc"), "doc", names)
    live = np.flatnonzero(~of_gone(generation, segment))
    left = np.setdiff1d(np.arange(len(documents)), segment.gone)
    with duckdb.open_file(folder / "fts.duckdb") as connection:
        terms = duckdb.analysed(connection)
    vectors = image.map_array(folder / "served" / "vectors.npy")[live] if has_vectors(generation, segment) else None
    said = graph_files.tables(folder, gone_chunks(generation, segment)) if graph_files.present(folder) else None
    return SegmentRows(documents.take(left), chunks.take(live), [terms[n] for n in live.tolist()], vectors, said)


def joined(parts: Sequence[SegmentRows]) -> SegmentRows:
    """The rows of several segments as those of one. Where one says nothing of a graph, none is kept; so with vectors."""
    if len(parts) == 1:
        return parts[0]
    said = [part.graph for part in parts if part.graph is not None]
    vectors = [part.vectors for part in parts if part.vectors is not None]
    return SegmentRows(
        _stacked([part.documents for part in parts]),
        _stacked([part.chunks for part in parts]),
        [terms for part in parts for terms in part.terms],
        np.concatenate(vectors) if len(vectors) == len(parts) else None,
        {name: _stacked([tables[name] for tables in said]) for name in said[0]} if len(said) == len(parts) else None,
    )


def _stacked(tables: Sequence[pa.Table]) -> pa.Table:
    """Tables below each other; columns in the order and with the types of the last. Those of earlier versions lack texts."""
    schema = tables[-1].schema
    return pa.concat_tables([_completed(table, schema).select(schema.names).cast(schema) for table in tables])


def _completed(table: pa.Table, schema: pa.Schema) -> pa.Table:
    for name in set(schema.names) - set(table.column_names):
        table = table.append_column(name, pa.array([""] * len(table), pa.string()))
    return table


def write(
    folder: Path,
    rows: SegmentRows,
    options: LexicalOptions,
    *,
    alone: bool = True,
    timed: Callable[[str], Any] = lambda name: nullcontext(),
) -> None:
    """Write a segment from its rows alone; `alone`: it is all that its generation has."""
    (folder / "served").mkdir(parents=True)
    with (
        timed("lexical"),
        duckdb.written(folder / "fts.duckdb", rows.documents, rows.chunks, rows.terms) as connection,
    ):
        image.compile_lexical(connection, folder / "served", options, alone)
        fields.write(folder, analyser(options))
    if rows.vectors is not None:
        with timed("vectors"):
            write_vectors(folder, rows.chunks["id"].to_pylist(), rows.vectors)
    if rows.graph is not None:
        with timed("graph"):
            graph_files.write(folder, rows.graph)


def write_vectors(folder: Path, ids: Sequence[str], vectors: np.ndarray) -> None:
    """The vectors of a segment: one per chunk, in the order of these ids."""
    (folder / "vec").mkdir()
    lance.write(folder / "vec", ids, vectors)
    image.write_vectors(folder / "served", vectors[np.argsort(np.array(ids, dtype="U16"), kind="stable")])


def has_vectors(generation: Path, segment: Segment) -> bool:
    """Whether a segment was written with vectors, or got them later."""
    return (segment.folder(generation) / "served" / "vectors.npy").exists()


def texts(generation: Path, segment: Segment) -> list[str]:
    """What the embedder reads of each chunk that is not gone, in the order of their ids."""
    folder = segment.folder(generation)
    documents, chunks = (image.read_table(folder / "served" / f"{name}.arrow") for name in ("documents", "chunks"))
    bodies, contexts = image.MappedTexts(documents, "text"), image.MappedTexts(chunks, "context")
    homes, first, last = (image.numbers(chunks, name) for name in ("doc", "first_byte", "last_byte"))
    return [
        with_context(contexts[n], bodies.part(homes.item(n), first.item(n), last.item(n)))
        for n in np.flatnonzero(~of_gone(generation, segment)).tolist()
    ]


def add_vectors(source: Path, segment: Segment, target: Path, vectors: np.ndarray) -> None:
    """Write the vectors of chunks that are not gone beside the words of a segment; what is gone gets zeros."""
    ids: list[str] = image.read_table(segment.folder(source) / "served" / "chunks.arrow")["id"].to_pylist()
    rows = np.zeros((len(ids), vectors.shape[1]), dtype=np.float32)
    rows[~of_gone(source, segment)] = vectors
    write_vectors(segment.folder(target), ids, rows)


def link(source: Path, target: Path, names: Iterable[str]) -> None:
    """Files of a generation in another one without a copy, where both lie on one disk."""
    for name in names:
        (target / name).parent.mkdir(parents=True, exist_ok=True)
        try:
            os.link(source / name, target / name)
        except OSError:  # another disk, or one without hard links
            shutil.copy2(source / name, target / name)


def move(source: Path, target: Path) -> None:
    """Put a segment that was written aside into its place."""
    target.mkdir(parents=True, exist_ok=True)
    for path in list(source.iterdir()):
        path.rename(target / path.name)


def complete(folder: Path) -> None:
    """Add what segments of earlier versions lack before they stand beside others."""
    if not (folder / "served" / "counts.npy").exists():
        with duckdb.open_file(folder / "fts.duckdb") as connection:
            image.compile_counts(connection, folder / "served")


# ---------------------------------------------------------------- which become one


def folded(segments: Sequence[Segment], chunks: int) -> list[Segment]:
    """Segments that are so small that they are written anew with `chunks` more.

    >>> [one.place for one in folded([Segment("", 9, 900, (), 900), Segment("segments/000001", 1, 100, (), 90)], 10)]
    ['segments/000001']
    """
    chosen: list[Segment] = []
    for segment in sorted(segments, key=lambda one: one.live):
        chunks += segment.live
        if chunks > FOLDED:
            break
        chosen.append(segment)
    return chosen


def due(segments: Sequence[Segment]) -> list[Segment]:
    """Segments that should be merged now: where there are many, or most of one is gone. None: nothing is due.

    >>> sizes = [10_000, 300, 300, 300, 300, 300, 300, 300, 300]
    >>> [one.live for one in due([Segment(f"segments/{n:06d}", 1, size, (), size) for n, size in enumerate(sizes)])]
    [300, 300, 300, 300, 300, 300, 300, 300]
    >>> due([Segment("", 9, 900, (1,), 800), Segment("segments/000001", 1, 300, (), 300)])
    []
    """
    small: list[Segment] = []
    together = 0
    for segment in sorted(segments, key=lambda one: one.live) if len(segments) > MANY else ():
        if len(small) > 1 and segment.live > FACTOR * together:
            break
        small.append(segment)
        together += segment.live
    return [one for one in segments if one in small or (one.chunks > FOLDED and 2 * one.live < one.chunks)]
