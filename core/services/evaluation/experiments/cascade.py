"""Cascade ablation: one stage after the other, what each adds, what it costs, and which questions it makes worse."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any

from core.evaluation.measures import rerank_effect
from core.evaluation.reports import charts
from core.evaluation.reports.report import Chart, Report, ReportTable, Text
from core.evaluation.runs.comparisons import compare
from core.evaluation.runs.run import Run
from core.ports import Progress
from core.retrieval import config as configs
from core.retrieval.alpha import ALPHAS
from core.retrieval.rerankers import RERANKERS
from core.services.evaluation.experiments.context import DEPTH, ExperimentContext, figures, leaderboard_parts
from core.services.evaluation.runs import RunPlan
from core.types import SearchConfig

TITLE = "Cascade ablation"
ABOUT = "Dense search alone, then one stage more at a time."
COLUMNS = ("nDCG@10", "Recall@5", "MRR@10", "P@1", "T1EM")
MEASURE = "nDCG@10"

STAGES: Mapping[str, Mapping[str, Any]] = {
    "dense": {"base": "dense"},
    "bi-modal, RRF": {"base": "rrf-60"},
    "bi-modal, convex": {"base": "convex-0.5"},
    "bi-modal, weights by rule": {"base": "convex-0.5", "alpha_from": "rules"},
    "bi-modal, weights by LLM": {"base": "convex-0.5", "alpha_from": "llm"},
    "tri-modal, static weights": {"base": "rrf-60", "legs": ["bm25", "dense", "graph"]},
    "tri-modal, dynamic weights": {"base": "rrf-60", "legs": ["bm25", "dense", "graph"], "alpha_from": "llm"},
    "bi-modal + cross-encoder": {"base": "convex-0.5+rerank"},
    "bi-modal + cross-encoder + LLM": {"base": "convex-0.5+cascade"},
}


def run(context: ExperimentContext, progress: Progress) -> Report:
    """Run the stages; those that need a language model are skipped, and named, where none is configured."""
    profile = context.runs.team_settings.production().profile
    plans, names, skipped = [], [], []
    for name, config in stages().items():
        if _asks_llm(config) and context.llm() is None:
            skipped.append(f"{name} was left out: No language model is configured.")
            continue
        plans.append(RunPlan(profile, config))
        names.append(name)
    runs = context.evaluate(plans, progress)
    pairs = list(pairwise(zip(names, runs, strict=True)))
    timed = list(dict.fromkeys(stage for run in runs for stage in run.times if stage != "total"))
    spent = {stage: [run.times.get(stage, {}).get("p50", 0.0) for run in runs] for stage in timed}
    parts = [
        Text("What it says", (*(_says(before, after) for before, after in pairs), *skipped)),
        *leaderboard_parts(runs, COLUMNS, MEASURE, {run.id: name for name, run in zip(names, runs, strict=True)}),
        Chart("Stage by stage", charts.bars(names, {m: [run.figures.get(m, 0.0) for run in runs] for m in COLUMNS if m in runs[0].figures}, "measure")),
        Chart("Where the time goes", charts.bars(names, spent, "p50, ms", stacked=True)),
        ReportTable("Latency per stage, p50 ms", ("Configuration", *timed, "total"), tuple(_times(n, r, timed) for n, r in zip(names, runs, strict=True))),
        ReportTable("What each step moved", ("From", "To", "swaps in the top 10", "another first document", "made worse", "made better"), tuple(_moved(a, b) for a, b in pairs)),
        ReportTable("Questions that the last step made worse", ("Question", "nDCG@10 lost", "words", "digits"), _degraded(runs[-2:])),
    ]  # fmt: skip
    return context.report("cascade", TITLE, ABOUT, runs, parts, {**figures(runs), "stages": names, "skipped": skipped})


def stages() -> dict[str, SearchConfig]:
    """The stages, each at least as deep as production looks."""
    configured = {name: configs.parse(json.dumps(raw)) for name, raw in STAGES.items()}
    return {name: replace(config, depth=max(DEPTH, config.depth)) for name, config in configured.items()}


def _asks_llm(config: SearchConfig) -> bool:
    reranker = RERANKERS[config.reranker].asks if config.rerank != "off" else ()
    return "llm" in (*reranker, *ALPHAS[config.alpha_from].asks)


def _says(before: tuple[str, Run], after: tuple[str, Run]) -> str:
    return f"{after[0]} after {before[0]}: {compare(before[1], after[1], MEASURE).overall.sentence}"


def _times(name: str, run: Run, stages: Sequence[str]) -> tuple[str, ...]:
    spent = [run.times.get(stage, {}).get("p50") for stage in (*stages, "total")]
    return (name, *("" if value is None else f"{value:.2f}" for value in spent))


def _moved(before: tuple[str, Run], after: tuple[str, Run]) -> tuple[str, ...]:
    swaps = rerank_effect.swap_rate(_rankings(before[1]), _rankings(after[1]))
    compared = compare(before[1], after[1], MEASURE).overall
    return (
        before[0],
        after[0],
        f"{swaps.swaps:.2f}",
        f"{swaps.top_changed:.1%}",
        str(compared.losses),
        str(compared.wins),
    )


def _rankings(run: Run) -> dict[str, Sequence[str]]:
    return {question: answer.documents for question, answer in run.results.items()}


def _degraded(runs: Sequence[Run]) -> tuple[tuple[str, ...], ...]:
    if len(runs) < 2:
        return ()
    before, after = ({q: row.values[MEASURE] for q, row in run.results.items()} for run in runs)
    texts = {question: row.question.text for question, row in runs[1].results.items()}
    return tuple(
        (row.text, f"{row.difference:+.3f}", str(row.words), "yes" if row.digits else "no")
        for row in rerank_effect.degraded(before, after, texts)[:25]
    )
