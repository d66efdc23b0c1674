"""Documents, chunks and words of one segment in one DuckDB file, with the postings of DuckDB's FTS extension.

The file is written once and never changed: it is the record. `match_bm25` knows the statistics of its own file, so it
answers where a generation is one segment; over several the same formula is asked of each with the statistics of all.
Both are linear in the corpus, so searches use arrays that are made from this file, unless somebody chooses this engine.
"""

from __future__ import annotations

import importlib.util
import itertools
import json
import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from core.cures import SETUP
from core.errors import Unavailable
from core.retrieval.near_copies import sketched
from core.types import Chunk, Document

if TYPE_CHECKING:
    import duckdb

OPENING = {"autoinstall_known_extensions": "false", "autoload_known_extensions": "false"}
_hardening = threading.Lock()
_numbers = itertools.count()

FEW = 1_000  # chunks of a file in small blocks: an edit takes .3 MB, where blocks as large as DuckDB's own take 2.1
BLOCK = 16_384  # bytes
HEADING = "\x1f"  # between the headings of a path and between questions, which hold no control characters

_SCHEMA = """
CREATE TABLE documents (doc VARCHAR, path VARCHAR, blob VARCHAR, version INTEGER, title VARCHAR, doc_type VARCHAR,
    status VARCHAR, owner VARCHAR, tags VARCHAR[], effective_date VARCHAR, review_due VARCHAR,
    meta VARCHAR, body INTEGER,
    text VARCHAR USING COMPRESSION zstd);
CREATE TABLE chunks (id VARCHAR, doc VARCHAR, "start" INTEGER, "end" INTEGER, first_byte INTEGER, last_byte INTEGER,
    heading VARCHAR, context VARCHAR, questions VARCHAR, parent_start INTEGER, parent_end INTEGER, tokens INTEGER,
    sketch BLOB);
CREATE TABLE lexical (id VARCHAR, terms VARCHAR);
"""
STORAGE = "v1.2.0"  # of DuckDB's files: the first that has zstd

# The index holds every word in its order, so the texts that it is made from are not kept beside it.
_INDEX = """
PRAGMA create_fts_index('lexical', 'id', 'terms', stemmer='none', stopwords='none', ignore='[ ]+',
    strip_accents=0, lower=0, overwrite=1);
DROP TABLE lexical;
ALTER TABLE fts_main_lexical.terms ALTER termid TYPE UINTEGER;
"""

_COUNTED = """
SELECT count(*), coalesce(sum(len), 0)::BIGINT FROM fts_main_lexical.docs
    WHERE name NOT IN (SELECT unnest($gone::VARCHAR[]))
"""

_FREQUENCIES = """
SELECT term, count(DISTINCT docid) FROM fts_main_lexical.terms JOIN fts_main_lexical.dict USING (termid)
    JOIN fts_main_lexical.docs USING (docid)
    WHERE term IN (SELECT unnest($terms::VARCHAR[])) AND name NOT IN (SELECT unnest($gone::VARCHAR[])) GROUP BY term
"""

_SCORES = """
WITH asked AS (SELECT unnest($terms::VARCHAR[]) AS term, unnest($frequencies::BIGINT[]) AS df),
    counted AS (SELECT docid, asked.df AS df, count(*) AS tf FROM fts_main_lexical.terms
        JOIN fts_main_lexical.dict USING (termid)
        JOIN asked USING (term) GROUP BY docid, term, asked.df),
    scored AS (SELECT docid, sum(log(($chunks - df + 0.5) / (df + 0.5) + 1) *
        ((tf * ($k1 + 1)) / (tf + $k1 * (1 - $b + $b * (len / $average))))) AS score
        FROM counted JOIN fts_main_lexical.docs USING (docid) GROUP BY docid)
SELECT coalesce(score, 0)::DOUBLE AS score FROM fts_main_lexical.docs LEFT JOIN scored USING (docid) ORDER BY name
"""


@dataclass(frozen=True, slots=True)
class Occurrences:
    """Every word of every chunk, one after the other: numbers of chunks (in the order of ids) and of terms (in the
    order of
    `terms`)."""

    chunk: np.ndarray
    term: np.ndarray
    terms: list[str]
    chunks: int


