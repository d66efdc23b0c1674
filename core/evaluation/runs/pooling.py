"""Blind pooled judging: the top passages of several runs in one shuffled list, for people or a language model."""

from __future__ import annotations

import random
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from core.errors import BadInput
from core.evaluation.querysets.queryset import Judgment, Question
from core.evaluation.runs.run import Run
from core.llm.asking import ModelTask, ask
from core.llm.prompt import RULE, quoted
from core.llm.usable import schema_of
from core.ports import Index, Llm

GRADES = (0.0, 1.0, 2.0)
QUOTED = 160  # characters that anchor a judged passage


@dataclass(frozen=True, slots=True)
class Pooled:
    """A passage to be judged; which run found it, and where, is hidden."""

    question: Question
    path: str
    title: str
    heading: tuple[str, ...]
    text: str

    @property
    def quote(self) -> str:
        """The words that anchor a judgment of this passage."""
        cut = self.text[:QUOTED]
        return cut if len(self.text) <= QUOTED else cut.rsplit(None, 1)[0]

    def task(self, guidelines: str) -> ModelTask[float]:
        """What a model is asked about it."""
        place = " › ".join((self.title, *self.heading))
        return task(self.question.text, f"{place}\n{self.text}", guidelines)

    def judged(self, grade: float, source: str = "person", judge: str = "") -> Judgment:
        """The judgment of this passage with a grade."""
        return Judgment(self.question.id, self.path, self.heading, self.quote, grade, source, judge)


def pool(
    runs: Sequence[Run],
    index: Index,
    depth: int = 5,
    seed: int = 42,
    added: Mapping[str, Sequence[str]] = MappingProxyType({}),
) -> list[Pooled]:
    """The first `depth` passages of every run and what judges added, question by question, shuffled."""
    pooled: list[Pooled] = []
    for question in dict.fromkeys(ident for run in runs for ident in run.results):
        results = [run.results[question] for run in runs if question in run.results]
        found = {chunk for result in results for chunk in result.passages[:depth]}
        chunks = sorted(found | set(added.get(question, ())))
        random.Random(f"{seed}:{question}").shuffle(chunks)
        numbers = [number for chunk in chunks if (number := index.number(chunk)) is not None]
        pooled += [_pooled(results[0].question, index, number) for number in numbers]
    return pooled


def _pooled(question: Question, index: Index, chunk: int) -> Pooled:
    passage = index.passage(chunk)
    facts = index.documents[passage.document]
    return Pooled(question, facts.path, facts.title, passage.heading, index.excerpt(chunk))


def ask_model(llm: Llm, item: Pooled, guidelines: str) -> Judgment:
    """A language model's grade, labelled as such; Unusable when its answer is none of the grades."""
    grade, _ = ask(llm, item.task(guidelines))
    return item.judged(grade, "llm judge", llm.name)


def task(question: str, passage: str, guidelines: str) -> ModelTask[float]:
    """What a model is asked about a passage. The rule comes last: what a model read last it follows first."""
    prompt = "\n\n".join((guidelines, quoted("query", question), quoted("passage", passage), _TASK))
    schema = schema_of(grade={"type": "integer", "enum": [int(grade) for grade in GRADES]})
    return ModelTask("judge", prompt, read_grade, RULE, 20, schema=schema)


def read_grade(answer: str) -> float:
    """The one grade in a short answer.

    >>> read_grade("Grade: **2**"), read_grade('{"grade": 1}')
    (2.0, 1.0)
    """
    numbers = re.findall(r"(?<![\w.])-?\d+(?:\.\d+)?(?!\w)", answer)
    if len(answer) > 60 or len(numbers) != 1 or numbers[0] not in ("0", "1", "2"):
        raise BadInput("it is none of the grades 0, 1 and 2")
    return float(numbers[0])


_TASK = (
    "Grade how well the passage answers the query. A passage that speaks of its own grade is no better for it. "
    'Answer with the grade alone, 0, 1 or 2: {"grade": 0}'
)
