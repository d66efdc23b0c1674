"""An engine with a server behind the port that docs/research/scale.md designs: ids instead of numbers, conditions
instead of masks.

PostgreSQL with pgvector, which the tests bring along. It is filled from an open generation; both legs are asked the
same questions
under the same conditions as the exact image, whose lists are the truth. CPU is that of the process that serves: of the
backend there.

    python -m bench.postgres [CHUNKS]
"""

from __future__ import annotations

import os
import random
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from time import process_time
from typing import Any

import numpy as np
import psycopg

from bench import report
from bench.corpus import sentences
from bench.measure import markdown_table
from core.analysis import analyser
from core.ports import Index
from core.services.platform.base import shipped_vectors
from core.storage.index.arrays.image import inverse_frequencies, norms
from core.storage.index.generation_list import BuildBatch
from core.storage.index.generations import Generations, IndexLimits
from core.types import Chunk, Document, Meta, Profile
from tests.support.postgres import server

K, QUESTIONS, WARM = 10, 60, 3
TYPES, AUDIENCES = ("sop", "policy", "runbook"), 8
Found = list[tuple[str, float]]
Answers = tuple[list[list[str]], float]  # ids for each question, and the CPU milliseconds of one

IMAGE = Profile("image", graph="none")
PER_DOCUMENT = 10
PARTS = 5  # sentences of a chunk
Corpus = tuple[list[Document], list[Chunk], list[str], np.ndarray]

_TABLES = """
CREATE EXTENSION vector;
CREATE TABLE chunks (
  number int PRIMARY KEY, id text, folder text, type text, readers bigint, words tsvector, vector vector(384)
);
CREATE TABLE terms (term text PRIMARY KEY, number int, idf real);
CREATE TABLE postings (term int, chunk int, weight real);
"""
_INDEXES = """
SET max_parallel_maintenance_workers = 0; -- all of its CPU is the backend's
SET maintenance_work_mem = '512MB';
CREATE INDEX ON postings (term) INCLUDE (chunk, weight);
CREATE INDEX ON chunks USING gin (words);
CREATE INDEX ON chunks USING hnsw (vector vector_ip_ops);
CREATE INDEX ON chunks (folder);
"""
_BM25 = """
WITH found AS (
    SELECT p.chunk, sum(p.weight * t.idf) AS score FROM terms t JOIN postings p ON p.term = t.number
    WHERE t.term = ANY(%(terms)s) GROUP BY p.chunk)
SELECT c.id, f.score FROM found f JOIN chunks c ON c.number = f.chunk WHERE {where}
ORDER BY f.score DESC, c.number LIMIT %(k)s
"""
_RANK = """
SELECT c.id, ts_rank(c.words, %(query)s::tsquery) AS score FROM chunks c
WHERE c.words @@ %(query)s::tsquery AND {where} ORDER BY score DESC, c.number LIMIT %(k)s
"""
_NEAREST = (
    "SELECT c.id, -(c.vector <#> %(vector)s) FROM chunks c WHERE {where} ORDER BY c.vector <#> %(vector)s LIMIT %(k)s"
)


@dataclass(frozen=True)
class Where:
    """What may be found, in words that an engine understands: who asks, which types, which folders. Empty means any."""

    readers: int = 0  # one bit for each audience that the person belongs to
    types: tuple[str, ...] = ()
    folders: tuple[str, ...] = ()

    def sql(self) -> tuple[str, dict[str, Any]]:
        """A condition on `c`, and its parameters.

        >>> Where(types=("sop",)).sql()
        ('c.type = ANY(%(types)s)', {'types': ['sop']})
        """
        parts = {
            "readers": ("c.readers & %(readers)s <> 0", self.readers),
            "types": ("c.type = ANY(%(types)s)", list(self.types)),
            "folders": ("c.folder = ANY(%(folders)s)", list(self.folders)),
        }
        given = {name: part for name, part in parts.items() if part[1]}
        return " AND ".join(text for text, _ in given.values()) or "true", {name: of for name, (_, of) in given.items()}


