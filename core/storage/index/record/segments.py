"""Segments: the immutable parts of a generation, written once. Each has everything of its documents.

An edit writes one small segment with the new state of the documents it changes and notes their old state as gone; files
of the other segments are hard links into the new generation. Small segments are written anew together with the next
edit, larger ones are merged beside the work: sizes grow geometrically, so each chunk is written a few times in its
life.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from core.storage.index.record import duckdb, graph_rows, vectors
from core.storage.index.record.segment_list import Segment
from core.types import Chunk, Document, Extract

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
    embedded: np.ndarray | None,
    extracts: Sequence[Extract] | None,
) -> SegmentRows:
    """What a segment of these documents is written from."""
    said = None if extracts is None else graph_rows.rows([chunk.id for chunk in chunks], extracts)
    return SegmentRows(duckdb.document_table(documents), duckdb.chunk_table(documents, chunks), terms, embedded, said)


def read(generation: Path, segment: Segment, gone: Sequence[str]) -> SegmentRows:
    """What a segment would be written from now, without chunks that are gone."""
    import pyarrow.compute as pc

    folder = segment.folder(generation)
    with duckdb.open_file(folder / "fts.duckdb") as connection:
        documents, chunks = duckdb.tables(connection)
        terms = duckdb.analysed(duckdb.occurrences(connection))
    names = documents["doc"].take(chunks["doc"])
    chunks = chunks.set_column(chunks.schema.get_field_index("doc"), "doc", names)
    out = pc.is_in(chunks["id"], value_set=pa.array(gone, pa.string()))
    live = np.flatnonzero(~np.array(out.to_pylist(), dtype=np.bool_))
    left = np.setdiff1d(np.arange(len(documents)), segment.gone)
    kept = vectors.present(folder)
    rows = vectors.mapped(folder) if kept else None
    rows = vectors.read(folder) if kept and rows is None else rows
    said = graph_rows.tables(folder, gone) if graph_rows.present(folder) else None
    return SegmentRows(
        documents.take(left),
        chunks.take(live),
        [terms[n] for n in live.tolist()],
        None if rows is None else rows[live],
        said,
    )


def joined(parts: Sequence[SegmentRows]) -> SegmentRows:
    """The rows of several segments as those of one. Where one says nothing of a graph, none is kept; so with
    vectors.
    """
    if len(parts) == 1:
        return parts[0]
    said = [part.graph for part in parts if part.graph is not None]
    embedded = [part.vectors for part in parts if part.vectors is not None]
    return SegmentRows(
        _stacked([part.documents for part in parts]),
        _stacked([part.chunks for part in parts]),
        [terms for part in parts for terms in part.terms],
        np.concatenate(embedded) if len(embedded) == len(parts) else None,
        {name: _stacked([tables[name] for tables in said]) for name in said[0]} if len(said) == len(parts) else None,
    )


def _stacked(tables: Sequence[pa.Table]) -> pa.Table:
    """Tables below each other; columns in the order and with the types of the last."""
    schema = tables[-1].schema
    return pa.concat_tables([table.select(schema.names).cast(schema) for table in tables])


@contextmanager
def written(folder: Path, rows: SegmentRows, timed: Callable[[str], Any]) -> Iterator[Any]:
    """Write the record of a segment; yields the connection to its words, when they are on the disk."""
    folder.mkdir(parents=True, exist_ok=True)
    if rows.vectors is not None:
        with timed("vectors"):
            vectors.write(folder, rows.chunks["id"].to_pylist(), rows.vectors)
    if rows.graph is not None:
        with timed("graph"):
            graph_rows.write(folder, rows.graph)
    with (
        timed("lexical"),
        duckdb.written(folder / "fts.duckdb", rows.documents, rows.chunks, rows.terms) as connection,
    ):
        yield connection


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
