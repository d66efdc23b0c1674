"""Query sets from outside: BEIR, TREC, CSV, JSONL, frontmatter.

A bad line is reported with its number; the rest goes in. A document is named by its path or its id.
"""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from core import strict
from core.errors import BadInput, NotFound
from core.evaluation.querysets import Judgment, QuerySet, Question
from core.spreadsheet import unguarded
from core.types import Document

COLUMNS = ("id", "question", "category", "path", "heading", "quote", "grade", "source", "judge")
ARROW = " › "
MAX_BYTES = 64 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class Problem:
    """A line that could not be used."""

    file: str
    line: int
    why: str


@dataclass(slots=True)
class Draft:
    """A query set while it is read."""

    questions: dict[str, Question] = field(default_factory=dict)
    judgments: list[Judgment] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)

    def ask(self, ident: str, text: str, category: str = "") -> None:
        """Add a question; the same again adds nothing, another text under the same id is refused."""
        text = " ".join(text.split())
        if not ident or not text:
            raise BadInput("a question needs an id and a text")
        if self.questions.setdefault(ident, Question(ident, text, category)).text != text:
            raise BadInput(f"the id {ident!r} already names another question")

    def finish(self, name: str, about: str) -> tuple[QuerySet, tuple[Problem, ...]]:
        """The set; judgments without a question are problems, not silence."""
        lost = [one for one in self.judgments if one.question not in self.questions]
        for question in dict.fromkeys(one.question for one in lost):
            count = sum(one.question == question for one in lost)
            self.problems.append(Problem("judgments", 0, f"{count} of question {question!r}, which has no text"))
        kept = tuple(one for one in self.judgments if one.question in self.questions)
        return QuerySet(name, tuple(self.questions.values()), kept, about), tuple(self.problems)


def read(path: Path, form: str = "", name: str = "", split: str = "test") -> tuple[QuerySet, tuple[Problem, ...]]:
    """A query set from a file or folder, and the lines that were left out."""
    form = form or guess(path)
    if form not in READERS:
        raise BadInput(f"There is no format {form!r}. Formats: {', '.join(READERS)}.")
    if not path.exists():
        raise NotFound(f"There is no file or folder {path.name!r} in {str(path.parent)!r}.")
    draft = Draft()
    READERS[form](path, draft, split)
    if not draft.questions and not draft.problems:
        raise BadInput(f"{path.name} holds no questions in the format {form}.")
    return draft.finish(name or path.stem, f"imported from {path.name} ({form})")


def guess(path: Path) -> str:
    """The format of a file or folder, by how it looks.

    >>> guess(Path("asked.csv")), guess(Path("asked.jsonl"))
    ('csv', 'jsonl')
    """
    if path.is_dir():
        return "beir" if (path / "queries.jsonl").is_file() else "trec"
    return {".csv": "csv", ".jsonl": "jsonl", ".ndjson": "jsonl"}.get(path.suffix.lower(), "trec")


def _beir(folder: Path, draft: Draft, split: str) -> None:
    for line, raw in _lines(folder / "queries.jsonl"):
        with _Reporting(draft, "queries.jsonl", line):
            row = _object(raw)
            draft.ask(str(row["_id"]), str(row["text"]), str((row.get("metadata") or {}).get("category", "")))
    _qrels(folder / "qrels" / f"{split}.tsv", draft)


def _trec(path: Path, draft: Draft, split: str) -> None:
    """A folder with topics and qrels, or a file of topics beside which `qrels` files lie."""
    folder = path if path.is_dir() else path.parent
    topics = path if path.is_file() else _only(folder, ("topics*", "queries*.tsv", "*.topics"))
    _topics(topics, draft)
    for qrels in sorted({*folder.glob("qrels*"), *folder.glob("*.qrels")}):
        if qrels.is_file():
            _qrels(qrels, draft)


def _only(folder: Path, patterns: Sequence[str]) -> Path:
    for pattern in patterns:
        for found in sorted(folder.glob(pattern)):
            return found
    raise NotFound(f"There are no topics in {folder.name!r}. Call the file topics.txt.")


def _topics(path: Path, draft: Draft) -> None:
    """TREC topics between <top> and </top>, or one question per line after its number and a tab."""
    text = _text(path)
    if "<top>" not in text.lower():
        for line, raw in numbered(text):
            with _Reporting(draft, path.name, line):
                ident, tab, question = raw.partition("\t")
                if not tab:
                    raise BadInput("expected a number and a question with a tab between them")
                draft.ask(ident.strip(), question)
        return
    for match in re.finditer(r"<top>(.*?)</top>", text, re.IGNORECASE | re.DOTALL):
        with _Reporting(draft, path.name, text.count("\n", 0, match.start()) + 1):
            number = re.search(r"<num>\s*(?:Number:)?\s*([^\s<]+)", match[1], re.IGNORECASE)
            title = re.search(r"<title>\s*(?:Topic:)?\s*([^<]+)", match[1], re.IGNORECASE)
            if not number or not title:
                raise BadInput("a topic needs <num> and <title>")
            draft.ask(number[1], title[1])


