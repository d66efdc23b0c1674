"""What every report on runs has: the leaderboard with its charts, and the facts that make it reproducible."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from core.evaluation.generators import known_items
from core.evaluation.querysets.queryset import QuerySet, by_category
from core.evaluation.reports import charts
from core.evaluation.reports.report import Chart, Part, ReportTable
from core.evaluation.runs import comparisons
from core.evaluation.runs.run import Run
from core.llm.asking import dollars_of
from core.types import NOTHING

COLUMNS = ("nDCG@10", "Recall@5", "Recall@10", "MRR@10", "P@5")


def facts(queryset: QuerySet, runs: Sequence[Run], made: str) -> dict[str, str]:
    """What the runs were made from."""
    return {
        "query set": f"{queryset.name}, {len(queryset.questions)} questions ({queryset.about})",
        "query set digest": queryset.digest,
        "questions per category": ", ".join(f"{c} {len(q)}" for c, q in by_category(queryset).items()),
        "commit": runs[0].commit,
        "profiles": ", ".join(dict.fromkeys(run.profile for run in runs)),
        "depth": f"{', '.join(dict.fromkeys(str(run.config.depth) for run in runs))} candidates per leg",
        "models": ", ".join(dict.fromkeys(model for run in runs for model in run.models)) or "none",
        "runs": ", ".join(dict.fromkeys(run.id for run in runs)),
        **_paraphrases(queryset),
        "made": made,
    }


def _paraphrases(queryset: QuerySet) -> dict[str, str]:
    """Who reworded the headings of known items: a language model, or rules where its answers were of no use."""
    reworded = {question.id for question in queryset.questions if question.category == "heading_paraphrase"}
    written = {row.question for row in queryset.judgments if row.question in reworded and row.source == known_items.LLM}
    if not reworded:
        return {}
    return {"paraphrases": f"{len(written)} by a language model, {len(reworded) - len(written)} by rules"}


def leaderboard_parts(
    runs: Sequence[Run], columns: Sequence[str], measure: str = comparisons.MEASURE, names: Mapping[str, str] = NOTHING
) -> list[Part]:
    """The leaderboard as a table and a chart, and the heat map by category; `names` are labels by run."""
    order = comparisons.leaderboard(runs, measure)
    labels = [names.get(row.run.id, row.run.name) for row in order]
    columns = [column for column in columns if any(column in run.figures for run in runs)]
    paid = any(run.cost for run in runs)
    rows = tuple(
        (
            name,
            *(f"{row.run.figures[column]:.4f}" if column in row.run.figures else "-" for column in columns),
            f"{row.figure.low:.3f} to {row.figure.high:.3f}",
            f"{row.run.times['total']['p50']:.2f}",
            *([dollars_of(1000 * row.run.cost)] if paid else []),
            row.against.sentence if row.against else "the best",
        )
        for name, row in zip(labels, order, strict=True)
    )
    price = ["1,000 questions"] if paid else []
    heads = ("Configuration", *columns, f"95 % interval of {measure}", "p50 ms", *price, "Against the best")
    groups = [comparisons.grouped(row.run, measure=measure) for row in order]
    categories = list(groups[0])
    table = [[group.get(name, (0.0, 0))[0] for name in categories] for group in groups]
    by_category = tuple((name, *(f"{value:.3f}" for value in line)) for name, line in zip(labels, table, strict=True))
    return [
        ReportTable("Leaderboard", heads, rows, "Intervals and differences are paired bootstraps over the questions."),
        Chart("Leaderboard with intervals", charts.leaderboard(labels, [row.figure for row in order], measure)),
        ReportTable(f"{measure} by category", ("Configuration", *categories), by_category),
        Chart("By category", charts.heatmap(labels, categories, table, measure)),
    ]