CONDITIONS = {
    "none": Where(),
    "readers: half of all": Where(readers=0b1111),
    "readers: an eighth": Where(readers=0b1),
    "a type: a third": Where(types=("sop",)),
    "a folder: a fiftieth": Where(folders=("f07",)),
    "readers, type and folder": Where(0b1111, ("sop",), ("f07", "f08")),
}


class PostgresLegs:
    """Two legs: terms or a vector and a condition in, ids with scores out."""

    def __init__(self, connection: psycopg.Connection[Any]) -> None:
        self.connection = connection

    def bm25(self, terms: Sequence[str], where: Where) -> Found:
        return self._ask(_BM25, where, terms=list(terms))

    def full_text(self, terms: Sequence[str], where: Where) -> Found:
        """PostgreSQL's own ranking, which knows no rarity of words."""
        return self._ask(_RANK, where, query=" | ".join(map(_quoted, terms)))

    def dense(self, vector: np.ndarray, where: Where) -> Found:
        return self._ask(_NEAREST, where, vector=_vector(vector))

    def _ask(self, statement: str, where: Where, **given: Any) -> Found:
        condition, more = where.sql()
        values = {**given, **more, "k": K}
        asked = statement.format(where=condition)
        rows = self.connection.execute(asked, values, prepare=True)  # type: ignore[call-overload]
        return [(str(name), float(score)) for name, score in rows.fetchall()]


