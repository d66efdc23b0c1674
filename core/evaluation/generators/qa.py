"""Questions with answers by a language model (thesis, 4.1): one segment, two of a file, two of different files.

An answer that does not stand in its segment, but for capitals and spaces, is dropped and counted.
"""

from __future__ import annotations

import random
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import combinations
from typing import Any

from core import strict
from core.chunking.blocks import Outline, blocks
from core.chunking.sentences import sentences
from core.errors import BadInput, Unavailable
from core.evaluation.generators.entities import entities
from core.evaluation.querysets.queryset import Judgment, QuerySet, Question
from core.llm.asking import ModelTask, ask
from core.llm.grounding import content_words
from core.llm.prompt import RULE, quoted
from core.llm.reading import listed, schema_of
from core.llm.usable import words
from core.ports import Llm, Progress, no_progress
from core.types import Document

SOURCE = "qa (llm)"
WORDS, LEAST = 1000, 500  # of a segment
ENTITIES = 5
PER_PROMPT = 3
PURPOSE = "questions and answers"


@dataclass(frozen=True, slots=True)
class SourceSegment:
    """A span of a document and its entities."""

    document: Document
    start: int
    end: int
    entities: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        return self.document.text[self.start : self.end]


@dataclass(frozen=True, slots=True)
class GeneratedSet:
    """The query set, and how many of the model's proposals were dropped, by reason."""

    queryset: QuerySet
    refused: dict[str, int]


def segments(document: Document, size: int = WORDS, least: int = LEAST) -> list[tuple[int, int]]:
    """Spans of `size` words; a rest under `least` words is left out.

    >>> segments(Document("d", "d.md", "D", "one two three four five"), 2, 2)
    [(0, 7), (8, 18)]
    """
    words = list(re.finditer(r"\S+", document.text[document.body :]))
    runs = [words[n : n + size] for n in range(0, len(words), size)]
    return [(document.body + run[0].start(), document.body + run[-1].end()) for run in runs if len(run) >= least]


def generate(
    documents: Sequence[Document],
    llm: Llm,
    seed: int = 42,
    per_kind: int = 50,
    name: str = "questions-and-answers",
    progress: Progress = no_progress,
) -> GeneratedSet:
    """Up to `per_kind` prompts of each kind, the same for the same seed; each may give up to three questions."""
    ordered = sorted(documents, key=lambda document: document.path)
    every = [SourceSegment(document, *span) for document in ordered for span in segments(document)]
    named = [_named(segment, llm) for segment in every]
    tasks = [*_sample([(segment,) for segment in named], "single-file-1-hop", per_kind, seed)]
    tasks += _sample(list(pairs(named, same_file=True)), "single-file-2-hop", per_kind, seed)
    tasks += _sample(list(pairs(named, same_file=False)), "multi-file-2-hop", per_kind, seed)
    questions: dict[str, Question] = {}
    judgments: list[Judgment] = []
    refused: Counter[str] = Counter()
    for n, (kind, group) in enumerate(tasks, 1):
        for text, answer in _ask(llm, group, refused):
            question = Question(f"{kind}-{strict.digest([text, answer], 8)}", text, kind)
            questions[question.id] = question
            judgments += _judgments(question.id, answer, group, llm.name)
        progress(n, len(tasks), "Asking the model for questions")
    about = f"questions by {llm.name} over {len(every)} segments, seed {seed}"
    return GeneratedSet(
        QuerySet(name, tuple(questions.values()), tuple(dict.fromkeys(judgments)), about), dict(refused)
    )


def pairs(segments: Sequence[SourceSegment], same_file: bool) -> Iterator[tuple[SourceSegment, SourceSegment]]:
    """Segments that share an entity: of one file, or of two files that share a tag."""
    for first, second in combinations(segments, 2):
        together = first.document.path == second.document.path
        if together != same_file or not set(first.entities) & set(second.entities):
            continue
        if together or set(first.document.meta.tags) & set(second.document.meta.tags):
            yield first, second


def _sample(
    groups: list[tuple[SourceSegment, ...]], kind: str, size: int, seed: int
) -> list[tuple[str, tuple[SourceSegment, ...]]]:
    random.Random(f"{seed}:{kind}").shuffle(groups)
    return [(kind, group) for group in groups[:size]]


def _named(segment: SourceSegment, llm: Llm) -> SourceSegment:
    """The segment with five entities: the most frequent ones by rule, more from the model where there are fewer."""
    counts = Counter(entity for entity in entities(segment.text) for _ in range(segment.text.count(entity)))
    names = [entity for entity, _ in sorted(counts.items(), key=lambda pair: (-pair[1], pair[0]))][:ENTITIES]
    if len(names) < ENTITIES:
        with suppress(Unavailable):  # two segments are joined by fewer entities then
            names += ask(llm, entities_task(segment.text, names))[0]
    return SourceSegment(segment.document, segment.start, segment.end, tuple(names[:ENTITIES]))