@cache
def extension() -> Path:
    """The FTS extension that came with the packages; nothing is downloaded."""
    import duckdb

    package = importlib.util.find_spec("duckdb_extension_fts")
    if package and package.origin:
        for path in Path(package.origin).parent.glob(f"extensions/v{duckdb.__version__}/fts.duckdb_extension"):
            return path
    raise Unavailable(
        f"DuckDB's full-text extension for version {duckdb.__version__} is missing.",
        SETUP,
    )


@contextmanager
def open_file(path: Path) -> Iterator[duckdb.DuckDBPyConnection]:
    """A connection that is closed at the end."""
    connection = reader(path)
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

    _writer()  # the extension's signature is checked there, once in a process
    with _hardening:
        config = {**OPENING, "allow_unsigned_extensions": "true"}
        connection = duckdb.connect(str(path), read_only=True, config=config)
        if not connection.execute("SELECT current_setting('lock_configuration')").fetchall()[0][0]:
            connection.execute(f"LOAD '{extension()}'")
            connection.execute("SET enable_external_access = false")
            connection.execute("SET lock_configuration = true")
    return connection


@cache
def _writer() -> duckdb.DuckDBPyConnection:
    """The database in memory that segments are written through. It cannot reach the network.

    A database of its own for each file would cost 21 ms of CPU, and 65 ms more to read the whole extension for its
    signature.
    """
    import duckdb

    connection = duckdb.connect(config=OPENING)
    connection.execute("SET enable_progress_bar = false")  # it would be drawn into the output of a command
    connection.execute(f"LOAD '{extension()}'")
    connection.execute("SET lock_configuration = true")
    return connection


@contextmanager
def _new_file(path: Path, chunks: int) -> Iterator[duckdb.DuckDBPyConnection]:
    """A connection that writes to a file; nobody else has it open before the end."""
    name, place = f"segment_{next(_numbers)}", str(path).replace("'", "''")
    blocks = f", BLOCK_SIZE {BLOCK}" if chunks < FEW else ""
    with _writer().cursor() as connection:
        connection.execute(f"ATTACH '{place}' AS {name} (STORAGE_VERSION '{STORAGE}'{blocks})")
        try:
            connection.execute(f"USE {name}")
            yield connection
        finally:
            connection.execute("USE memory")
            connection.execute(f"DETACH {name}")


@contextmanager
def written(
    path: Path, documents: pa.Table, chunks: pa.Table, terms: Sequence[str]
) -> Iterator[duckdb.DuckDBPyConnection]:
    """Write a segment's file. `terms` are the analysed words of each chunk, joined by spaces.

    Yields the connection when all is on the disk.
    """
    with _new_file(path, len(chunks)) as connection:
        connection.execute(_SCHEMA)
        lexical = pa.table({"id": chunks["id"], "terms": pa.array(terms, pa.string())})
        for table, rows in (("documents", documents), ("chunks", chunks), ("lexical", lexical)):
            connection.register("new_rows", rows)
            connection.execute(f"INSERT INTO {table} BY NAME SELECT * FROM new_rows")
            connection.unregister("new_rows")
        connection.execute(_INDEX)
        connection.execute("CHECKPOINT")
        yield connection


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
        "questions": (pa.string(), [HEADING.join(c.questions) for c in chunks]),
        "parent_start": (pa.int32(), [c.parent[0] if c.parent else -1 for c in chunks]),
        "parent_end": (pa.int32(), [c.parent[1] if c.parent else -1 for c in chunks]),
        "tokens": (pa.int32(), [c.tokens for c in chunks]),
        "sketch": (pa.binary(), _sketches(_clean(c.text) for c in chunks)),
    }
    return pa.table({name: pa.array(values, kind) for name, (kind, values) in columns.items()})


def _sketches(texts: Iterable[str]) -> list[bytes]:
    """What tells quickly that a passage is no copy of another: kept, because it takes longer than all other arrays."""
    return [row.tobytes() for row in sketched(texts)]


def _clean(text: str) -> str:
    """Half of a surrogate pair cannot be written as UTF-8."""
    return text if text.isascii() else text.encode("utf-8", "replace").decode()


