"""Import of query sets: BEIR, TREC, CSV, JSONL, frontmatter. A document is named by its path or its id.

A bad line becomes a problem with its number, the rest goes in.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from core import strict
from core.errors import BadInput, NotFound, one_of
from core.evaluation.querysets.queryset import GRADES, Judgment, QuerySet, Question
from core.spreadsheet import csv_records, unguarded
from core.types import Document

MAX_BYTES = 64 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class Problem:
    """A line that could not be used."""

    file: str
    line: int
    why: str


@dataclass(slots=True)
class Draft:
    """Questions, judgments and problems so far."""

    questions: dict[str, Question] = field(default_factory=dict)
    judgments: list[Judgment] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)
    tried: dict[str, tuple[str, int]] = field(default_factory=dict)  # where a question was judged, well or not
    _ids: dict[str, str] = field(default_factory=dict)  # text to id
    _at: tuple[str, int] = ("", 0)

    def add_question(self, ident: str, text: str, category: str = "") -> None:
        """Add a question; the same one twice is fine, another text under the same id is refused."""
        text = " ".join(text.split())
        if not ident or not text:
            raise BadInput("a question needs an id and a text")
        if self.questions.setdefault(ident, Question(ident, text, category)).text != text:
            raise BadInput(f"the id {ident!r} already names another question")
        self._ids.setdefault(text, ident)

    def ident(self, given: object, text: str) -> str:
        """The id of a question: the given one, or that of a line with the same text, or one after its line."""
        return str(given or "") or self._ids.get(" ".join(text.split()), f"line-{self._at[1]}")

    @contextmanager
    def line(self, file: str, number: int) -> Iterator[None]:
        """Turn an error in one line into a problem and go on."""
        self._at = (file, number)
        try:
            yield
        except KeyError as error:
            self.problems.append(Problem(file, number, f"{error.args[0]} is missing"))
        except (BadInput, TypeError, ValueError, AttributeError) as error:
            self.problems.append(Problem(file, number, str(error)))

    def try_judging(self, ident: str) -> None:
        """Remember that this line judges a question, so that one whose every judgment is refused can be named."""
        self.tried[ident] = self._at

    def _name_unjudged(self) -> None:
        """A problem that leaves a question without any judgment says so."""
        judged = {judgment.question for judgment in self.judgments}
        alone = {at: ident for ident, at in self.tried.items() if ident in self.questions and ident not in judged}
        for n, problem in enumerate(self.problems):
            if ident := alone.get((problem.file, problem.line)):
                left = f"the question {self.questions[ident].text!r} stays without a judgment"
                self.problems[n] = replace(problem, why=f"{problem.why}; {left}")

    def finish(self, name: str, about: str) -> tuple[QuerySet, tuple[Problem, ...]]:
        """The set and its problems; judgments without a question are problems too."""
        self._name_unjudged()
        orphans = [judgment for judgment in self.judgments if judgment.question not in self.questions]
        for question in dict.fromkeys(judgment.question for judgment in orphans):
            count = sum(judgment.question == question for judgment in orphans)
            self.problems.append(Problem("judgments", 0, f"{count} of question {question!r}, which has no text"))
        judgments = tuple(judgment for judgment in self.judgments if judgment.question in self.questions)
        return QuerySet(name, tuple(self.questions.values()), judgments, about), tuple(self.problems)


def file_text(path: Path) -> str:
    """The text of a file of at most 64 MiB."""
    if not path.is_file():
        raise NotFound(f"There is no {path.name} in {str(path.parent)!r}.")
    if path.stat().st_size > MAX_BYTES:
        raise BadInput(f"{path.name} is larger than {MAX_BYTES // 2**20} MiB.")
    return path.read_text(encoding="utf-8-sig", errors="replace")


def numbered(text: str) -> Iterator[tuple[int, str]]:
    """The lines of a text that are not blank, with their numbers."""
    return ((n, line) for n, line in enumerate(text.split("\n"), 1) if line.strip())


def json_object(raw: str) -> dict[str, Any]:
    """A line of JSON that holds an object."""
    try:
        row = json.loads(raw)
    except (ValueError, RecursionError):
        raise BadInput("this is not JSON") from None
    if not isinstance(row, dict):
        raise BadInput("expected a JSON object")
    return row


def is_number(text: str) -> bool:
    """Whether a cell holds a plain number.

    >>> is_number(" -1.5 "), is_number("1e3")
    (True, False)
    """
    return re.fullmatch(r"-?\d+(\.\d+)?", text.strip()) is not None


COLUMNS = ("id", "question", "category", "path", "heading", "quote", "grade", "source", "judge", "note")
ARROW = " › "


def read(path: Path, form: str = "", name: str = "", split: str = "test") -> tuple[QuerySet, tuple[Problem, ...]]:
    """A query set from a file or folder, and the lines that could not be used."""
    form = form or guess(path)
    one_of(form, READERS, "format")
    if not path.exists():
        raise NotFound(f"There is no file or folder {path.name!r} in {str(path.parent)!r}.")
    draft = Draft()
    READERS[form](path, draft, split)
    if not draft.questions and not draft.problems:
        raise BadInput(f"{path.name} holds no questions in the format {form}.")
    return draft.finish(name or path.stem, f"imported from {path.name} ({form})")


def guess(path: Path) -> str:
    """The format of a file or folder, by its name.

    >>> guess(Path("asked.csv")), guess(Path("asked.jsonl"))
    ('csv', 'jsonl')
    """
    if path.is_dir():
        return "beir" if (path / "queries.jsonl").is_file() else "trec"
    return {".csv": "csv", ".jsonl": "jsonl", ".ndjson": "jsonl"}.get(path.suffix.lower(), "trec")


def read_beir(folder: Path, draft: Draft, split: str) -> None:
    """`queries.jsonl` and `qrels/<split>.tsv` of a BEIR folder."""
    for line, raw in numbered(file_text(folder / "queries.jsonl")):
        with draft.line("queries.jsonl", line):
            row = json_object(raw)
            draft.add_question(str(row["_id"]), str(row["text"]), str((row.get("metadata") or {}).get("category", "")))
    _read_qrels(folder / "qrels" / f"{split}.tsv", draft)


def _read_trec(path: Path, draft: Draft, split: str) -> None:
    """A folder with topics and qrels, or a file of topics with `qrels` files beside it."""
    folder = path if path.is_dir() else path.parent
    _read_topics(path if path.is_file() else _topics_file(folder), draft)
    for qrels in sorted({*folder.glob("qrels*"), *folder.glob("*.qrels")}):
        if qrels.is_file():
            _read_qrels(qrels, draft)


def _topics_file(folder: Path) -> Path:
    for pattern in ("topics*", "queries*.tsv", "*.topics"):
        for path in sorted(folder.glob(pattern)):
            return path
    raise NotFound(f"There are no topics in {folder.name!r}. Call the file topics.txt.")


def _read_topics(path: Path, draft: Draft) -> None:
    """TREC topics between <top> and </top>, or lines of a number, a tab and a question."""
    text = file_text(path)
    if "<top>" not in text.lower():
        for line, raw in numbered(text):
            with draft.line(path.name, line):
                ident, tab, question = raw.partition("\t")
                if not tab:
                    raise BadInput("expected a number and a question with a tab between them")
                draft.add_question(ident.strip(), question)
        return
    for line, topic in _topics(text):
        with draft.line(path.name, line):
            number = re.search(r"<num>\s*(?:Number:)?\s*([^\s<]+)", topic, re.IGNORECASE)
            title = re.search(r"<title>\s*(?:Topic:)?\s*([^<]+)", topic, re.IGNORECASE)
            if not number or not title:
                raise BadInput("a topic needs <num> and <title>")
            draft.add_question(number[1], title[1])


def _topics(text: str) -> Iterator[tuple[int, str]]:
    """What stands between <top> and </top>, with its line; each mark is looked for once.

    >>> list(_topics("<top> a </top>\\n<TOP> b </TOP> <top> c"))
    [(1, ' a '), (2, ' b ')]
    """
    opening = re.compile(r"<top>", re.IGNORECASE)
    line, counted, at = 1, 0, 0
    for end in re.finditer(r"</top>", text, re.IGNORECASE):
        start = opening.search(text, at, end.start())
        at = end.end()
        if start:
            line, counted = line + text.count("\n", counted, start.start()), start.start()
            yield line, text[start.end() : end.start()]


def _read_qrels(path: Path, draft: Draft) -> None:
    """`question document grade` (BEIR) or `question 0 document grade` (TREC)."""
    for line, raw in numbered(file_text(path)):
        fields = raw.split("\t") if "\t" in raw else raw.split()
        if line == 1 and not is_number(fields[-1]):
            continue  # BEIR's header
        with draft.line(path.name, line):
            if len(fields) not in (3, 4) or not is_number(fields[-1]):
                raise BadInput("expected question, document and grade")
            draft.judgments.append(Judgment(fields[0].strip(), fields[-2].strip(), grade=float(fields[-1])))


def _read_csv(path: Path, draft: Draft, split: str) -> None:
    rows = list(csv_records(file_text(path)))
    heads = [head.strip().lower() for head in rows[0][1] or ()] if rows else []
    if "question" not in heads:
        raise BadInput(
            f"{path.name}: the first line must name the columns, at least question. Known: {', '.join(COLUMNS)}."
        )
    for line, cells in rows[1:]:
        with draft.line(path.name, line):
            if cells is None:
                raise BadInput("a quote in this line is not closed or stands in the middle of a cell; write it twice")
            if any(cells):
                _add_row(_row(heads, cells), draft)


def _row(heads: Sequence[str], cells: Sequence[str]) -> dict[str, str]:
    if len(cells) != len(heads):
        raise BadInput(f"{len(cells)} cells where the first line has {len(heads)}")
    return dict(zip(heads, map(unguarded, cells), strict=True))


def _add_row(row: Mapping[str, str], draft: Draft) -> None:
    ident = draft.ident(row.get("id"), row["question"])
    draft.add_question(ident, row["question"], row.get("category", ""))
    if row.get("path"):
        draft.try_judging(ident)
        draft.judgments.append(_judgment(ident, {**row, "heading": _heading(row.get("heading", ""))}))


def _heading(text: str) -> tuple[str, ...]:
    return tuple(title.strip() for title in text.split(ARROW.strip()) if title.strip())


def _read_jsonl(path: Path, draft: Draft, split: str) -> None:
    for line, raw in numbered(file_text(path)):
        with draft.line(path.name, line):
            row = json_object(raw)
            text = str(row.get("text") or row.get("question") or "")
            ident = draft.ident(row.get("id"), text)
            draft.add_question(ident, text, str(row.get("category") or ""))
            for judgment in row.get("judgments", ()):
                draft.try_judging(ident)
                draft.judgments.append(_judgment(ident, judgment))


def _judgment(question: str, row: Mapping[str, Any]) -> Judgment:
    grade = row.get("grade", 1.0)
    if not is_number(str(grade or 1)):
        raise BadInput(f"the grade {grade!r} is not a number")
    if not GRADES[0] <= float(grade if grade not in ("", None) else 1.0) <= GRADES[1]:
        raise BadInput(f"the grade {grade} is not between {GRADES[0]} and {GRADES[1]}")
    heading = row.get("heading") or ()
    if isinstance(heading, str) or not all(isinstance(title, str) for title in heading):
        raise BadInput("a heading is a list of titles")
    return Judgment(
        question,
        str(row["path"]),
        tuple(heading),
        str(row.get("quote") or ""),
        float(grade if grade not in ("", None) else 1.0),
        str(row.get("source") or "import"),
        str(row.get("judge") or ""),
        str(row.get("note") or ""),
    )


READERS: Mapping[str, Callable[[Path, Draft, str], None]] = {
    "beir": read_beir,
    "trec": _read_trec,
    "csv": _read_csv,
    "jsonl": _read_jsonl,
}


AUTHORED = (
    "the answers of every document, as its author wrote them; authors edit until a question is found, so figures are "
    "higher "
    "than for what people type"
)


def from_frontmatter(documents: Iterable[Document], name: str = "frontmatter") -> QuerySet:
    """The questions that authors list under `answers:`, each answered by its document."""
    questions, judgments = [], []
    for document in sorted(documents, key=lambda document: document.path):
        for text in (" ".join(answer.split()) for answer in document.meta.answers):
            questions.append(Question(f"{document.id}-{strict.digest(text, 8)}", text, document.meta.doc_type))
            judgments.append(Judgment(questions[-1].id, document.path, source="frontmatter", judge=document.meta.owner))
    return QuerySet(name, tuple(questions), tuple(judgments), AUTHORED)
