"""The compliance benchmark: fifteen configurations, five categories of known items, six measures."""

from __future__ import annotations

from dataclasses import replace

from core.evaluation.querysets.queryset import QuerySet, by_category
from core.evaluation.reports.report import Report, Text
from core.evaluation.runs.comparisons import leaderboard
from core.ports import Progress
from core.retrieval.presets import fifteen
from core.services.evaluation.experiments.workbench import DEPTH, Workbench, figures, standings
from core.services.evaluation.runs import RunPlan
from core.types import SearchConfig

TITLE = "The compliance benchmark"
ABOUT = "Fifteen ways to search the same index."
FLATTERY = (
    "Paraphrases of headings come from rules and synonyms where no language model is configured; the source of each "
    "judgment says which. Known items reward exact words, so they flatter BM25: judge questions of real people too."
)
COLUMNS = ("nDCG@10", "Recall@5", "Recall@10", "MRR@10", "P@5")


def configurations(depth: int = DEPTH) -> list[SearchConfig]:
    """The fifteen, all as deep as production looks."""
    return [replace(config, depth=depth) for config in fifteen().values()]


def run(bench: Workbench, progress: Progress) -> Report:
    """Run all fifteen and rank them."""
    profile = bench.runs.team_settings.production().profile
    runs = bench.evaluate([RunPlan(profile, config) for config in configurations()], progress)
    best = leaderboard(runs)
    lines = (
        f"Best: {best[0].run.name} with nDCG@10 {best[0].figure.mean:.3f} "
        f"({best[0].figure.low:.3f} to {best[0].figure.high:.3f}).",
        *(f"{one.run.name} against the best: {one.against_best.sentence}" for one in best if one.against_best and one.run.name in ("bm25", "dense")),
        *([FLATTERY] if _known_items(bench.queryset) else []),
    )  # fmt: skip
    parts = [Text("What it says", lines), *standings(runs, COLUMNS)]
    title = TITLE if _known_items(bench.queryset) else f"{TITLE} on {bench.queryset.name}"
    return bench.report("compliance", title, about(bench.queryset), runs, parts, figures(runs))


def about(queryset: QuerySet) -> str:
    """What was done, on which questions.

    >>> from core.evaluation.querysets.queryset import Judgment, Question
    >>> about(QuerySet("faq", (Question("1", "why", "sop"), Question("2", "how", "policy")), (Judgment("1", "a.md"),)))
    'Fifteen ways to search the same index, on the questions of faq in 2 categories.'
    """
    asked = "known-item questions" if _known_items(queryset) else f"the questions of {queryset.name}"
    count = len(by_category(queryset))
    return f"{ABOUT[:-1]}, on {asked} in {count} {'category' if count == 1 else 'categories'}."


def _known_items(queryset: QuerySet) -> bool:
    return all(one.source.startswith("known-item") for one in queryset.judgments)
