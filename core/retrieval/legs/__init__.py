"""Legs: ways to retrieve candidates. One record each; this dict names them all."""

from __future__ import annotations

from core.retrieval.legs.bm25 import BM25, SPARSE, TFIDF
from core.retrieval.legs.dense import DENSE
from core.retrieval.legs.second_look import SECOND_LOOK
from core.retrieval.legs.walks import GRAPH, PAGERANK
from core.retrieval.methods import LegKind

LEGS: dict[str, LegKind] = {
    record.name: record for record in (BM25, DENSE, TFIDF, SPARSE, GRAPH, PAGERANK, SECOND_LOOK)
}
