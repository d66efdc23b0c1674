"""Legs: ways to retrieve candidates. One record per file; this dict names them all."""

from __future__ import annotations

from core.retrieval.legs.bm25 import BM25
from core.retrieval.legs.dense import DENSE
from core.retrieval.legs.graph import GRAPH
from core.retrieval.legs.pagerank import PAGERANK
from core.retrieval.legs.sparse import SPARSE
from core.retrieval.legs.tfidf import TFIDF
from core.retrieval.methods import LegKind

LEGS: dict[str, LegKind] = {record.name: record for record in (BM25, DENSE, TFIDF, SPARSE, GRAPH, PAGERANK)}
