"""Export of runs: CSV for spreadsheets, JSON, and TREC run files."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from core import strict
from core.evaluation.runs.run import Run
from core.evaluation.runs.trec_runs import write_run
from core.spreadsheet import csv_text


def _as_csv(run: Run) -> str:
    names = list(run.figures)
    rows: list[tuple[object, ...]] = [("id", "question", "category", *names, "first document", "ms", "dollars")]
    for result in run.results.values():
        values = [result.values.get(name, "") for name in names]
        question, first = result.question, next(iter(result.documents), "")
        ms = round(sum(result.ms.values()), 3)
        rows.append((question.id, question.text, question.category, *values, first, ms, result.cost))
    return csv_text(rows)


RUN_FORMATS: Mapping[str, Callable[[Run], str]] = {
    "trec-run": lambda run: write_run({question: result.documents for question, result in run.results.items()}, run.id),
    "json": lambda run: strict.canonical(run) + "\n",
    "csv": _as_csv,
}
