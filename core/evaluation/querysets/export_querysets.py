"""Export of query sets. JSONL and CSV keep everything; BEIR and TREC know documents only."""

from __future__ import annotations

import io
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from core.errors import one_of
from core.evaluation.querysets.import_querysets import ARROW, COLUMNS
from core.evaluation.querysets.queryset import Judgment, QuerySet, by_question
from core.spreadsheet import csv_text
from core.types import Document


def write(queryset: QuerySet, path: Path, form: str, documents: Sequence[Document] = ()) -> tuple[Path, ...]:
    """Write a query set to a file or folder; returns the files."""
    files = _files(queryset, form, documents)
    if "" not in files:
        path.mkdir(parents=True, exist_ok=True)
    written = []
    for name, text in files.items():
        target = path / name if name else path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text, encoding="utf-8")
        written.append(target)
    return tuple(written)


def packed(queryset: QuerySet, form: str, documents: Sequence[Document] = ()) -> tuple[str, bytes]:
    """A query set as one download: file name and content. Formats of several files become a zip."""
    import zipfile

    files = _files(queryset, form, documents)
    if "" in files:
        return f"{queryset.name}.{form}", files[""].encode()
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in files.items():
            archive.writestr(zipfile.ZipInfo(f"{queryset.name}/{name}"), text)
    return f"{queryset.name}-{form}.zip", out.getvalue()


def _files(queryset: QuerySet, form: str, documents: Sequence[Document]) -> dict[str, str]:
    """Text by file name; the name is "" where the format is a single file."""
    one_of(form, WRITERS, "format")
    return WRITERS[form](queryset, documents)


def _as_jsonl(queryset: QuerySet, documents: Sequence[Document]) -> dict[str, str]:
    judged = by_question(queryset.judgments)
    rows = [
        {
            "id": question.id,
            "text": question.text,
            "category": question.category,
            "judgments": [
                {
                    "path": judgment.path,
                    "heading": list(judgment.heading),
                    "quote": judgment.quote,
                    "grade": judgment.grade,
                    "source": judgment.source,
                    "judge": judgment.judge,
                    "note": judgment.note,
                }
                for judgment in judged.get(question.id, ())
            ],
        }
        for question in queryset.questions
    ]
    return {"": _jsonlines(rows)}


def _as_csv(queryset: QuerySet, documents: Sequence[Document]) -> dict[str, str]:
    rows: list[Sequence[object]] = [COLUMNS]
    judged = by_question(queryset.judgments)
    for question in queryset.questions:
        for judgment in judged.get(question.id, [Judgment(question.id, "")]):
            rows.append((question.id, question.text, question.category, *_judgment_cells(judgment)))
    return {"": csv_text(rows)}


def _judgment_cells(judgment: Judgment) -> tuple[str, ...]:
    if not judgment.path:
        return ("",) * 7
    heading, grade = ARROW.join(judgment.heading), f"{judgment.grade:g}"
    return judgment.path, heading, judgment.quote, grade, judgment.source, judgment.judge, judgment.note


def _as_beir(queryset: QuerySet, documents: Sequence[Document]) -> dict[str, str]:
    ids = {document.path: document.id for document in documents}
    corpus = [
        {"_id": document.id, "title": document.title, "text": document.text[document.body :].strip()}
        for document in documents
    ]
    queries = [
        {"_id": question.id, "text": question.text, "metadata": {"category": question.category}}
        for question in queryset.questions
    ]
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
        "topics.tsv": "".join(f"{question.id}\t{question.text}\n" for question in queryset.questions),
        "qrels.txt": "".join(f"{line}\n" for line in lines),
    }


def _document_grades(queryset: QuerySet, ids: Mapping[str, str]) -> list[tuple[str, str, int]]:
    """The highest grade of each document, rounded up: the formats hold whole numbers only."""
    best: dict[tuple[str, str], float] = {}
    for judgment in queryset.judgments:
        key = (judgment.question, ids.get(judgment.path, judgment.path))
        best[key] = max(best.get(key, 0.0), judgment.grade)
    return [(question, document, -int(-grade // 1)) for (question, document), grade in best.items()]


def _jsonlines(rows: Iterable[Mapping[str, Any]]) -> str:
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)


WRITERS: Mapping[str, Callable[[QuerySet, Sequence[Document]], dict[str, str]]] = {
    "jsonl": _as_jsonl,
    "csv": _as_csv,
    "beir": _as_beir,
    "trec": _as_trec,
}