def _bytes(text: str, end: int) -> int:
    """How many bytes the first `end` characters take."""
    return end if text.isascii() else len(text[:end].encode("utf-8", "replace"))


def tables(connection: duckdb.DuckDBPyConnection) -> tuple[pa.Table, pa.Table]:
    """Documents by id, and chunks by id with the number of their document."""
    documents = connection.execute("SELECT * FROM documents ORDER BY doc").to_arrow_table()
    chunks = connection.execute(
        "SELECT c.* EXCLUDE (doc), d.n AS doc FROM chunks c "
        "JOIN (SELECT doc, (row_number() OVER (ORDER BY doc) - 1)::INTEGER AS n FROM documents) d USING (doc) ORDER "
        "BY c.id"
    ).to_arrow_table()
    if "sketch" not in chunks.column_names:  # of an earlier version
        texts = documents["text"].to_pylist()
        spans = zip(*(chunks[name].to_pylist() for name in ("doc", "start", "end")), strict=True)
        sketches = _sketches(texts[doc][start:end] for doc, start, end in spans)
        chunks = chunks.append_column("sketch", pa.array(sketches, pa.binary()))
    return documents, chunks


def occurrences(connection: duckdb.DuckDBPyConnection) -> Occurrences:
    """The FTS index as arrays, with chunks numbered by id and terms by spelling."""
    docs = connection.execute(
        "SELECT docid, (row_number() OVER (ORDER BY name) - 1)::UINTEGER AS n FROM fts_main_lexical.docs"
    ).fetchnumpy()
    words = connection.execute("SELECT term, termid FROM fts_main_lexical.dict ORDER BY term").to_arrow_table()
    pairs = connection.execute(
        # in the order of words, as they were put in
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


def analysed(found: Occurrences) -> list[str]:
    """The terms of every chunk, joined by spaces, in the order of ids.

    >>> analysed(Occurrences(np.array([1, 1, 0]), np.array([1, 0, 1]), ["cash", "limit"], 3))
    ['limit', 'limit cash', '']
    """
    order = np.argsort(found.chunk, kind="stable")
    words = np.array(found.terms, dtype=object)[found.term[order]].tolist()
    ends = np.cumsum(np.bincount(found.chunk, minlength=found.chunks)).tolist()
    return [" ".join(words[start:end]) for start, end in zip([0, *ends], ends, strict=False)]


def match_bm25(connection: duckdb.DuckDBPyConnection, terms: Sequence[str], k1: float, b: float) -> np.ndarray:
    """DuckDB's own score of every chunk, in the order of ids; 0 where no term occurs."""
    columns = connection.execute(
        "SELECT coalesce(fts_main_lexical.match_bm25(id, ?, k := ?, b := ?), 0)::DOUBLE AS score FROM chunks ORDER "
        "BY id",
        [" ".join(terms), k1, b],
    ).fetchnumpy()
    return np.asarray(columns["score"])


def counted(connection: duckdb.DuckDBPyConnection, gone: Sequence[str]) -> tuple[int, int]:
    """How many chunks a segment holds without those that are gone, and how many words they have together."""
    chunks, words = connection.execute(_COUNTED, {"gone": list(gone)}).fetchall()[0]
    return chunks, words


def frequencies(connection: duckdb.DuckDBPyConnection, terms: Sequence[str], gone: Sequence[str]) -> dict[str, int]:
    """How many chunks hold each term."""
    return dict(connection.execute(_FREQUENCIES, {"terms": list(terms), "gone": list(gone)}).fetchall())


def scores(
    connection: duckdb.DuckDBPyConnection,
    frequencies: Mapping[str, int],
    chunks: int,
    words: int,
    k1: float,
    b: float,
) -> np.ndarray:
    """What `match_bm25` gives with the statistics of all segments, for every chunk of this one in the order of ids."""
    given = {"terms": list(frequencies), "frequencies": list(frequencies.values()), "chunks": chunks}
    columns = connection.execute(_SCORES, {**given, "average": words / chunks if words else 1.0, "k1": k1, "b": b})
    return np.asarray(columns.fetchnumpy()["score"])
