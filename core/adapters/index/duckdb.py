"""Documents, chunks and BM25 data of one generation in one DuckDB file, built with DuckDB's FTS extension.

A first build lets the extension index the analysed terms. A later build copies the parent's file and changes,
in the extension's own tables, only what belongs to changed documents: statistics stay exact, and `match_bm25`
on the result equals a full rebuild. `match_bm25` is linear in the corpus, so searches use postings that are
exported once per generation and served from memory, unless somebody chooses this engine.
"""

from __future__ import annotations

import importlib.util
import json
import shutil
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from core.errors import Unavailable
from core.types import Chunk, Document

if TYPE_CHECKING:
    import duckdb

_OFFLINE = {"autoinstall_known_extensions": "false", "autoload_known_extensions": "false"}
_hardening = threading.Lock()

HEADING = "\x1f"  # between the headings of a path, which hold no control characters

_SCHEMA = """
CREATE TABLE documents (doc VARCHAR, path VARCHAR, blob VARCHAR, version INTEGER, title VARCHAR, doc_type VARCHAR,
    status VARCHAR, owner VARCHAR, tags VARCHAR[], effective_date VARCHAR, review_due VARCHAR, meta VARCHAR, body INTEGER, text VARCHAR);
CREATE TABLE chunks (id VARCHAR, doc VARCHAR, "start" INTEGER, "end" INTEGER, first_byte INTEGER, last_byte INTEGER,
    heading VARCHAR, context VARCHAR, parent_start INTEGER, parent_end INTEGER, tokens INTEGER);
CREATE TABLE lexical (id VARCHAR, terms VARCHAR);
"""

_INDEX = """
PRAGMA create_fts_index('lexical', 'id', 'terms', stemmer='none', stopwords='none', ignore='[ ]+', strip_accents=0, lower=0, overwrite=1)
"""

_FORGET = """
CREATE OR REPLACE TEMP TABLE gone AS SELECT docid FROM fts_main_lexical.docs WHERE name IN (SELECT id FROM going);
UPDATE fts_main_lexical.dict SET df = df - x.n FROM
    (SELECT termid, count(DISTINCT docid) AS n FROM fts_main_lexical.terms WHERE docid IN (SELECT docid FROM gone) GROUP BY termid) x
    WHERE dict.termid = x.termid;
DELETE FROM fts_main_lexical.terms WHERE docid IN (SELECT docid FROM gone);
DELETE FROM fts_main_lexical.docs WHERE docid IN (SELECT docid FROM gone);
DELETE FROM lexical WHERE id IN (SELECT id FROM going);
DELETE FROM chunks WHERE id IN (SELECT id FROM going);
"""

_LEARN = """
CREATE OR REPLACE TEMP TABLE coming AS
    SELECT (SELECT coalesce(max(docid), -1) FROM fts_main_lexical.docs) + row_number() OVER () AS docid, id, terms FROM new_lexical;
CREATE OR REPLACE TEMP TABLE occurrence AS
    SELECT docid, term FROM (SELECT docid, unnest(string_split(terms, ' ')) AS term FROM coming) WHERE term <> '';
INSERT INTO fts_main_lexical.dict
    SELECT (SELECT coalesce(max(termid), -1) FROM fts_main_lexical.dict) + row_number() OVER (), term, 0
    FROM (SELECT DISTINCT term FROM occurrence WHERE term NOT IN (SELECT term FROM fts_main_lexical.dict));
INSERT INTO fts_main_lexical.docs
    SELECT docid, id, (SELECT count(*) FROM occurrence WHERE occurrence.docid = coming.docid) FROM coming;
INSERT INTO fts_main_lexical.terms SELECT docid, 0, termid FROM occurrence JOIN fts_main_lexical.dict USING (term);
UPDATE fts_main_lexical.dict SET df = df + x.n FROM (SELECT term, count(DISTINCT docid) AS n FROM occurrence GROUP BY term) x
    WHERE dict.term = x.term;
INSERT INTO lexical SELECT * FROM new_lexical;
"""

_SETTLE = """
DELETE FROM fts_main_lexical.dict WHERE df <= 0;
UPDATE fts_main_lexical.stats SET num_docs = (SELECT count(*) FROM fts_main_lexical.docs),
    avgdl = (SELECT coalesce(sum(len) / count(len), 0) FROM fts_main_lexical.docs);
"""


@dataclass(frozen=True, slots=True)
class Occurrences:
    """Every word of every chunk: numbers of chunks (in the order of ids) and of terms (in the order of `terms`)."""

    chunk: np.ndarray
    term: np.ndarray
    terms: list[str]
    chunks: int