def _qrels(path: Path, draft: Draft) -> None:
    """`question document grade` (BEIR) or `question 0 document grade` (TREC)."""
    for line, raw in _lines(path):
        fields = raw.split("\t") if "\t" in raw else raw.split()
        if line == 1 and not is_number(fields[-1]):
            continue  # BEIR's header
        with _Reporting(draft, path.name, line):
            if len(fields) not in (3, 4) or not is_number(fields[-1]):
                raise BadInput("expected question, document and grade")
            draft.judgments.append(Judgment(fields[0].strip(), fields[-2].strip(), grade=float(fields[-1])))


def _csv(path: Path, draft: Draft, split: str) -> None:
    rows = csv.reader(io.StringIO(_text(path)))
    heads = [head.strip().lower() for head in next(rows, [])]
    if "question" not in heads:
        raise BadInput(
            f"{path.name}: the first line must name the columns, at least question. Known: {', '.join(COLUMNS)}."
        )
    for cells in rows:
        with _Reporting(draft, path.name, rows.line_num):
            if not any(cells):
                continue
            if len(cells) != len(heads):
                raise BadInput(f"{len(cells)} cells where the first line has {len(heads)}")
            row = dict(zip(heads, map(unguarded, cells), strict=True))
            ident = row.get("id") or f"line-{rows.line_num}"
            draft.ask(ident, row["question"], row.get("category", ""))
            if row.get("path"):
                draft.judgments.append(_judgment(ident, {**row, "heading": _path(row.get("heading", ""))}))


def _jsonl(path: Path, draft: Draft, split: str) -> None:
    for line, raw in _lines(path):
        with _Reporting(draft, path.name, line):
            row = _object(raw)
            ident = str(row.get("id") or f"line-{line}")
            draft.ask(ident, str(row.get("text") or row.get("question") or ""), str(row.get("category") or ""))
            draft.judgments += [_judgment(ident, one) for one in row.get("judgments", ())]


def _judgment(question: str, row: Mapping[str, Any]) -> Judgment:
    grade = row.get("grade", 1.0)
    if not is_number(str(grade or 1)):
        raise BadInput(f"the grade {grade!r} is not a number")
    heading = row.get("heading") or ()
    if isinstance(heading, str) or not all(isinstance(step, str) for step in heading):
        raise BadInput("a heading is a list of titles")
    return Judgment(
        question,
        str(row["path"]),
        tuple(heading),
        str(row.get("quote") or ""),
        float(grade if grade not in ("", None) else 1.0),
        str(row.get("source") or "import"),
        str(row.get("judge") or ""),
    )


def _path(text: str) -> tuple[str, ...]:
    return tuple(step.strip() for step in text.split(ARROW.strip()) if step.strip())


READERS: Mapping[str, Callable[[Path, Draft, str], None]] = {"beir": _beir, "trec": _trec, "csv": _csv, "jsonl": _jsonl}


def from_frontmatter(documents: Iterable[Document], name: str = "frontmatter") -> QuerySet:
    """What authors say their documents answer, as a query set."""
    questions, judgments = [], []
    for document in sorted(documents, key=lambda one: one.path):
        for text in (" ".join(one.split()) for one in document.meta.answers):
            questions.append(Question(f"{document.id}-{strict.digest(text, 8)}", text, document.meta.doc_type))
            judgments.append(Judgment(questions[-1].id, document.path, source="frontmatter", judge=document.meta.owner))
    return QuerySet(name, tuple(questions), tuple(judgments), "`answers:` of every document, as its author wrote it")


class _Reporting:
    """Turns what is wrong with one line into a problem, and lets the next line go on."""

    def __init__(self, draft: Draft, file: str, line: int) -> None:
        self.draft, self.file, self.line = draft, file, line

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: Any, error: BaseException | None, trace: Any) -> bool:
        if isinstance(error, KeyError):
            error = BadInput(f"{error.args[0]} is missing")
        if not isinstance(error, (BadInput, TypeError, ValueError, AttributeError)):
            return False
        self.draft.problems.append(Problem(self.file, self.line, str(error)))
        return True


def _text(path: Path) -> str:
    if not path.is_file():
        raise NotFound(f"There is no {path.name} in {str(path.parent)!r}.")
    if path.stat().st_size > MAX_BYTES:
        raise BadInput(f"{path.name} is larger than {MAX_BYTES // 2**20} MiB.")
    return path.read_text(encoding="utf-8-sig", errors="replace")


def _lines(path: Path) -> Iterator[tuple[int, str]]:
    return numbered(_text(path))


def numbered(text: str) -> Iterator[tuple[int, str]]:
    """The lines of a text that hold something, with their numbers."""
    return ((n, line) for n, line in enumerate(text.split("\n"), 1) if line.strip())


def _object(raw: str) -> dict[str, Any]:
    try:
        row = json.loads(raw)
    except (ValueError, RecursionError):
        raise BadInput("this is not JSON") from None
    if not isinstance(row, dict):
        raise BadInput("expected a JSON object")
    return row


def is_number(text: str) -> bool:
    """Whether a cell holds a plain number."""
    return re.fullmatch(r"-?\d+(\.\d+)?", text.strip()) is not None