def entities_task(text: str, known: Sequence[str]) -> ModelTask[list[str]]:
    """Asks for more entities of a segment."""

    def read(answer: str) -> list[str]:
        return [
            name for name in listed(answer, "entities") if isinstance(name, str) and name in text and name not in known
        ]

    material = f"{quoted('passage', text)}\n\nKnown: {quoted('material', '; '.join(known))}"
    prompt = f"{material}\n\n{_ENTITIES.format(count=ENTITIES - len(known))}"
    schema = schema_of(entities={"type": "array", "items": {"type": "string"}})
    return ModelTask(PURPOSE, prompt, read, RULE, 100, schema=schema)


def _ask(llm: Llm, group: Sequence[SourceSegment], refused: Counter[str]) -> list[tuple[str, str]]:
    """Questions and answers by the model; each answer is a substring of a segment."""
    dropped: Counter[str] = Counter()
    try:
        rows, _ = ask(llm, task([segment.text for segment in group], dropped))
    except Unavailable as error:
        refused[str(error)] += 1
        return []
    finally:
        refused.update(dropped)
    return rows


def task(passages: Sequence[str], dropped: Counter[str]) -> ModelTask[list[tuple[str, str]]]:
    """Asks for questions about passages; `dropped` counts what was wrong with those that are left out."""

    def read(answer: str) -> list[tuple[str, str]]:
        dropped.clear()  # an answer may be read twice
        rows = []
        for row in listed(answer, "questions")[:PER_PROMPT]:
            try:
                rows.append(checked(row, passages))
            except BadInput as error:
                dropped[str(error)] += 1
        if not rows and dropped:
            why = dropped.most_common(1)[0][0]
            dropped.clear()
            raise BadInput(f"none of its questions can be used: {why}")
        return rows

    shown = "\n\n".join(quoted("passage", text, n) for n, text in enumerate(passages, 1))
    pair = schema_of(question={"type": "string"}, answer={"type": "string"})
    schema = schema_of(questions={"type": "array", "items": pair, "maxItems": PER_PROMPT})
    prompt = f"{shown}\n\n{_TWO if len(passages) > 1 else _ONE}"
    return ModelTask(PURPOSE, prompt, read, RULE, 500, schema=schema)


def checked(row: Any, passages: Sequence[str]) -> tuple[str, str]:
    """A question, and its answer in the words of its passage.

    >>> checked({"question": "How long are they kept?", "answer": "Five  years"}, ["Copies are kept for five years."])
    ('How long are they kept?', 'five years')
    """
    text = " ".join(str(row.get("question", "")).split()) if isinstance(row, dict) else ""
    given = str(row.get("answer", "")).strip().rstrip(".") if isinstance(row, dict) else ""
    if not text or not given:
        raise BadInput("question or answer missing")
    if len(text.split()) < 3 or not content_words(text):
        raise BadInput("the question asks nothing")
    if not content_words(given) and not re.search(r"\d", given):
        raise BadInput("the answer says nothing")
    if words(given) == words(text) or (len(words(given)) > 1 and " ".join(words(given)) in " ".join(words(text))):
        raise BadInput("the question holds its answer")
    pattern = r"(?<!\w)" + r"\s+".join(re.escape(word) for word in given.split()) + r"(?!\w)"
    stands = (re.search(pattern, passage, flag) for flag in (0, re.IGNORECASE) for passage in passages)
    place = next((match for match in stands if match), None)
    if place is None:
        raise BadInput("the answer is not a substring of its passage")
    return text, place[0]


def _judgments(question: str, answer: str, group: Sequence[SourceSegment], model: str) -> Iterator[Judgment]:
    """The answer's place; for two hops also the sentence of the other segment that names a shared entity."""
    holder = next(segment for segment in group if answer in segment.text)
    yield _place(question, holder, holder.start + holder.text.index(answer), answer, 2.0, model)
    for other in group:
        if other is not holder:
            shared = sorted(set(holder.entities) & set(other.entities))
            start, end = _naming(other, shared[0])
            yield _place(question, other, start, other.document.text[start:end], 1.0, model)


def _naming(segment: SourceSegment, entity: str) -> tuple[int, int]:
    spans = sentences(segment.document.text, segment.start, segment.end)
    return next((span for span in spans if entity in segment.document.text[span[0] : span[1]]), spans[0])


def _place(question: str, segment: SourceSegment, start: int, quote: str, grade: float, model: str) -> Judgment:
    document = segment.document
    heading = Outline(document, blocks(document)).path(start, start + len(quote))
    return Judgment(question, document.path, heading, quote, grade, SOURCE, model)


_RULES = (
    "Write 1 to 3 questions as a colleague would ask them. The answer to each must be copied exactly, character by "
    'character, from a passage, and be as short as possible. Answer only with JSON: {"questions": [{"question": "How '
    'long are copies kept?", "answer": "five years"}]}'
)
_ONE = "Above is a passage of a company's knowledge base. " + _RULES
_TWO = "Above are two passages of a company's knowledge base. Every question must need both of them. " + _RULES
_ENTITIES = (
    "Name {count} more entities (people, organisations, products, documents) that stand word for word in the passage, "
    'beside the known ones. Answer only with JSON: {{"entities": ["Ana Ruiz", "Form 8300"]}}'
)