def extension() -> Path:
    """The FTS extension that came with the packages; nothing is downloaded."""
    import duckdb

    package = importlib.util.find_spec("duckdb_extension_fts")
    if package and package.origin:
        for path in Path(package.origin).parent.glob(f"extensions/v{duckdb.__version__}/fts.duckdb_extension"):
            return path
    raise Unavailable(
        f"DuckDB's full-text extension for version {duckdb.__version__} is missing. Run: pip install -r requirements.txt"
    )


@contextmanager
def open_file(path: Path, *, write: bool = False) -> Iterator[duckdb.DuckDBPyConnection]:
    """A connection that is closed at the end."""
    connection = _writer(path) if write else reader(path)
    try:
        yield connection
    finally:
        connection.close()


def reader(path: Path) -> duckdb.DuckDBPyConnection:
    """A read-only connection that reaches neither the network nor other files.

    A process has one database per file: whoever opens it first hardens it for all. One connection serves one
    thread; take a `cursor()` for each query.
    """
    import duckdb

    with _hardening:
        connection = duckdb.connect(str(path), read_only=True, config=_OFFLINE)
        if not connection.execute("SELECT current_setting('lock_configuration')").fetchall()[0][0]:
            connection.execute(f"LOAD '{extension()}'")
            connection.execute("SET enable_external_access = false")
            connection.execute("SET lock_configuration = true")
    return connection


def _writer(path: Path) -> duckdb.DuckDBPyConnection:
    """A connection that cannot reach the network."""
    import duckdb

    connection = duckdb.connect(str(path), config=_OFFLINE)
    connection.execute("SET enable_progress_bar = false")  # it would be drawn into the output of a command
    connection.execute(f"LOAD '{extension()}'")
    connection.execute("SET lock_configuration = true")
    return connection


@contextmanager
def written(
    path: Path,
    parent: Path | None,
    gone: Sequence[str],
    documents: Sequence[Document],
    chunks: Sequence[Chunk],
    terms: Sequence[str],
) -> Iterator[duckdb.DuckDBPyConnection]:
    """Write a generation's file: the parent's without the documents `gone`, plus `documents` with their chunks.

    `terms` are the analysed words of each chunk, joined by spaces. Yields the connection when all is on the disk.
    """
    if parent:
        shutil.copyfile(parent, path)
    with open_file(path, write=True) as connection:
        if not parent:
            connection.execute(_SCHEMA)
        else:
            _forget(connection, gone)
        _insert(connection, documents, chunks)
        new_lexical = pa.table({"id": [chunk.id for chunk in chunks], "terms": pa.array(terms, pa.string())})
        connection.register("new_lexical", new_lexical)
        if parent:
            connection.execute(_LEARN)
            connection.execute(_SETTLE)
        else:
            connection.execute("INSERT INTO lexical SELECT * FROM new_lexical")
            connection.execute(_INDEX)
        connection.unregister("new_lexical")
        connection.execute("CHECKPOINT")
        yield connection


def _forget(connection: duckdb.DuckDBPyConnection, gone: Sequence[str]) -> None:
    connection.execute("CREATE OR REPLACE TEMP TABLE leaving AS SELECT unnest(?::VARCHAR[]) AS doc", [list(gone)])
    connection.execute(
        "CREATE OR REPLACE TEMP TABLE going AS SELECT id FROM chunks WHERE doc IN (SELECT doc FROM leaving)"
    )
    connection.execute("DELETE FROM documents WHERE doc IN (SELECT doc FROM leaving)")
    connection.execute(_FORGET)


def _insert(connection: duckdb.DuckDBPyConnection, documents: Sequence[Document], chunks: Sequence[Chunk]) -> None:
    for table, rows in (("documents", document_table(documents)), ("chunks", chunk_table(documents, chunks))):
        connection.register("new_rows", rows)
        connection.execute(f"INSERT INTO {table} BY NAME SELECT * FROM new_rows")
        connection.unregister("new_rows")


def document_table(documents: Sequence[Document]) -> pa.Table:
    """Documents as columns; dates as ISO text, the rest of the metadata as JSON."""
    columns: dict[str, list[Any]] = {
        "doc": [d.id for d in documents],
        "path": [d.path for d in documents],
        "blob": [d.blob for d in documents],
        "version": [d.version for d in documents],
        "title": [d.title for d in documents],
        "doc_type": [d.meta.doc_type for d in documents],
        "status": [d.meta.status for d in documents],
        "owner": [d.meta.owner for d in documents],
        "tags": [list(d.meta.tags) for d in documents],
        "effective_date": [str(d.meta.effective_date or "") for d in documents],
        "review_due": [str(d.meta.review_due or "") for d in documents],
        "meta": [
            json.dumps({"supersedes": d.meta.supersedes, "answers": d.meta.answers}, ensure_ascii=False)
            for d in documents
        ],
        "body": [d.body for d in documents],
        "text": [d.text for d in documents],
    }
    kinds = {"version": pa.int32(), "body": pa.int32(), "tags": pa.list_(pa.string())}
    return pa.table({name: pa.array(values, kinds.get(name, pa.string())) for name, values in columns.items()})


