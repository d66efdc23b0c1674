"""The legs over words: `bm25`, `tfidf`, and `sparse`, the mean of both."""

from __future__ import annotations

from core.ports import Index, Leg
from core.retrieval.engines import ENGINES
from core.retrieval.methods import LegKind, LegQuery


def open_bm25(asked: LegQuery, index: Index) -> Leg:
    """BM25 over the index's postings, or by another engine."""
    return index.bm25(asked.query, asked.engine, asked.fields)


BM25 = LegKind(
    name="bm25",
    title="Words (BM25)",
    about="Exact words and identifiers; rare ones count more.",
    source="Robertson and Zaragoza 2009",
    side="sparse",
    colour="#E69F00",
    open=open_bm25,
    fields=True,
    engines=ENGINES["bm25"][1:],
)


def open_tfidf(asked: LegQuery, index: Index) -> Leg:
    """The index's own leg of that name."""
    return index.tfidf(asked.query)


TFIDF = LegKind(
    name="tfidf",
    title="Words (TF-IDF)",
    about="Words and pairs of words by TF-IDF.",
    source="the cascade study, stage 2",
    side="sparse",
    colour="#D55E00",
    open=open_tfidf,
)


def open_sparse(asked: LegQuery, index: Index) -> Leg:
    """The index's own leg of that name."""
    return index.sparse(asked.query)


SPARSE = LegKind(
    name="sparse",
    title="Words (BM25 and TF-IDF)",
    about="The mean of BM25 and TF-IDF.",
    source="the cascade study, stage 2",
    side="sparse",
    colour="#F0B840",
    open=open_sparse,
)
