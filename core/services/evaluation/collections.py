"""BEIR collections: a configuration over all queries, with the figures that are published for others."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from core.access import Actor
from core.evaluation.measures import ranking
from core.evaluation.querysets.beir import Collection
from core.ports import Index, Progress, no_progress
from core.retrieval.config import name as config_name
from core.services.search.searcher import Searcher
from core.types import Filters, SearchConfig

DEPTH = 100  # documents ranked per query
AUTHOR = Actor(
    "evaluation", "Evaluation", "evaluation@localhost", "admin", "system"
)  # of records, in their own workspace


@dataclass(frozen=True, slots=True)
class BeirScores:
    """A configuration over a collection: the ranking of every query, and the time it took."""

    config: SearchConfig
    rankings: Mapping[str, tuple[str, ...]]
    seconds: float
    stages: Mapping[str, float]
    warnings: tuple[str, ...]


def run(
    searcher: Searcher, index: Index, collection: Collection, config: SearchConfig, progress: Progress = no_progress
) -> BeirScores:
    """Search every query; a document ranks where its best chunk ranks."""
    deep = _deepened(config, index)
    rankings: dict[str, tuple[str, ...]] = {}
    spent: Counter[str] = Counter()
    warnings: dict[str, None] = {}
    started = time.perf_counter()
    for n, (query, text) in enumerate(collection.queries.items(), 1):
        result = searcher.search_in(index, text, deep, Filters(history=True))
        best = dict.fromkeys(collection.records.get(hit.doc, hit.doc) for hit in result.hits)
        rankings[query] = tuple(best)[:DEPTH]
        spent.update({stage.name: stage.ms / 1000.0 for stage in result.stages})  # type: ignore[arg-type]
        warnings |= dict.fromkeys(result.warnings)
        progress(n, len(collection.queries), f"Searching with {config_name(config)}")
    return BeirScores(deep, rankings, time.perf_counter() - started, dict(spent), tuple(warnings))


def _deepened(config: SearchConfig, index: Index) -> SearchConfig:
    """Enough chunks per leg to rank a hundred documents."""
    per_document = max(1.0, index.size / max(1, len(index.documents)))
    depth = min(1000, max(config.depth, int(DEPTH * per_document) + DEPTH // 2))
    return replace(config, depth=depth, k=min(1000, 2 * depth))


def report(collection: Collection, scores: BeirScores) -> dict[str, Any]:
    """The figures of a run, as the CLI prints them."""
    pairs = [(scores.rankings[query], gains) for query, gains in collection.qrels.items() if query in scores.rankings]
    means: Callable[[Callable[..., float], int], float] = lambda measure, k: round(
        ranking.mean([measure(r, g, k) for r, g in pairs]), 5
    )
    return {
        "nDCG@10": means(ranking.ndcg, 10),
        "Recall@100": means(ranking.recall, 100),
        "MRR@10": means(ranking.reciprocal_rank, 10),
        "queries": len(pairs),
        "seconds": round(scores.seconds, 3),
        "seconds_per_stage": {name: round(seconds, 3) for name, seconds in scores.stages.items()},
        "depth": scores.config.depth,
        "warnings": list(scores.warnings),
    }