def chunk_table(documents: Sequence[Document], chunks: Sequence[Chunk]) -> pa.Table:
    """Chunks as columns; a chunk without a parent has -1 as the parent's place.

    Places are kept in characters, as everybody counts, and in bytes, as the image is read.
    """
    texts = {document.id: document.text for document in documents}
    bytes_before = [_bytes(texts[chunk.doc], chunk.start) for chunk in chunks]
    columns: dict[str, tuple[pa.DataType, list[Any]]] = {
        "id": (pa.string(), [c.id for c in chunks]),
        "doc": (pa.string(), [c.doc for c in chunks]),
        "start": (pa.int32(), [c.start for c in chunks]),
        "end": (pa.int32(), [c.end for c in chunks]),
        "first_byte": (pa.int32(), bytes_before),
        "last_byte": (
            pa.int32(),
            [at + _bytes(c.text, len(c.text)) for at, c in zip(bytes_before, chunks, strict=True)],
        ),
        "heading": (pa.string(), [HEADING.join(c.heading) for c in chunks]),
        "context": (pa.string(), [c.context for c in chunks]),
        "parent_start": (pa.int32(), [c.parent[0] if c.parent else -1 for c in chunks]),
        "parent_end": (pa.int32(), [c.parent[1] if c.parent else -1 for c in chunks]),
        "tokens": (pa.int32(), [c.tokens for c in chunks]),
    }
    return pa.table({name: pa.array(values, kind) for name, (kind, values) in columns.items()})


def _bytes(text: str, end: int) -> int:
    """How many bytes the first `end` characters take."""
    return end if text.isascii() else len(text[:end].encode("utf-8", "replace"))


def tables(connection: duckdb.DuckDBPyConnection) -> tuple[pa.Table, pa.Table]:
    """Documents by id, and chunks by id with the number of their document."""
    documents = connection.execute("SELECT * FROM documents ORDER BY doc").to_arrow_table()
    chunks = connection.execute(
        "SELECT c.* EXCLUDE (doc), d.n AS doc FROM chunks c "
        "JOIN (SELECT doc, (row_number() OVER (ORDER BY doc) - 1)::INTEGER AS n FROM documents) d USING (doc) ORDER BY c.id"
    ).to_arrow_table()
    return documents, chunks


def occurrences(connection: duckdb.DuckDBPyConnection) -> Occurrences:
    """The FTS index as arrays, with chunks numbered by id and terms by spelling."""
    docs = connection.execute(
        "SELECT docid, (row_number() OVER (ORDER BY name) - 1)::UINTEGER AS n FROM fts_main_lexical.docs"
    ).fetchnumpy()
    words = connection.execute("SELECT term, termid FROM fts_main_lexical.dict ORDER BY term").to_arrow_table()
    pairs = connection.execute(
        "SELECT docid::UINTEGER AS d, termid::UINTEGER AS t FROM fts_main_lexical.terms"
    ).fetchnumpy()
    return Occurrences(
        chunk=_renumber(docs["docid"], docs["n"])[np.asarray(pairs["d"])],
        term=_renumber(words["termid"].to_numpy(), np.arange(len(words), dtype=np.uint32))[np.asarray(pairs["t"])],
        terms=words["term"].to_pylist(),
        chunks=len(docs["n"]),
    )


def _renumber(old: np.ndarray, new: np.ndarray) -> np.ndarray:
    """A table from old numbers to new ones."""
    table = np.zeros(int(np.max(old)) + 1 if len(old) else 1, np.uint32)
    table[np.asarray(old)] = np.asarray(new)
    return table


def analysed(connection: duckdb.DuckDBPyConnection) -> list[str]:
    """The terms of every chunk, joined by spaces, in the order of ids."""
    return [row[0] for row in connection.execute("SELECT terms FROM lexical ORDER BY id").fetchall()]


def match_bm25(connection: duckdb.DuckDBPyConnection, terms: Sequence[str], k1: float, b: float) -> np.ndarray:
    """DuckDB's own score of every chunk, in the order of ids; 0 where no term occurs."""
    columns = connection.execute(
        "SELECT coalesce(fts_main_lexical.match_bm25(id, ?, k := ?, b := ?), 0)::DOUBLE AS score FROM lexical ORDER BY id",
        [" ".join(terms), k1, b],
    ).fetchnumpy()
    return np.asarray(columns["score"])
