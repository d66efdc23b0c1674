"""BEIR collections to index and to score: `corpus.jsonl` becomes Markdown documents, queries and qrels are imported."""

from __future__ import annotations

import hashlib
import json
import random
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from core.curation.document.names import safe_id
from core.errors import BadInput, NotFound
from core.evaluation.querysets.import_querysets import Draft, read_beir


@dataclass(frozen=True, slots=True)
class Collection:
    """Queries, grades and the corpus of a BEIR folder."""

    name: str
    digest: str
    queries: Mapping[str, str]
    qrels: Mapping[str, Mapping[str, float]]
    records: Mapping[str, str]  # document id -> record id
    files: Mapping[str, bytes]  # path -> Markdown


def read(folder: Path, split: str = "test", limit: int = 0, sample: int = 0, seed: int = 42) -> Collection:
    """Read a BEIR folder; `limit` keeps the first so many judged queries, `sample` draws some by a seed. A bad line is
    an error, not a problem."""
    if min(limit, sample) < 0:
        raise BadInput(f"The limit must be a number from 0 up, got {min(limit, sample)}.")
    corpus = folder / "corpus.jsonl"
    if not corpus.is_file():
        raise NotFound(
            f"There is no {corpus.name} in {str(folder)!r}. A BEIR folder holds corpus.jsonl, queries.jsonl and qrels/."
        )
    texts, qrels = _queries(folder, split)
    queries = [query for query in qrels if query in texts][: limit or None]
    if 0 < sample < len(queries):
        queries = random.Random(seed).sample(sorted(queries), sample)
    records, files = {}, {}
    for row in _rows(corpus):
        doc = _doc_id(str(row["_id"]))
        records[doc] = str(row["_id"])
        files[f"{hashlib.sha256(doc.encode()).hexdigest()[:2]}/{doc}.md"] = _markdown(doc, row)
    return Collection(
        folder.name,
        hashlib.sha256(corpus.read_bytes()).hexdigest()[:16],
        {query: texts[query] for query in queries},
        {query: qrels[query] for query in queries},
        records,
        files,
    )


def _queries(folder: Path, split: str) -> tuple[dict[str, str], dict[str, dict[str, float]]]:
    """Texts of queries, and grades above 0 by query and record."""
    if not (folder / "qrels" / f"{split}.tsv").is_file():
        known = ", ".join(sorted(file.stem for file in (folder / "qrels").glob("*.tsv"))) or "none"
        raise NotFound(f"There is no qrels/{split}.tsv in {str(folder)!r}. Splits: {known}.")
    draft = Draft()
    read_beir(folder, draft, split)
    if draft.problems:
        problem = draft.problems[0]
        raise BadInput(f"{problem.file}, line {problem.line}: {problem.why}.")
    qrels: dict[str, dict[str, float]] = {}
    for judgment in draft.judgments:
        if judgment.grade > 0:
            qrels.setdefault(judgment.question, {})[judgment.path] = judgment.grade
    return {question.id: question.text for question in draft.questions.values()}, qrels


def _rows(path: Path) -> Iterator[Mapping[str, Any]]:
    """Records of the corpus, line by line: it may be larger than memory should hold twice."""
    try:
        with open(path, encoding="utf-8") as lines:
            for number, line in enumerate(lines, 1):
                if not line.strip():
                    continue
                row = json.loads(line)
                if not isinstance(row, dict) or "_id" not in row or "text" not in row:
                    raise BadInput(f"{path.name}, line {number}: a record needs _id and text.")
                yield row
    except ValueError as error:
        raise BadInput(f"{path.name} is not valid JSON lines: {error}.") from None


def _doc_id(record: str) -> str:
    """The record's id where it is a valid document id, else a digest of it."""
    try:
        return safe_id(record)
    except BadInput:
        return "x" + hashlib.sha256(record.encode()).hexdigest()[:20]


def _markdown(doc: str, row: Mapping[str, Any]) -> bytes:
    title = " ".join(str(row.get("title") or "").split())
    head = (
        f"---\nid: {json.dumps(doc)}\n"
        + (f"title: {json.dumps(title, ensure_ascii=False)}\n" if title else "")
        + "---\n"
    )
    body = str(row["text"]).replace("\0", "").strip() or title or doc
    return f"{head}\n{body}\n".encode("utf-8", "replace")
