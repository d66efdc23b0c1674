"""BEIR collections: a configuration over all queries, with the figures that are published for others."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from core.access import Actor
from core.evaluation.measures import by_name
from core.evaluation.measures.by_name import STANDARD, ranking_measure
from core.evaluation.querysets.beir import Collection
from core.ports import Index, Progress, no_progress
from core.retrieval.config import DEFAULT
from core.retrieval.config import name as config_name
from core.services.search.searcher import Searcher
from core.types import Filters, SearchConfig

DEPTH = 100  # documents ranked per query, for recall
MOST = 1000  # the deepest that a search may look
SHALLOW = (1, 5, 10)
MEASURED = (*(f"{name}@{k}" for k in SHALLOW for name in STANDARD), "Recall@100")
AUTHOR = Actor(
    "evaluation", "Evaluation", "evaluation@localhost", "admin", "system"
)  # of records, in their own workspace


@dataclass(frozen=True, slots=True)
class BeirScores:
    """A configuration over a collection: the ranking of every query, and the time it took.

    The first places are those that a search serves; what only a search of `recall_depth` finds follows them.
    """

    config: SearchConfig
    rankings: Mapping[str, tuple[str, ...]]
    seconds: float
    stages: Mapping[str, float]
    warnings: tuple[str, ...]
    recall_depth: int = 0


def run(
    searcher: Searcher, index: Index, collection: Collection, config: SearchConfig, progress: Progress = no_progress
) -> BeirScores:
    """Search every query at the configuration's own depth; a document ranks where its best chunk ranks."""
    deep = _deepened(config, index)
    rankings: dict[str, tuple[str, ...]] = {}
    spent: Counter[str] = Counter()
    warnings: dict[str, None] = {}
    seconds = 0.0
    for n, (query, text) in enumerate(collection.queries.items(), 1):
        started = time.perf_counter()
        result = searcher.search_in(index, text, replace(config, k=MOST), Filters(history=True))
        seconds += time.perf_counter() - started
        further = searcher.search_in(index, text, deep, Filters(history=True))
        both = (*result.hits, *further.hits)
        docs = (doc for hit in both for doc in (hit.doc, *(other.doc for other in hit.also)))
        best = dict.fromkeys(collection.records.get(doc, doc) for doc in docs)
        rankings[query] = tuple(best)[:DEPTH]
        spent.update({stage.name: stage.ms / 1000.0 for stage in result.stages})  # type: ignore[arg-type]
        warnings |= dict.fromkeys(result.warnings)
        progress(n, len(collection.queries), f"Searching with {config_name(config)}")
    return BeirScores(config, rankings, seconds, dict(spent), tuple(warnings), deep.depth)


def _deepened(config: SearchConfig, index: Index) -> SearchConfig:
    """Enough chunks per leg to rank a hundred documents; a model reads none of those that are only counted."""
    per_document = 1.0 if config.documents else max(1.0, index.size / max(1, len(index.documents)))
    depth = min(MOST, max(config.depth, int(DEPTH * per_document) + DEPTH // 2))
    return replace(config, depth=depth, k=min(MOST, 2 * depth), rerank="off")


def at_depth(text: str, config: SearchConfig, depth: int) -> SearchConfig:
    """A configuration that was named without a depth, at the depth that production searches with.

    >>> from core.retrieval.config import parse
    >>> at_depth("rrf-60", parse("rrf-60"), 30).depth, at_depth('{"depth": 10}', parse('{"depth": 10}'), 30).depth
    (30, 10)
    """
    says_so = "depth" in text or config.depth != DEFAULT.depth
    return config if says_so else replace(config, depth=depth)


def report(collection: Collection, scores: BeirScores) -> dict[str, Any]:
    """The figures of a run, as the CLI prints them."""
    pairs = [(scores.rankings[query], gains) for query, gains in collection.qrels.items() if query in scores.rankings]
    values = {name: [ranking_measure(name)(found, gains) for found, gains in pairs] for name in MEASURED}
    return {
        **{name: round(by_name.mean(each), 5) for name, each in values.items()},
        "queries": len(pairs),
        "seconds": round(scores.seconds, 3),
        "seconds_per_stage": {name: round(seconds, 3) for name, seconds in scores.stages.items()},
        "ms_per_query": {name: round(1000 * s / max(1, len(pairs)), 3) for name, s in scores.stages.items()},
        "depth": scores.config.depth,
        "recall_depth": scores.recall_depth,
        "warnings": list(scores.warnings),
    }
