"""Runs to the outside: a table for a spreadsheet, JSON for programs, a TREC run for other tools."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Mapping

from core import strict
from core.evaluation.runs.run import Run
from core.evaluation.runs.trec_runs import write_run


def _as_csv(run: Run) -> str:
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    names = list(run.figures)
    writer.writerow(("id", "question", "category", *names, "first document", "ms", "dollars"))
    for one in run.results.values():
        values = [one.values.get(name, "") for name in names]
        question = one.question
        spent = round(sum(one.ms.values()), 3)
        first = next(iter(one.documents), "")
        writer.writerow((question.id, question.text, question.category, *values, first, spent, one.cost))
    return out.getvalue()


RUN_FORMATS: Mapping[str, Callable[[Run], str]] = {
    "trec-run": lambda run: write_run({q: one.documents for q, one in run.results.items()}, run.id),
    "json": lambda run: strict.canonical(run) + "\n",
    "csv": _as_csv,
}
