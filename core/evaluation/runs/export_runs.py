"""Export of runs: CSV for spreadsheets, JSON, and TREC run files."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from core import strict
from core.evaluation.runs.run import Run
from core.spreadsheet import csv_text


def write_run(rankings: Mapping[str, Sequence[str]], tag: str) -> str:
    """Rankings in the form that trec_eval reads: `question Q0 document rank score tag`.

    >>> write_run({"1": ["a", "b"]}, "bm25")
    '1 Q0 a 1 2 bm25\\n1 Q0 b 2 1 bm25\\n'
    """
    return "".join(
        f"{question} Q0 {document} {rank} {len(documents) - rank + 1} {tag}\n"
        for question, documents in rankings.items()
        for rank, document in enumerate(documents, 1)
    )


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
