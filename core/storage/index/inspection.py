"""Does the record of a generation agree with itself? DuckDB, LanceDB and what the chunks say are compared row by
row.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from core.errors import in_one_line
from core.storage.index import assembled_graph
from core.storage.index.arrays.cache import ArrayCache
from core.storage.index.arrays.gone import gone_chunks
from core.storage.index.record import duckdb, graph_rows, lance, vectors
from core.storage.index.record.segment_list import listed

Look = Callable[[Path, Mapping[str, Any]], Iterator[str]]


def disagreements(folder: Path, manifest: Mapping[str, Any], cache: ArrayCache) -> Iterator[str]:
    """Every way in which the parts of a generation contradict each other, or cannot be read at all."""
    yield from _looked_at("the record", partial(_chunks, cache), folder, manifest)
    yield from _looked_at("the graph", partial(_graph, cache), folder, manifest)
    yield from _looked_at("the list of segments", _segments, folder, manifest)


def _segments(folder: Path, manifest: Mapping[str, Any]) -> Iterator[str]:
    for segment in listed(folder):
        where = f" of {segment.place}" if segment.place else ""
        for what, look in LOOKS.items():
            yield from _looked_at(f"{what}{where}", look, segment.folder(folder), manifest)


def _looked_at(what: str, look: Look, folder: Path, manifest: Mapping[str, Any]) -> Iterator[str]:
    try:
        yield from look(folder, manifest)
    except Exception as error:  # whatever a reader makes of damaged bytes
        yield f"{what} cannot be read: {in_one_line(error)}"


def _chunks(cache: ArrayCache, folder: Path, manifest: Mapping[str, Any]) -> Iterator[str]:
    ids: list[str] = []
    for segment in listed(folder):
        ids += sorted(set(_ids(segment.folder(folder))).difference(gone_chunks(cache, folder, segment)))
    if len(ids) != manifest["chunks"] or len(set(ids)) != len(ids):
        yield f"the manifest names {manifest['chunks']} chunks, DuckDB holds {len(ids)} ({len(set(ids))} distinct)"


def _ids(folder: Path) -> list[str]:
    with duckdb.open_file(folder / "fts.duckdb") as connection:
        return _column(connection, "chunks", "id")


def _column(connection: Any, table: str, column: str) -> list[str]:
    return [row[0] for row in connection.execute(f"SELECT {column} FROM {table} ORDER BY {column}").fetchall()]


def _lexical(folder: Path, manifest: Mapping[str, Any]) -> Iterator[str]:
    with duckdb.open_file(folder / "fts.duckdb") as connection:
        ids, indexed = (_column(connection, *place) for place in (("chunks", "id"), ("fts_main_lexical.docs", "name")))
        if ids != indexed:
            yield f"the full-text index of DuckDB holds {len(indexed)} chunks that are not its {len(ids)} chunks"
        wrong = connection.execute(
            "SELECT count(*) FROM fts_main_lexical.dict d FULL JOIN (SELECT termid, count(DISTINCT docid) AS n FROM "
            "fts_main_lexical.terms "
            "GROUP BY termid) t USING (termid) WHERE d.df IS DISTINCT FROM t.n"
        ).fetchone()
        if wrong and wrong[0]:
            yield f"{wrong[0]} terms have a wrong document frequency"
        stats = connection.execute(
            "SELECT num_docs = (SELECT count(*) FROM fts_main_lexical.docs) AND "
            "abs(coalesce(avgdl, 0) - (SELECT coalesce(avg(len), 0) FROM fts_main_lexical.docs)) < 1e-9 FROM "
            "fts_main_lexical.stats"
        ).fetchone()
        if not stats or not stats[0]:
            yield "the number of chunks or their average length is wrong"


def _vectors(folder: Path, manifest: Mapping[str, Any]) -> Iterator[str]:
    if manifest.get("pending") and not vectors.present(folder):
        return  # they are still being computed
    ids = _ids(folder)
    stored, rows = lance.read(folder / vectors.FOLDER)
    mapped = vectors.mapped(folder)
    if stored != ids:
        yield f"LanceDB holds {len(stored)} vectors that are not those of the {len(ids)} chunks"
    elif mapped is not None and (rows.shape != mapped.shape or not np.array_equal(rows, mapped)):
        yield "the vectors that searches map are not those that LanceDB reads"


def _spans(folder: Path, manifest: Mapping[str, Any]) -> Iterator[str]:
    with duckdb.open_file(folder / "fts.duckdb") as connection:
        found = connection.execute(
            'SELECT count(*) FROM chunks JOIN documents USING (doc) WHERE NOT (0 <= "start" AND "start" < "end" AND '
            '"end" <= length(text))'
        ).fetchone()
    if found and found[0]:
        yield f"{found[0]} chunks do not lie inside their document"


def _graph(cache: ArrayCache, folder: Path, manifest: Mapping[str, Any]) -> Iterator[str]:
    if all(graph_rows.present(segment.folder(folder)) for segment in listed(folder)):
        yield from assembled_graph.disagreements(folder, cache)


LOOKS: Mapping[str, Look] = {"DuckDB": _lexical, "LanceDB": _vectors, "the documents": _spans}  # of each segment
