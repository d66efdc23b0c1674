"""Two-hop questions: how often both supporting documents stand among the first five and ten, for each method."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from bench.collections import index_collection
from bench.methods import FUSIONS, GRAPH, LEGS, Row, always, named, spent
from core.evaluation.runs.comparisons import RunComparison, compare
from core.evaluation.runs.run import Run

PAIRS = (
    ("dense + graph", '{"legs": ["dense", "graph"], "weights": {"dense": 0.7, "graph": 0.3}}'),
    (
        "bm25 + dense + pagerank",
        (
            '{"base": "trimodal-graph", "legs": ["bm25", "dense", "pagerank"], "weights": {"bm25": 0.35, "dense": 0.5,'
            ' "pagerank": 0.15}}'
        ),
    ),
)
READ, SAMPLE, BLEND = 10, 100, 0.5  # the cross-encoder: chunks read, questions, and a blend that was not fitted
HYBRID = "convex-0.5"


@dataclass(frozen=True)
class Hops:
    """All methods on all questions, the reranked ones on a sample, and the tri-modal search against the bi-modal."""

    rows: tuple[Row, ...]
    read: tuple[Row, ...]
    graph: RunComparison


def measure(home: Path, folder: Path) -> Hops:
    indexed = index_collection(home, folder)
    names = [(name, name) for name in (*LEGS, *FUSIONS, *GRAPH)] + list(PAIRS)
    runs = indexed.run(indexed.queries("test"), [named(text) for _, text in names])
    run_of = {label: run for (label, _), run in zip(names, runs, strict=True)}
    sample, base = indexed.queries("test", SAMPLE), named(HYBRID)
    configs = [base, *(always(base, READ, blend) for blend in (0.0, BLEND))]
    fused, final, blended = indexed.run(sample, configs)
    read = (Row(HYBRID, fused, fused.times), Row("cross-encoder", final, final.times))
    mixed = Row(f"blend {BLEND:g}", blended, spent(blended, final, 2.0))
    rows = tuple(Row(label, run, run.times) for label, run in run_of.items())
    return Hops(rows, (*read, mixed), compare(run_of[HYBRID], run_of["trimodal-graph"], "Recall@10"))


def both(run: Run, k: int) -> float:
    """The share of questions with every supporting document among the first k."""
    return sum(answer.values[f"Recall@{k}"] == 1.0 for answer in run.results.values()) / len(run.results)


def cells(row: Row) -> list[str]:
    """A line of the table."""
    run = row.run
    figures = (both(run, 5), both(run, 10), run.figures["Recall@5"], run.figures["Recall@10"])
    return [row.label, *(f"{figure:.3f}" for figure in figures), f"{row.times['total']['p50']:.1f}"]
