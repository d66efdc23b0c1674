"""`bm25`: exact words, weighed by how rare they are."""

from __future__ import annotations

from core.ports import Index, Leg
from core.retrieval.engines import ENGINES
from core.retrieval.methods import LegKind, LegQuery


def open_leg(asked: LegQuery, index: Index) -> Leg:
    """BM25 over the index's postings, or by another engine."""
    return index.bm25(asked.query, asked.engine, asked.fields)


BM25 = LegKind(
    name="bm25",
    title="Words (BM25)",
    about="Exact words and identifiers; rare ones count more.",
    source="Robertson and Zaragoza 2009",
    side="sparse",
    colour="#E69F00",
    open=open_leg,
    engines=ENGINES["bm25"][1:],
)
