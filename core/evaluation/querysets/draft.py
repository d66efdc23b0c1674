"""A query set while its files are read: a bad line becomes a problem with its number, the rest goes in."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from core.errors import BadInput, NotFound
from core.evaluation.querysets.queryset import Judgment, QuerySet, Question

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
