"""Every method on public collections: quality and time, the best hybrid against its legs, and what reranking adds.

The hybrid, the blend and tau are chosen on train queries and measured on test queries.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from bench.collections import IndexedCollection, index_collection
from core import profiles
from core.evaluation.querysets.queryset import QuerySet
from core.evaluation.runs import comparisons
from core.evaluation.runs.run import Run, times_of
from core.evaluation.tuning import calibration
from core.evaluation.tuning.calibration import Observed
from core.retrieval import config
from core.retrieval.legs import LEGS as LEG_KINDS
from core.services.tuning.sweeps import MEASURE, observed
from core.types import SearchConfig

LEGS = ("bm25", "tfidf", "sparse", "dense")
FUSIONS = ("convex-0.3", "convex-0.5", "convex-0.7", "tm2c2-0.5", "rrf-60", "rsf", "dbsn", "combsum", "combmnz")
GRAPH = ("graph", "pagerank", "trimodal", "trimodal-graph")
DEPTH = 200  # chunks per leg: enough to rank a hundred documents
READ = {"scifact": 10}  # chunks that the cross-encoder reads; SciFact's passages are long
READ_ELSE = 20
PAIR, CHILD_DEPTH = "convex-0.5", 500  # what parents are shown with, and children per leg
TRAIN, SAMPLE, CALIBRATE = 300, 100, 80  # queries: the hybrid is chosen on; reranked; blend and tau are fitted on
BLENDS = tuple(step / 10 for step in range(10))
TAUS = (0.8, 0.95)  # beside the calibrated one; 0.95 is the thesis's
KEEP, SKIP = 0.87, 0.2  # of the gain, of the queries: what conditional reranking promises
STATIC = "potion-base-8m"  # vectors in no time: children are too many for a model on two cores
CHILDREN = {"name": "hierarchical", "params": {"parent": 500, "child": 100, "overlap": 10}}
STAGES = ("embed", *LEG_KINDS, "fuse", "rerank")


@dataclass(frozen=True)
class Row:
    """A method, its run, and the milliseconds of its stages."""

    label: str
    run: Run
    times: Mapping[str, Mapping[str, float]]


@dataclass(frozen=True)
class CollectionFigures:
    """A collection: all methods on all test queries, and reranking on a sample of them."""

    indexed: IndexedCollection
    rows: tuple[Row, ...]
    hybrid: str
    against: Mapping[str, comparisons.RunComparison]
    read: tuple[Row, ...]
    tau: float
    blend: float


def named(text: str) -> SearchConfig:
    """A configuration that looks deep enough to rank a hundred documents."""
    return replace(config.parse(text), depth=DEPTH)


def measure(home: Path, folder: Path) -> CollectionFigures:
    """Everything about one collection."""
    indexed = index_collection(home, folder)
    test, names = indexed.queries("test"), (*LEGS, *FUSIONS, *GRAPH)
    runs = dict(zip(names, indexed.run(test, [named(name) for name in names]), strict=True))
    hybrid = best(FUSIONS, indexed.run(indexed.queries("train", TRAIN), [named(name) for name in FUSIONS]))
    against = {leg: comparisons.compare(runs[leg], runs[hybrid]) for leg in ("bm25", "dense")}
    blend, tau = fit(indexed, named(hybrid))
    read = reranked(indexed, named(hybrid), blend, tau)
    rows = tuple(Row(name, run, run.times) for name, run in {**runs, **parents(indexed, test)}.items())
    return CollectionFigures(indexed, rows, hybrid, against, read, tau, blend)


def best(names: Sequence[str], runs: Sequence[Run]) -> str:
    """The name of the run with the highest measure; the first of equals."""
    return max(zip(names, runs, strict=True), key=lambda pair: pair[1].figures[MEASURE])[0]


def parents(indexed: IndexedCollection, queries: QuerySet) -> dict[str, Run]:
    """Children searched, parents returned, beside whole chunks with the same static vectors."""
    runs = {}
    for label, shape in ((f"{PAIR}, static vectors", {}), (f"{PAIR}, static vectors, parents", {"chunker": CHILDREN})):
        profile = profiles.from_mapping({"name": "bench", "embedder": STATIC, "graph": "none", **shape})
        indexed.app.index.builder.build(profile)
        runs[label] = indexed.run(queries, [replace(named(PAIR), depth=CHILD_DEPTH, parents=bool(shape))], profile)[0]
    return runs


# ---------------------------------------------------------------- reranking


def always(base: SearchConfig, read: int, blend: float = 0.0) -> SearchConfig:
    """The configuration with the cross-encoder on top."""
    return replace(base, rerank="always", rerank_depth=read, rerank_blend=blend)


def fit(indexed: IndexedCollection, base: SearchConfig) -> tuple[float, float]:
    """The share of the fused score in the final order, and tau, from train queries alone."""
    queries, read = indexed.queries("train", CALIBRATE), READ.get(indexed.name, READ_ELSE)
    fused, *blended = indexed.run(queries, [base, *(always(base, read, share) for share in BLENDS)])
    after = max(blended, key=lambda run: run.figures[MEASURE])
    return after.config.rerank_blend, calibrated(observed(fused, after))


def calibrated(questions: Sequence[Observed]) -> float:
    """The smallest tau that keeps all of reranking's gain on train queries, else the highest."""
    points = calibration.tau_curve(questions)
    all_reranked = sum(question.reranked for question in questions) / len(questions)
    return next((point.tau for point in points if point.measure >= all_reranked), points[-1].tau)


def reranked(indexed: IndexedCollection, base: SearchConfig, blend: float, tau: float) -> tuple[Row, ...]:
    """The sample without, with, with blended and with conditional reranking."""
    queries, read = indexed.queries("test", SAMPLE), READ.get(indexed.name, READ_ELSE)
    alone, mixed = always(base, read), always(base, read, blend)
    fused, final, blended = indexed.run(queries, [base, alone, mixed])
    taus = sorted({*TAUS, tau})
    conditional = indexed.run(queries, [replace(mixed, rerank="conditional", tau=threshold) for threshold in taus])
    rows = [Row("hybrid", fused, fused.times), Row("cross-encoder", final, final.times)]
    rows.append(Row(f"blend {blend:g}", blended, spent(blended, final, 2.0)))
    rows += [
        Row(f"blend {blend:g}, tau {t:g}", run, spent(run, final, t)) for t, run in zip(taus, conditional, strict=True)
    ]
    return tuple(rows)


def spent(run: Run, read: Run, tau: float) -> Mapping[str, Mapping[str, float]]:
    """The times of a run whose pairs were cached, with the time that scoring them took the first time."""
    rows = []
    for query, answer in run.results.items():
        cost = read.results[query].ms["rerank"] if answer.confidence < tau else 0.0
        rows.append({**answer.ms, "rerank": cost})
    return times_of(rows)


def skipped(row: Row) -> float:
    """The share of queries that were not reranked."""
    run = row.run
    if run.config.rerank != "conditional":
        return float(run.config.rerank == "off")
    return sum(answer.confidence >= run.config.tau for answer in run.results.values()) / len(run.results)
