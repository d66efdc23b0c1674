"""Blind pooled judging: the top passages of several runs in one shuffled list, for people or a language model."""

from __future__ import annotations

import random
import re
from collections.abc import Sequence
from dataclasses import dataclass

from core.errors import ConcordError
from core.evaluation.querysets.queryset import Judgment, Question
from core.evaluation.runs.run import Run
from core.llm.prompt import RULE, quoted
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

    def judged(self, grade: float, source: str = "person", judge: str = "") -> Judgment:
        """The judgment of this passage with a grade."""
        return Judgment(self.question.id, self.path, self.heading, self.quote, grade, source, judge)


def pool(runs: Sequence[Run], index: Index, depth: int = 5, seed: int = 42) -> list[Pooled]:
    """The first `depth` passages of every run, question by question, shuffled."""
    pooled: list[Pooled] = []
    for question in dict.fromkeys(ident for run in runs for ident in run.results):
        results = [run.results[question] for run in runs if question in run.results]
        chunks = sorted({chunk for result in results for chunk in result.passages[:depth]})
        random.Random(f"{seed}:{question}").shuffle(chunks)
        numbers = [number for chunk in chunks if (number := index.number(chunk)) is not None]
        pooled += [_pooled(results[0].question, index, number) for number in numbers]
    return pooled


def _pooled(question: Question, index: Index, chunk: int) -> Pooled:
    passage = index.passage(chunk)
    facts = index.documents[passage.document]
    return Pooled(question, facts.path, facts.title, passage.heading, index.excerpt(chunk))


def ask_model(llm: Llm, item: Pooled, guidelines: str) -> Judgment | None:
    """A language model's grade, labelled as such; None when it does not answer with one of the grades."""
    place = " › ".join((item.title, *item.heading))
    prompt = "\n\n".join(
        (guidelines, _TASK, quoted("query", item.question.text), quoted("passage", f"{place}\n{item.text}"))
    )
    try:
        answer = llm.complete(prompt, purpose="judge", max_tokens=5).text
    except ConcordError:
        return None
    match = re.fullmatch(r"\s*([012])\.?\s*", answer)
    return item.judged(float(match[1]), "llm judge", llm.name) if match else None


_TASK = f"Answer with the grade alone: 0, 1 or 2. {RULE}"
