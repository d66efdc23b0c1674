"""Query sets to the outside. JSONL and CSV keep everything; BEIR and TREC know documents only."""

from __future__ import annotations

import io
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from core.errors import BadInput
from core.evaluation.querysets import Judgment, QuerySet, of_question
from core.evaluation.reading import ARROW, COLUMNS
from core.spreadsheet import csv_text
from core.types import Document


def write(queryset: QuerySet, path: Path, form: str, documents: Sequence[Document] = ()) -> tuple[Path, ...]:
    """A query set as files; returns what was written."""
    if form not in WRITERS:
        raise BadInput(f"There is no format {form!r}. Formats: {', '.join(WRITERS)}.")
    files = WRITERS[form](queryset, documents)
    if "" not in files:
        path.mkdir(parents=True, exist_ok=True)
    made = []
    for name, text in files.items():
        target = path / name if name else path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text, encoding="utf-8")
        made.append(target)
    return tuple(made)


def packed(queryset: QuerySet, form: str, documents: Sequence[Document] = ()) -> tuple[str, bytes]:
    """A query set as one download: its name and content; formats of several files come as a zip."""
    import zipfile

    if form not in WRITERS:
        raise BadInput(f"There is no format {form!r}. Formats: {', '.join(WRITERS)}.")
    files = WRITERS[form](queryset, documents)
    if "" in files:
        return f"{queryset.name}.{form}", files[""].encode()
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in files.items():
            archive.writestr(zipfile.ZipInfo(f"{queryset.name}/{name}"), text)
    return f"{queryset.name}-{form}.zip", out.getvalue()


def _as_jsonl(queryset: QuerySet, documents: Sequence[Document]) -> dict[str, str]:
    judged = of_question(queryset.judgments)
    rows = [
        {
            "id": one.id,
            "text": one.text,
            "category": one.category,
            "judgments": [
                {
                    "path": j.path,
                    "heading": list(j.heading),
                    "quote": j.quote,
                    "grade": j.grade,
                    "source": j.source,
                    "judge": j.judge,
                }
                for j in judged.get(one.id, ())
            ],
        }
        for one in queryset.questions
    ]
    return {"": _jsonlines(rows)}


def _as_csv(queryset: QuerySet, documents: Sequence[Document]) -> dict[str, str]:
    rows: list[Sequence[object]] = [COLUMNS]
    judged = of_question(queryset.judgments)
    for question in queryset.questions:
        for j in judged.get(question.id, [Judgment(question.id, "")]):
            place = (j.path, ARROW.join(j.heading), j.quote, f"{j.grade:g}", j.source, j.judge) if j.path else [""] * 6
            rows.append((question.id, question.text, question.category, *place))
    return {"": csv_text(rows)}


def _as_beir(queryset: QuerySet, documents: Sequence[Document]) -> dict[str, str]:
    ids = {document.path: document.id for document in documents}
    corpus = [{"_id": one.id, "title": one.title, "text": one.text[one.body :].strip()} for one in documents]
    queries = [{"_id": one.id, "text": one.text, "metadata": {"category": one.category}} for one in queryset.questions]
    lines = [f"{question}\t{document}\t{grade}" for question, document, grade in _document_grades(queryset, ids)]
    return {
        "corpus.jsonl": _jsonlines(corpus),
        "queries.jsonl": _jsonlines(queries),
        "qrels/test.tsv": "\n".join(["query-id\tcorpus-id\tscore", *lines]) + "\n",
    }


def _as_trec(queryset: QuerySet, documents: Sequence[Document]) -> dict[str, str]:
    ids = {document.path: document.id for document in documents}
    lines = [f"{question} 0 {document} {grade}" for question, document, grade in _document_grades(queryset, ids)]
    return {
        "topics.tsv": "".join(f"{one.id}\t{one.text}\n" for one in queryset.questions),
        "qrels.txt": "".join(f"{line}\n" for line in lines),
    }


def _document_grades(queryset: QuerySet, ids: Mapping[str, str]) -> list[tuple[str, str, int]]:
    """The best grade of each document, in whole numbers: the formats know no others."""
    best: dict[tuple[str, str], float] = {}
    for one in queryset.judgments:
        key = (one.question, ids.get(one.path, one.path))
        best[key] = max(best.get(key, 0.0), one.grade)
    return [(question, document, -int(-grade // 1)) for (question, document), grade in best.items()]


def _jsonlines(rows: Iterable[Mapping[str, Any]]) -> str:
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)


WRITERS: Mapping[str, Callable[[QuerySet, Sequence[Document]], dict[str, str]]] = {
    "jsonl": _as_jsonl,
    "csv": _as_csv,
    "beir": _as_beir,
    "trec": _as_trec,
}
