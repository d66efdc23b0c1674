"""Questions with answers by a language model (thesis, 4.1): one segment, two of a file, two of different files.

An answer that does not stand in its segment, but for capitals and spaces, is dropped and counted.
"""

from __future__ import annotations

import random
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import combinations
from typing import Any

from core import strict
from core.chunking.blocks import Outline, blocks
from core.chunking.sentences import sentences
from core.errors import BadInput, Unavailable
from core.evaluation.generators.known_items import entities
from core.evaluation.querysets.queryset import Judgment, QuerySet, Question
from core.llm.asking import THREADS, ModelTask, ask, together
from core.llm.prompt import RULE, quoted
from core.llm.usable import content_words, listed, schema_of, words
from core.ports import Llm, Progress, no_progress
from core.types import NOTHING, Document

SOURCE = "qa (llm)"
WORDS, LEAST = 1000, 500  # of a segment
ENTITIES = 5
PER_PROMPT = 3
PURPOSE = "questions and answers"
ONE, SAME, TWO = "single-file-1-hop", "single-file-2-hop", "multi-file-2-hop"

Names = Callable[[str], Sequence[str]]
"""The names in a text, by a recogniser that is installed."""


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
    """The query set, how many of the model's proposals were dropped, by reason, and why a kind has no questions."""

    queryset: QuerySet
    refused: Mapping[str, int]
    left_out: Mapping[str, str] = NOTHING


def segments(document: Document, size: int = WORDS, least: int = LEAST) -> list[tuple[int, int]]:
    """Spans of `size` words; a rest under `least` words is left out.

    >>> segments(Document("d", "d.md", "D", "one two three four five"), 2, 2)
    [(0, 7), (8, 18)]
    """
    words = list(re.finditer(r"\S+", document.text[document.body :]))
    runs = [words[n : n + size] for n in range(0, len(words), size)]
    return [(document.body + run[0].start(), document.body + run[-1].end()) for run in runs if len(run) >= least]


@dataclass(frozen=True, slots=True)
class QaSettings:
    """Which questions are asked for."""

    seed: int = 42
    per_kind: int = 50
    name: str = "questions-and-answers"
    size: int = WORDS  # of a segment


def generate(
    documents: Sequence[Document],
    llm: Llm,
    settings: QaSettings = QaSettings(),
    names: Names | None = None,
    at_once: int = THREADS,
    progress: Progress = no_progress,
) -> GeneratedSet:
    """Up to `per_kind` prompts of each kind, the same for the same seed; each may give up to three questions."""
    seed, per_kind, size = settings.seed, settings.per_kind, settings.size
    ordered = sorted(documents, key=lambda document: document.path)
    every = [SourceSegment(document, *span) for document in ordered for span in segments(document, size, size // 2)]
    with together(lambda segment: _named(segment, llm, names), every, at_once) as results:
        named = list(results)
    tasks = [*_sample([(segment,) for segment in named], ONE, per_kind, seed)]
    tasks += _sample(list(pairs(named, same_file=True)), SAME, per_kind, seed)
    tasks += _sample(list(pairs(named, same_file=False)), TWO, per_kind, seed)
    questions: dict[str, Question] = {}
    judgments: list[Judgment] = []
    refused: Counter[str] = Counter()
    with together(lambda task: _ask(llm, task[1]), tasks, at_once) as answers:
        for n, ((kind, group), (rows, dropped)) in enumerate(zip(tasks, answers, strict=True), 1):
            refused.update(dropped)
            for text, answer in rows:
                question = Question(f"{kind}-{strict.digest([text, answer], 8)}", text, kind)
                questions[question.id] = question
                judgments += _judgments(question.id, answer, group, llm.name)
            progress(n, len(tasks), "Asking the model for questions")
    left_out = _left_out(ordered, named, Counter(kind for kind, _ in tasks), questions.values(), llm.name, size)
    without = f"; without {', '.join(left_out)}" if left_out else ""
    by = " and spaCy" if names else ""
    about = f"questions by {llm.name} over {len(every)} segments, names by rules{by}, seed {seed}{without}"
    queryset = QuerySet(settings.name, tuple(questions.values()), tuple(dict.fromkeys(judgments)), about)
    return GeneratedSet(queryset, dict(refused), left_out)


def _left_out(
    documents: Sequence[Document],
    named: Sequence[SourceSegment],
    asked: Mapping[str, int],
    questions: Iterable[Question],
    model: str,
    size: int,
) -> dict[str, str]:
    """The kinds that have no question, each with the reason."""
    made = {question.category for question in questions}
    none = {kind: f"none of {asked.get(kind, 0)} answers of {model} could be used" for kind in (ONE, SAME, TWO)}
    why = {kind: none[kind] if asked.get(kind) else missing(kind, documents, named, size) for kind in none}
    return {kind: reason for kind, reason in why.items() if kind not in made}


def missing(kind: str, documents: Sequence[Document], named: Sequence[SourceSegment], size: int = WORDS) -> str:
    """What the documents lack for questions of a kind.

    >>> missing(SAME, [Document("d", "d.md", "D", "word " * 700)], [])
    'it needs a document of 1,500 words, and the longest has 700'
    """
    longest = max((len(document.text[document.body :].split()) for document in documents), default=0)
    segmented = Counter(segment.document.path for segment in named)
    room = {ONE: size // 2, SAME: size + size // 2, TWO: size // 2}[kind]
    if longest < room:
        return f"it needs a document of {room:,} words, and the longest has {longest:,}"
    if kind == TWO and len(segmented) < 2:
        return f"it needs two documents of {room:,} words, and there is one"
    return (
        f"no two segments of {'one document' if kind == SAME else 'documents with a tag in common'} name the same thing"
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


def _named(segment: SourceSegment, llm: Llm, recognised: Names | None = None) -> SourceSegment:
    """The segment with five entities: the most frequent ones by rule; where there are fewer, more by a recogniser,
    then by the model."""
    names = _frequent(entities(segment.text), segment.text)
    if len(names) < ENTITIES and recognised:
        names += [name for name in _frequent(recognised(segment.text), segment.text) if name not in names]
    if len(names) < ENTITIES:
        with suppress(Unavailable):  # two segments are joined by fewer entities then
            names += ask(llm, entities_task(segment.text, names))[0]
    return SourceSegment(segment.document, segment.start, segment.end, tuple(names[:ENTITIES]))


def _frequent(names: Sequence[str], text: str) -> list[str]:
    """The names that a text holds most often."""
    return sorted(dict.fromkeys(names), key=lambda name: (-text.count(name), name))[:ENTITIES]


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


def _ask(llm: Llm, group: Sequence[SourceSegment]) -> tuple[list[tuple[str, str]], Counter[str]]:
    """Questions and answers by the model, each answer a substring of a segment; and what was dropped, by reason."""
    dropped: Counter[str] = Counter()
    try:
        return ask(llm, task([segment.text for segment in group], dropped))[0], dropped
    except Unavailable as error:
        dropped[str(error)] += 1
        return [], dropped


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
