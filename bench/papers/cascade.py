"""The cascade study: one stage after the other, what each adds, what it costs, and which questions it makes worse."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from bench.papers.context import PaperContext, figures
from core.evaluation.measures import rank_distance
from core.evaluation.measures.by_name import STANDARD, mean
from core.evaluation.reports import charts
from core.evaluation.reports.report import Chart, Report, ReportTable, Text
from core.evaluation.reports.run_report import leaderboard_parts
from core.evaluation.runs.comparisons import compare
from core.evaluation.runs.run import Run
from core.ports import Progress
from core.retrieval import config as configs
from core.retrieval.legs import LEGS
from core.services.evaluation.runs import RunPlan
from core.types import SearchConfig

TITLE = "The cascade study"
ABOUT = "Words, meaning and PageRank, then the cross-encoder, then a language model: what each stage adds and costs."
COLUMNS = ("nDCG@10", "Recall@10", "MRR@10", "MAP@10", "P@10", "T1EM")
MEASURE = "nDCG@10"
SHALLOW = (1, 5, 10)  # depths of the study's tables
DEPTH = 100  # candidates per leg, and what the cross-encoder reads of the fused list

TWO, THREE = ["sparse", "dense"], ["sparse", "dense", "pagerank"]
ALONE = "dense"
BI = "bi-modal"
TRI = "tri-modal"
READ = "tri-modal + cross-encoder"
FULL = "full pipeline"
STATIC, DYNAMIC = "tri-modal, static weights", "tri-modal, weights by the model"

ROWS: Mapping[str, Mapping[str, Any]] = {  # table II of the study, then table III
    ALONE: {"base": "dense"},
    BI: {"base": "rrf-60", "legs": TWO},
    TRI: {"base": "rrf-60", "legs": THREE},
    READ: {"base": "rrf-60+rerank", "legs": THREE, "rerank_depth": DEPTH},
    FULL: {"base": "rrf-60+cascade", "legs": THREE, "rerank_prompt": "reasoned", "rerank_orders": 1},
    STATIC: {"base": "trimodal"},
    DYNAMIC: {"base": "trimodal", "alpha_from": "llm"},
}
STEPS = ((ALONE, BI), (BI, TRI), (TRI, READ), (READ, FULL), (STATIC, DYNAMIC))  # pairs that differ in one stage only
RERANKED = {"cross-encoder": (TRI, READ), "language model": (READ, FULL)}


class StageStep(NamedTuple):
    """Two rows of which the second has one stage more, or another one."""

    before: str
    after: str
    old: Run
    new: Run


def run(context: PaperContext, progress: Progress) -> Report:
    """Run the rows; those that need a language model are skipped, and named, where none is configured."""
    profile = context.runs.team_settings.production().profile
    rows, skipped = context.answerable(stages())
    runs = dict(
        zip(rows, context.evaluate([RunPlan(profile, config) for config in rows.values()], progress), strict=True)
    )
    steps = [StageStep(a, b, runs[a], runs[b]) for a, b in STEPS if a in runs and b in runs]
    moved = {name: StageStep(*pair, *(runs[row] for row in pair)) for name, pair in RERANKED.items() if pair[1] in runs}
    names = {run.id: name for name, run in runs.items()}
    parts = [
        Text("What it says", (*(_says(step) for step in steps), *skipped, *_warned(runs))),
        _ablation(runs),
        *leaderboard_parts(list(runs.values()), COLUMNS, MEASURE, names),
        Chart(
            "Stage by stage",
            charts.bars(list(runs), {MEASURE: [run.figures[MEASURE] for run in runs.values()]}, MEASURE),
        ),
        *(_at_depth(runs, k) for k in SHALLOW),
        ReportTable(
            "What each stage moved",
            ("Stage", "swaps in the top 10", "another first document", "queries"),
            tuple(_swaps(*item) for item in moved.items()),
            "Swaps are places among the first ten that hold another document than before.",
        ),
        ReportTable(
            "Queries that a stage made worse",
            ("Stage", "degraded", "with digits", "words: degraded", "words: all", "made better"),
            tuple(_degradation(*item) for item in moved.items()),
        ),
        *(
            ReportTable(f"Most degraded by the {name}", ("Query", MEASURE, "words", "digits"), _worst(step))
            for name, step in moved.items()
        ),
        ReportTable(
            "Latency per stage, mean ms of a query",
            ("Configuration", *LATENCIES, "total"),
            tuple(_latency(*item) for item in runs.items()),
            "The cross-encoder is timed alone; calls of a language model are made several at a time.",
        ),
        Chart(
            "Where the time goes",
            charts.bars(
                list(runs),
                {stage: [_spent(run)[stage] for run in runs.values()] for stage in LATENCIES},
                "mean ms",
                stacked=True,
            ),
        ),
    ]
    return context.report("cascade", TITLE, ABOUT, list(runs.values()), parts, _values(runs, moved, skipped))


def stages() -> dict[str, SearchConfig]:
    """The rows of the study, each as deep as it looks."""
    configured = {name: configs.parse(json.dumps(raw)) for name, raw in ROWS.items()}
    return {name: replace(config, depth=DEPTH) for name, config in configured.items()}


def _values(runs: Mapping[str, Run], moved: Mapping[str, StageStep], skipped: Sequence[str]) -> dict[str, Any]:
    return {
        **figures(list(runs.values())),
        "stages": list(runs),
        "skipped": list(skipped),
        "moved": {name: _swaps(name, step)[1:3] for name, step in moved.items()},
        "degraded": {name: _degradation(name, step)[1:] for name, step in moved.items()},
        "latency": {name: _spent(run) for name, run in runs.items()},
    }


def _says(step: StageStep) -> str:
    return f"{step.after} after {step.before}: {compare(step.old, step.new, MEASURE).overall.sentence}"


def _warned(runs: Mapping[str, Run]) -> list[str]:
    """Rows in which a model did not do its part, with the first reason."""
    return [
        f"{name}: {len(run.warnings)} kinds of warnings, the first: {run.warnings[0]}"
        for name, run in runs.items()
        if run.warnings
    ]


# ---------------------------------------------------------------- quality


def _ablation(runs: Mapping[str, Run]) -> ReportTable:
    """Table II: which stages a row has, and how well it ranks."""
    heads = ("Configuration", "dense", "sparse", "graph", "cross-encoder", "language model", MEASURE)
    rows = tuple((name, *_parts(run.config), f"{run.figures[MEASURE]:.4f}") for name, run in runs.items())
    return ReportTable("Ablation", heads, rows)


def _parts(config: SearchConfig) -> tuple[str, ...]:
    sides = {LEGS[leg].side for leg in config.legs}
    reads = config.rerank != "off"
    orders = "weighs" if config.alpha_from == "llm" else "-"
    if reads and config.reranker == "cascade":
        orders = "orders"
    return (
        *("yes" if side in sides else "-" for side in ("dense", "sparse", "graph")),
        "yes" if reads else "-",
        orders,
    )


def _at_depth(runs: Mapping[str, Run], k: int) -> ReportTable:
    """The five measures at one depth."""
    heads = ("Configuration", *(f"{name}@{k}" for name in STANDARD))
    rows = tuple((name, *(f"{run.figures[measure]:.4f}" for measure in heads[1:])) for name, run in runs.items())
    return ReportTable(f"The five measures at {k}", heads, rows)


# ---------------------------------------------------------------- what a reranking stage changed


def _swaps(name: str, step: StageStep) -> tuple[str, ...]:
    """Table IV: how much a stage reordered."""
    moved = rank_distance.swap_rate(_rankings(step.old), _rankings(step.new))
    return name, f"{moved.swaps:.2f}", f"{moved.top_changed:.0%}", str(moved.queries)


def _rankings(run: Run) -> dict[str, Sequence[str]]:
    return {question: answer.documents for question, answer in run.results.items()}


def _fallen(step: StageStep) -> list[rank_distance.Degraded]:
    before, after = ({q: row.values[MEASURE] for q, row in run.results.items()} for run in (step.old, step.new))
    return rank_distance.degraded(before, after, {q: row.question.text for q, row in step.new.results.items()})


def _degradation(name: str, step: StageStep) -> tuple[str, ...]:
    """Table V: how many queries a stage made worse, and what they look like."""
    fallen, every = _fallen(step), [answer.question.text for answer in step.new.results.values()]
    digits = sum(row.digits for row in fallen)
    share = f"{digits} / {len(fallen)}" + (f" ({digits / len(fallen):.0%})" if fallen else "")
    own, all_words = mean([row.words for row in fallen]), mean([rank_distance.length(text) for text in every])
    better = compare(step.old, step.new, MEASURE).overall.wins
    return (
        name,
        f"{len(fallen)} / {len(every)}",
        share,
        f"{own:.1f}" if fallen else "-",
        f"{all_words:.1f}",
        str(better),
    )


def _worst(step: StageStep, most: int = 10) -> tuple[tuple[str, ...], ...]:
    """Table VI: the queries that lost most."""
    return tuple(
        (row.text, f"{row.difference:+.4f}", str(row.words), "yes" if row.digits else "no")
        for row in _fallen(step)[:most]
    )


# ---------------------------------------------------------------- time


LATENCIES = ("weights", "retrieval", "cross-encoder", "language model")


def _spent(run: Run) -> dict[str, float]:
    """Table VII: mean milliseconds of a query by stage."""
    spent = dict.fromkeys(LATENCIES, 0.0)
    for answer in run.results.values():
        for stage, ms in answer.ms.items():
            spent[_latency_of(stage, run.config)] += ms / len(run.results)
    return {stage: round(ms, 3) for stage, ms in spent.items()}


def _latency_of(stage: str, config: SearchConfig) -> str:
    """Which of the study's stages a stage of the pipeline belongs to."""
    if stage == "rerank":
        return "cross-encoder" if config.reranker == "cross-encoder" else "language model"
    return {"alpha": "weights", "cross-encoder": "cross-encoder"}.get(stage, "retrieval")


def _latency(name: str, run: Run) -> tuple[str, ...]:
    spent = _spent(run)
    return (name, *(f"{ms:.1f}" if ms else "-" for ms in spent.values()), f"{sum(spent.values()):.1f}")
