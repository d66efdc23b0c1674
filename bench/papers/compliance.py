"""The compliance benchmark: fifteen configurations, five categories of known items, five measures and the time.

The benchmark names five fusions, fifteen configurations and 1,706 questions, and lists none of the fifteen: these are
ours.
"""

from __future__ import annotations

from dataclasses import replace

from bench.papers.context import DEPTH, PaperContext, figures
from core.evaluation.querysets.queryset import QuerySet, by_category
from core.evaluation.reports.report import Report, Text
from core.evaluation.reports.run_report import leaderboard_parts
from core.evaluation.runs.comparisons import leaderboard
from core.ports import Progress
from core.retrieval.presets import fifteen
from core.services.evaluation.runs import RunPlan
from core.types import SearchConfig

TITLE = "The compliance benchmark"
ABOUT = "Fifteen ways to search the same index."
FLATTERY = (
    "Paraphrases of headings come from rules and synonyms where no language model is configured; the source of each "
    "judgment says which. Known items reward exact words, so they flatter BM25: judge questions of real people too."
)
OURS = (
    "The benchmark compares fifteen configurations of BM25, vectors and five fusions and does not list them; these"
    " fifteen are Concord's choice."
)
COLUMNS = ("nDCG@10", "Recall@5", "Recall@10", "MRR@10", "P@5")


def configurations(depth: int = DEPTH) -> list[SearchConfig]:
    """The fifteen, all as deep as production looks."""
    return [replace(config, depth=depth) for config in fifteen().values()]


def run(context: PaperContext, progress: Progress) -> Report:
    """Run all fifteen and rank them."""
    profile = context.runs.team_settings.production().profile
    runs = context.evaluate([RunPlan(profile, config) for config in configurations()], progress)
    rows = leaderboard(runs)
    lines = (
        (
            f"Best: {rows[0].run.name} with nDCG@10 {rows[0].figure.mean:.3f} "
            f"({rows[0].figure.low:.3f} to {rows[0].figure.high:.3f})."
        ),
        *(
            f"{row.run.name} against the best: {row.against.sentence}"
            for row in rows
            if row.against and row.run.name in ("bm25", "dense")
        ),
        *_asked_for(context),
        OURS,
        *([FLATTERY] if _known_items(context.queryset) else []),
    )
    parts = [Text("What it says", lines), *leaderboard_parts(runs, COLUMNS)]
    title = TITLE if _known_items(context.queryset) else f"{TITLE} on {context.queryset.name}"
    return context.report("compliance", title, about(context.queryset), runs, parts, figures(runs))


def _asked_for(context: PaperContext) -> list[str]:
    """Where the documents give fewer questions than were asked for."""
    asked, made = context.options.questions, len(context.queryset.questions)
    if not asked or made >= asked:
        return []
    return [f"{asked:,} questions were asked for; the documents give {made:,}, since each place is asked about once."]


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
    return all(judgment.source.startswith("known-item") for judgment in queryset.judgments)
