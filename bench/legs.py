"""BM25, dense and hybrid search beside other engines, on the same chunks, tokens and vectors, in one run."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from bench.building import workspace
from bench.corpus import queries
from bench.measure import Timing, in_turns, timed
from core.retrieval import config as configs
from core.retrieval import pipeline
from core.storage.index.arrays import kernels
from core.storage.index.record import duckdb
from core.storage.index.record.vectors import mapped as mapped_vectors

SLOW = 12  # queries for peers that take a second each
K = 10


def measure(home: Path, chunks: int) -> dict[str, Any]:
    """Timings of every engine, and whether the ranks agree."""
    app = workspace(home / f"w{chunks}", chunks)
    profile = app.platform.settings.profile()
    app.index.builder.build(profile)
    if len(app.index.generations.open(profile).segments) > 1:  # what edits were measured on
        app.index.builder.build(profile, full=True)
    index = app.index.generations.open(profile)
    kernels.warm()  # as the app does when it starts
    folder = app.index.generations.folder(profile) / app.index.generations.current(profile).folder
    asked = [query for query in queries(200) if index.analyse(query)]
    embedder = app.models.registry.embedder("")
    vectors = [embedder.query(query) for query in asked]
    terms = [sorted(set(index.analyse(query))) for query in asked]
    out: dict[str, Any] = {"chunks": index.size, "bm25": {}, "dense": {}, "hybrid": {}}
    known = dict(zip(asked, vectors, strict=True))
    ours = (
        lambda query: index.bm25(query).search(K, None),
        lambda query: index.dense(known[query]).search(K, None),
        lambda query: pipeline.search(query, configs.DEFAULT, index, pipeline.SearchContext(embed=known.__getitem__)),
    )
    for leg, call in zip(("bm25", "dense", "hybrid"), ours, strict=True):
        out[leg]["concord"] = timed(call, asked)
    bm25, dense, hybrid = (timing.cpu50 for timing in in_turns(ours, asked))
    out["sum"] = hybrid / (bm25 + dense)
    _duckdb(out, index, folder, asked, terms)
    _bm25s(out, index, folder, terms)
    _rank_bm25(out, folder, terms)
    _numpy(out, folder, vectors, index)
    _lancedb(out, home / f"lance{chunks}", folder, terms, vectors)
    return out


def _duckdb(out: dict[str, Any], index: Any, folder: Path, asked: list[str], terms: list[list[str]]) -> None:
    with duckdb.open_file(folder / "fts.duckdb") as connection:
        sql = (
            "SELECT id, fts_main_lexical.match_bm25(id, ?, k := 1.5, b := 0.75) AS score FROM chunks "
            f"WHERE score IS NOT NULL ORDER BY score DESC, id LIMIT {K}"
        )

        def call(words: list[str]) -> list[tuple[str, float]]:
            return connection.execute(sql, [" ".join(words)]).fetchall()

        out["bm25"]["DuckDB match_bm25"] = timed(call, terms[:SLOW], warm=1)
        same = 0
        for query, words in zip(asked[:SLOW], terms[:SLOW], strict=True):
            mine = [index.passage(chunk).id for chunk in index.bm25(query).search(K, None)]
            same += _same_ranks(mine, call(words))
        out["agreement"] = same / min(SLOW, len(terms))


def _same_ranks(mine: list[str], theirs: list[tuple[str, float]]) -> bool:
    """Equal order, where chunks with equal scores (to the sixth digit) may change places."""
    scores = {chunk: round(score, 6) for chunk, score in theirs}
    return [scores.get(chunk) for chunk in mine] == [round(score, 6) for _, score in theirs]


def _tokens(folder: Path) -> list[list[str]]:
    with duckdb.open_file(folder / "fts.duckdb") as connection:
        return [terms.split(" ") for terms in duckdb.analysed(duckdb.occurrences(connection))]


def _bm25s(out: dict[str, Any], index: Any, folder: Path, terms: list[list[str]]) -> None:
    import bm25s

    peer = bm25s.BM25(k1=1.5, b=0.75, method="lucene", backend="numba")
    peer.index(_tokens(folder), show_progress=False)
    known = [[word for word in words if word in peer.vocab_dict] for words in terms]
    asked = [words for words in known if words]
    out["bm25"]["bm25s (numba)"] = timed(lambda words: peer.retrieve([words], k=K, show_progress=False), asked)


def _rank_bm25(out: dict[str, Any], folder: Path, terms: list[list[str]]) -> None:
    from rank_bm25 import BM25Okapi

    peer = BM25Okapi(_tokens(folder), k1=1.5, b=0.75)

    def call(words: list[str]) -> Any:
        scores = peer.get_scores(words)
        best = np.argpartition(scores, -K)[-K:]
        return best[np.argsort(-scores[best])]

    out["bm25"]["rank-bm25"] = timed(call, terms[:SLOW], warm=1)


def _numpy(out: dict[str, Any], folder: Path, vectors: list[np.ndarray], index: Any) -> None:
    rows = np.asarray(mapped_vectors(folder))

    def call(vector: np.ndarray) -> np.ndarray:
        scores = rows @ vector
        best = np.argpartition(scores, -K)[-K:]
        return best[np.argsort(-scores[best])]

    out["dense"]["numpy exact"] = timed(call, vectors)
    hits = 0
    for vector in vectors:
        edge = float((rows[call(vector)] @ vector).min())  # equal scores may stand in any order
        hits += sum(score >= edge - 1e-6 for score in index.dense(vector).search(K, None).values())
    out["recall"] = hits / (K * len(vectors))


def _lancedb(out: dict[str, Any], home: Path, folder: Path, terms: list[list[str]], vectors: list[np.ndarray]) -> None:
    import lancedb
    import pyarrow as pa

    rows = np.asarray(mapped_vectors(folder))
    texts = [" ".join(words) for words in _tokens(folder)]
    flat = pa.FixedSizeListArray.from_arrays(pa.array(rows.ravel()), rows.shape[1])
    table = lancedb.connect(str(home)).create_table("t", pa.table({"text": texts, "vector": flat}), mode="overwrite")
    table.create_fts_index(
        "text", base_tokenizer="whitespace", stem=False, remove_stop_words=False, lower_case=False, ascii_folding=False
    )
    pairs = list(zip(terms, vectors, strict=True))[:60]
    out["bm25"]["LanceDB FTS"] = timed(
        lambda p: table.search(" ".join(p[0]), query_type="fts").limit(K).to_list(), pairs
    )
    out["dense"]["LanceDB exact"] = timed(
        lambda p: table.search(p[1]).distance_type("cosine").limit(K).to_list(), pairs
    )

    def hybrid(pair: Any) -> Any:
        return table.search(query_type="hybrid").vector(pair[1]).text(" ".join(pair[0])).limit(K).to_list()

    out["hybrid"]["LanceDB hybrid"] = timed(hybrid, pairs)


def rows(measured: dict[str, Any], leg: str) -> list[list[str]]:
    """Lines of a table: CPU and wall beside ours, as ratios."""
    ours: Timing = measured[leg]["concord"]
    lines = []
    for name, timing in measured[leg].items():
        lines.append(
            [
                f"{measured['chunks']:,}",
                name,
                f"{timing.cpu50:.2f}",
                f"{timing.cpu95:.2f}",
                f"{timing.wall50:.2f}",
                f"{timing.wall95:.2f}",
                f"{timing.cpu50 / ours.cpu50:.2f}x",
            ]
        )
    return lines
