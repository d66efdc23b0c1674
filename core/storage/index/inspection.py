"""Does a generation agree with itself? DuckDB, LanceDB and the served image are compared row by row."""

from __future__ import annotations

import filecmp
import tempfile
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from core import strict
from core.errors import in_one_line
from core.storage.index.arrays import image
from core.storage.index.record import duckdb, graph_files, lance
from core.storage.index.record.segment_list import gone_chunks, listed
from core.types import LexicalOptions

_NEW = ("counts.npy", "lengths.npy", "sketches.npy")  # generations of earlier versions have none
Look = Callable[[Path, Mapping[str, Any]], Iterator[str]]


def disagreements(folder: Path, manifest: Mapping[str, Any]) -> Iterator[str]:
    """Every way in which the parts of a generation contradict each other, or cannot be read at all."""
    yield from _looked_at("the image", _chunks, folder, manifest)
    yield from _looked_at("the graph", _graph, folder, manifest)
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


def _chunks(folder: Path, manifest: Mapping[str, Any]) -> Iterator[str]:
    ids: list[str] = []
    for segment in listed(folder):
        ids += sorted(set(_ids(segment.folder(folder))).difference(gone_chunks(folder, segment)))
    if len(ids) != manifest["chunks"] or len(set(ids)) != len(ids):
        yield f"the manifest names {manifest['chunks']} chunks, the image holds {len(ids)} ({len(set(ids))} distinct)"


def _ids(folder: Path) -> list[str]:
    ids: list[str] = image.read_table(folder / "served" / "chunks.arrow")["id"].to_pylist()
    return ids


def _lexical(folder: Path, manifest: Mapping[str, Any]) -> Iterator[str]:
    ids = _ids(folder)
    with duckdb.open_file(folder / "fts.duckdb") as connection:
        for table, column in (("chunks", "id"), ("lexical", "id"), ("fts_main_lexical.docs", "name")):
            rows = [row[0] for row in connection.execute(f"SELECT {column} FROM {table} ORDER BY {column}").fetchall()]
            if rows != ids:
                yield f"{table} in DuckDB holds {len(rows)} chunks that are not the {len(ids)} of the image"
        wrong = connection.execute(
            "SELECT count(*) FROM fts_main_lexical.dict d FULL JOIN (SELECT termid, count(DISTINCT docid) AS n FROM fts_main_lexical.terms "
            "GROUP BY termid) t USING (termid) WHERE d.df IS DISTINCT FROM t.n"
        ).fetchone()
        if wrong and wrong[0]:
            yield f"{wrong[0]} terms have a wrong document frequency"
        stats = connection.execute(
            "SELECT num_docs = (SELECT count(*) FROM fts_main_lexical.docs) AND "
            "abs(coalesce(avgdl, 0) - (SELECT coalesce(avg(len), 0) FROM fts_main_lexical.docs)) < 1e-9 FROM fts_main_lexical.stats"
        ).fetchone()
        if not stats or not stats[0]:
            yield "the number of chunks or their average length is wrong"
        options = strict.parse(LexicalOptions, manifest["profile"]["lexical"], "the manifest")
        yield from _image(folder / "served", connection, options)


def _image(served: Path, connection: Any, options: LexicalOptions) -> Iterator[str]:
    """What is served is what follows from DuckDB now."""
    with tempfile.TemporaryDirectory() as place:
        image.compile_lexical(connection, Path(place), options, alone=(served / "impacts.npy").exists())
        for expected in sorted(Path(place).iterdir()):
            if expected.name in _NEW and not (served / expected.name).exists():
                continue
            if not filecmp.cmp(expected, served / expected.name, shallow=False):
                yield f"the served {expected.name} is not the one that follows from DuckDB"


def _vectors(folder: Path, manifest: Mapping[str, Any]) -> Iterator[str]:
    if manifest.get("pending") and not (folder / "served" / "vectors.npy").exists():
        return  # they are still being computed
    ids = _ids(folder)
    stored, rows = lance.read(folder / "vec")
    served = image.map_array(folder / "served" / "vectors.npy")
    if stored != ids:
        yield f"LanceDB holds {len(stored)} vectors that are not those of the {len(ids)} chunks"
    elif rows.shape != served.shape or not np.array_equal(rows, served):
        yield "the served vectors are not those in LanceDB"


def _spans(folder: Path, manifest: Mapping[str, Any]) -> Iterator[str]:
    chunks = image.read_table(folder / "served" / "chunks.arrow")
    lengths = [len(text) for text in image.read_table(folder / "served" / "documents.arrow")["text"].to_pylist()]
    rows = chunks.select(["doc", "start", "end"]).to_pydict()
    bad = sum(
        not 0 <= start < end <= lengths[doc]
        for doc, start, end in zip(rows["doc"], rows["start"], rows["end"], strict=True)
    )
    if bad:
        yield f"{bad} chunks do not lie inside their document"


def _graph(folder: Path, manifest: Mapping[str, Any]) -> Iterator[str]:
    if graph_files.present(folder):
        yield from graph_files.disagreements(folder)


LOOKS: Mapping[str, Look] = {"DuckDB": _lexical, "LanceDB": _vectors, "the documents": _spans}  # of each segment