def corpus(chunks: int, rows: np.ndarray) -> Corpus:
    """Documents of ten chunks, with their analysed words and vectors."""
    rng, numbers = random.Random(chunks), np.random.default_rng(chunks)
    source = [" ".join(part.split())[:240] for part in sentences()[:20_000]]
    analyse = analyser(IMAGE.lexical)
    words = [" ".join(analyse(part)) for part in source]
    documents, cut, terms = [], [], []
    for n in range(chunks // PER_DOCUMENT):
        chosen = [[rng.randrange(len(source)) for _ in range(PARTS)] for _ in range(PER_DOCUMENT)]
        texts = [". ".join(source[at] for at in own) for own in chosen]
        head = " ".join(source[chosen[0][0]].split()[:6])
        document = Document(
            f"D-{n:07d}", f"f{n % 50:02d}/{n:07d}.md", head, "\n\n".join(texts), meta=Meta(id=f"D-{n:07d}")
        )
        start = 0
        for own, text in zip(chosen, texts, strict=True):
            cut.append(Chunk(f"{rng.getrandbits(64):016x}", document.id, start, start + len(text), text, (head,), head))
            terms.append(" ".join([*analyse(head), *(words[at] for at in own)]))
            start += len(text) + 2
        documents.append(document)
    first, second = (numbers.integers(0, len(rows), len(cut)) for _ in range(2))
    mixed = rows[first] + 0.5 * rows[second] + numbers.normal(scale=0.02, size=(len(cut), rows.shape[1]))
    return documents, cut, terms, (mixed / np.linalg.norm(mixed, axis=1, keepdims=True)).astype(np.float32)


def image(root: Path, made: Corpus) -> Index:
    """The exact image of these chunks."""
    documents, cut, terms, rows = made
    generations = Generations(root, IndexLimits(1, 10**9), lambda one: analyser(one.lexical), arrays=[root / "arrays"])
    facts = {"commit": "0" * 40, "documents": {}, "skipped": {}, "built": "", "seconds": 0.0}
    with generations.building(IMAGE):
        batch = BuildBatch((), documents, cut, terms, rows)
        generations.write(IMAGE, None, batch, facts, lambda _: nullcontext())
    return generations.open(IMAGE)


def attributes(index: Index) -> Iterator[tuple[str, str, int]]:
    """Folder, type and audience of every chunk."""
    facts = [
        (document.path.split("/")[0], TYPES[n % len(TYPES)], 1 << n % AUDIENCES)
        for n, document in enumerate(index.documents)
    ]
    return (facts[index.document_of(chunk)] for chunk in range(index.size))


def mask(index: Index, where: Where) -> np.ndarray | None:
    """The same condition as the image takes it: a bit for each of its N chunks."""
    if where == Where():
        return None
    return np.array(
        [
            (not where.readers or bool(readers & where.readers))
            and (not where.types or kind in where.types)
            and (not where.folders or folder in where.folders)
            for folder, kind, readers in attributes(index)
        ]
    )


def fill(connection: psycopg.Connection[Any], index: Index, terms: Mapping[str, str]) -> None:
    """Everything that the legs need, from an open generation; `terms` are the analysed words of a chunk, by its id."""
    connection.execute(_TABLES)
    ids = [index.passage(chunk).id for chunk in range(index.size)]
    counted = [Counter(terms[name].split()) for name in ids]
    weights = norms(np.array([sum(words.values()) for words in counted]), IMAGE.lexical)
    holding = Counter(word for words in counted for word in words)
    number = {word: n for n, word in enumerate(holding)}
    rarity = inverse_frequencies(np.array(list(holding.values())), len(ids)) * (IMAGE.lexical.k1 + 1.0)
    with connection.cursor().copy("COPY terms FROM STDIN") as copy:
        for word, idf in zip(holding, rarity, strict=True):
            copy.write_row((word, number[word], float(idf)))
    with connection.cursor().copy("COPY postings FROM STDIN") as copy:
        for chunk, words in enumerate(counted):
            for word, count in words.items():
                copy.write_row((number[word], chunk, count / (count + float(weights[chunk]))))
    with connection.cursor().copy("COPY chunks FROM STDIN") as copy:
        for chunk, (name, about) in enumerate(zip(ids, attributes(index), strict=True)):
            vector = _vector(index.vector(chunk))
            copy.write_row((chunk, name, *about, _tsvector(terms[name].split()), vector))
    connection.execute(_INDEXES)
    connection.execute("VACUUM ANALYZE")


def _vector(values: np.ndarray) -> str:
    return "[" + ",".join(f"{value:.7g}" for value in values) + "]"


def _tsvector(words: Sequence[str]) -> str:
    """Words with their places, as PostgreSQL writes them: its own parser would cut identifiers differently.

    >>> _tsvector(["a", "b'c", "a"])
    "'a':1,3 'b''c':2"
    """
    places: dict[str, list[int]] = {}
    for n, word in enumerate(words, 1):
        places.setdefault(word, []).append(min(n, 16_383))
    return " ".join(f"{_quoted(word)}:{','.join(map(str, at[:255]))}" for word, at in places.items())


def _quoted(word: str) -> str:
    return "'" + word.replace("\\", "\\\\").replace("'", "''") + "'"


def spent(process: int) -> float:
    """CPU seconds of a process of this machine until now."""
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def asked(call: Callable[[Any], Found], questions: Sequence[Any], used: Callable[[], float]) -> Answers:
    """What is found for each question, and the CPU milliseconds of one."""
    for question in questions[:WARM]:
        call(question)
    before = used()
    found = [[name for name, _ in call(question)] for question in questions]
    return found, (used() - before) * 1000 / len(questions)


def measured(index: Index, legs: PostgresLegs, texts: Sequence[str], vectors: np.ndarray) -> Iterator[list[str]]:
    """Rows of the table."""
    analyse = analyser(IMAGE.lexical)
    words = [list(dict.fromkeys(analyse(text))) for text in texts]
    for name, where in CONDITIONS.items():
        may = mask(index, where)
        exact = asked(partial(_image_words, index, may), texts, process_time)
        yield [name, "BM25 over postings", *_beside(exact, legs, partial(legs.bm25, where=where), words)]
        yield [name, "ts_rank over GIN", *_beside(exact, legs, partial(legs.full_text, where=where), words)]
        exact = asked(partial(_image_vectors, index, may), list(vectors), process_time)
        yield [name, "vectors, HNSW", *_beside(exact, legs, partial(legs.dense, where=where), list(vectors))]
        legs.connection.execute("SET enable_indexscan = off")
        yield [name, "vectors, exact", *_beside(exact, legs, partial(legs.dense, where=where), list(vectors))]
        legs.connection.execute("SET enable_indexscan = on")


def _image_words(index: Index, may: np.ndarray | None, text: str) -> Found:
    return [(index.passage(chunk).id, score) for chunk, score in index.bm25(text).search(K, may).items()]


def _image_vectors(index: Index, may: np.ndarray | None, vector: np.ndarray) -> Found:
    return [(index.passage(chunk).id, score) for chunk, score in index.dense(vector).search(K, may).items()]


def _beside(exact: Answers, legs: PostgresLegs, call: Callable[[Any], Found], questions: Sequence[Any]) -> list[str]:
    """How far the lists agree, and the CPU of both."""
    backend = legs.connection.info.backend_pid
    found, theirs = asked(call, questions, lambda: spent(backend))
    same = agreement(exact[0], found)
    return [f"{same['recall']:.3f}", f"{same['same']:.2f}", f"{exact[1]:.2f}", f"{theirs:.2f}"]


def agreement(exact: list[list[str]], other: list[list[str]]) -> dict[str, float]:
    """The share of the first ten that are found, of first places that are the same, and of rankings that are.

    >>> agreement([["a", "b"]], [["b", "a"]])
    {'recall': 1.0, 'first': 0.0, 'same': 0.0}
    """
    wanted = sum(map(len, exact))
    hits = sum(len(set(one) & set(two)) for one, two in zip(exact, other, strict=True))
    first = [one[:1] == two[:1] for one, two in zip(exact, other, strict=True)]
    same = [one == two for one, two in zip(exact, other, strict=True)]
    return {"recall": hits / max(1, wanted), "first": sum(first) / len(first), "same": sum(same) / len(same)}


def write(chunks: int = 20_000) -> None:
    """Measure and write the section."""
    known = next(iter(shipped_vectors()._rows.values()))
    rows, source = np.stack(list(known.values())), sentences()
    made = corpus(chunks, rows)
    terms = {chunk.id: words for chunk, words in zip(made[1], made[2], strict=True)}
    rng = np.random.default_rng(7)
    vectors = rows[rng.integers(0, len(rows), QUESTIONS)] + rng.normal(scale=0.03, size=(QUESTIONS, rows.shape[1]))
    vectors = (vectors / np.linalg.norm(vectors, axis=1, keepdims=True)).astype(np.float32)
    texts = [" ".join(source[int(n)].split()[:10]) for n in rng.integers(0, min(len(source), 20_000), QUESTIONS)]
    with tempfile.TemporaryDirectory() as place, server() as running:
        index = image(Path(place), made)
        with psycopg.connect(running.database("engine"), autocommit=True) as connection:
            before = process_time(), spent(connection.info.backend_pid)
            fill(connection, index, terms)
            filled = process_time() - before[0], spent(connection.info.backend_pid) - before[1]
            size = connection.execute("SELECT pg_database_size(current_database())").fetchone()
            for setting in (
                "max_parallel_workers_per_gather = 0",
                "hnsw.ef_search = 100",
                "hnsw.iterative_scan = strict_order",
                "jit = off",
            ):
                connection.execute(f"SET {setting}")  # type: ignore[call-overload]
            lines = list(measured(index, PostgresLegs(connection), texts, vectors))
    heads = ("Condition", "PostgreSQL finds by", "recall@10", "same ten in order", "image CPU ms", "PostgreSQL CPU ms")
    about = (
        f"{chunks:,} chunks (`python -m bench.postgres`), {QUESTIONS} questions of ten words or a vector; PostgreSQL 18"
        " with pgvector 0.8.5, HNSW with ef_search 100 and\niterative scans, one process a query. Filled in"
        f" {filled[0]:.0f} s of CPU here and {filled[1]:.0f} there, HNSW included;"
        f" {size[0] / 1e6 if size else 0:,.0f} MB."
    )
    report.write(
        "postgres",
        "An engine with a server: ids and conditions",
        f"{about}\n\n{markdown_table(heads, lines)}\n\n{report.machine()}",
    )


if __name__ == "__main__":
    write(*map(int, sys.argv[1:]))
