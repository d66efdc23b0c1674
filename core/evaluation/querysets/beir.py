"""BEIR folders: `corpus.jsonl`, `queries.jsonl`, `qrels/<split>.tsv`. Records become Markdown documents."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from core.curation.diffs import lines
from core.curation.names import safe_id
from core.errors import BadInput, NotFound


@dataclass(frozen=True, slots=True)
class Collection:
    """Queries with judgments, and the records they are about."""

    name: str
    digest: str
    queries: Mapping[str, str]
    qrels: Mapping[str, Mapping[str, float]]
    records: Mapping[str, str]  # document id -> record id
    files: Mapping[str, bytes]  # path -> Markdown


def read(folder: Path, split: str = "test", limit: int = 0) -> Collection:
    """Read a BEIR folder; `limit` keeps the first so many judged queries."""
    if limit < 0:
        raise BadInput(f"The limit must be a number from 0 up, got {limit}.")
    corpus, qrels = folder / "corpus.jsonl", _qrels(folder, split)
    if not corpus.is_file():
        raise NotFound(
            f"There is no {corpus.name} in {str(folder)!r}. A BEIR folder holds corpus.jsonl, queries.jsonl and qrels/."
        )
    texts = {str(row["_id"]): str(row["text"]) for row in _rows(folder / "queries.jsonl")}
    kept = [query for query in qrels if query in texts][: limit or None]
    records, files = {}, {}
    for row in _rows(corpus):
        doc = _doc_id(str(row["_id"]))
        records[doc] = str(row["_id"])
        files[f"{hashlib.sha256(doc.encode()).hexdigest()[:2]}/{doc}.md"] = _markdown(doc, row)
    digest = hashlib.sha256(corpus.read_bytes()).hexdigest()[:16]
    return Collection(
        folder.name,
        digest,
        {query: texts[query] for query in kept},
        {query: qrels[query] for query in kept},
        records,
        files,
    )


def _rows(path: Path) -> Iterator[Mapping[str, Any]]:
    try:
        with open(path, encoding="utf-8") as lines:
            for number, line in enumerate(lines, 1):
                if not line.strip():
                    continue
                row = json.loads(line)
                if not isinstance(row, dict) or "_id" not in row or "text" not in row:
                    raise BadInput(f"{path.name}, line {number}: a record needs _id and text.")
                yield row
    except FileNotFoundError:
        raise NotFound(f"There is no {path.name} in {str(path.parent)!r}.") from None
    except ValueError as error:
        raise BadInput(f"{path.name} is not valid JSON lines: {error}.") from None


def _qrels(folder: Path, split: str) -> dict[str, dict[str, float]]:
    path = folder / "qrels" / f"{split}.tsv"
    if not path.is_file():
        known = ", ".join(sorted(file.stem for file in (folder / "qrels").glob("*.tsv"))) or "none"
        raise NotFound(f"There is no qrels/{split}.tsv in {str(folder)!r}. Splits: {known}.")
    judged: dict[str, dict[str, float]] = {}
    for number, line in enumerate(lines(path.read_text(encoding="utf-8")), 1):
        fields = line.split("\t")
        if number == 1 and not fields[-1].lstrip("-").isdigit():
            continue
        if len(fields) != 3 or not fields[2].lstrip("-").isdigit():
            raise BadInput(f"qrels/{split}.tsv, line {number}: expected query, document and score between tabs.")
        if int(fields[2]) > 0:
            judged.setdefault(fields[0], {})[fields[1]] = float(fields[2])
    return judged


def _doc_id(record: str) -> str:
    """The record's id where it is one of ours, else one derived from it."""
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
