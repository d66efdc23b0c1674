"""Questions with answers by a language model (thesis, 4.1): one segment, two of a file, two of different files.

Nothing the model says is trusted: an answer that does not stand word for word in its segment is thrown away and counted.
"""

from __future__ import annotations

import json
import random
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

from core import strict
from core.chunking.blocks import Outline, blocks
from core.chunking.sentences import sentences
from core.errors import ConcordError
from core.evaluation.known_items import entities
from core.evaluation.querysets import Judgment, QuerySet, Question
from core.llm.prompt import RULE, quoted
from core.ports import Llm, Progress, no_progress
from core.types import Document

SOURCE = "qa (llm)"
WORDS, LEAST = 1000, 500  # of a segment
ENTITIES = 5
PER_PROMPT = 3
PURPOSE = "questions and answers"


@dataclass(frozen=True, slots=True)
class SourceSegment:
    """A stretch of a document, and what it is about."""

    document: Document
    start: int
    end: int
    entities: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        """Its words."""
        return self.document.text[self.start : self.end]


@dataclass(frozen=True, slots=True)
class Made:
    """What the generator made, and how many of the model's proposals could not be used, by reason."""

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
) -> Made:
    """Up to `per_kind` prompts of each kind, deterministic in what is asked; each may give up to three questions."""
    ordered = sorted(documents, key=lambda one: one.path)
    every = [SourceSegment(one, *span) for one in ordered for span in segments(one)]
    named = [_named(one, llm) for one in every]
    tasks = [*_sample([(one,) for one in named], "single-file-1-hop", per_kind, seed)]
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
    return Made(QuerySet(name, tuple(questions.values()), tuple(dict.fromkeys(judgments)), about), dict(refused))


def pairs(found: Sequence[SourceSegment], same_file: bool) -> Iterator[tuple[SourceSegment, SourceSegment]]:
    """Segments that share an entity: of one file, or of two files that share a tag."""
    for one, other in combinations(found, 2):
        together = one.document.path == other.document.path
        if together != same_file or not set(one.entities) & set(other.entities):
            continue
        if together or set(one.document.meta.tags) & set(other.document.meta.tags):
            yield one, other


def _sample(
    groups: list[tuple[SourceSegment, ...]], kind: str, size: int, seed: int
) -> list[tuple[str, tuple[SourceSegment, ...]]]:
    random.Random(f"{seed}:{kind}").shuffle(groups)
    return [(kind, group) for group in groups[:size]]


def _named(segment: SourceSegment, llm: Llm) -> SourceSegment:
    """The segment with five entities: the most frequent by rule, completed by the model where there are fewer."""
    counts = Counter(entity for entity in entities(segment.text) for _ in range(segment.text.count(entity)))
    found = [entity for entity, _ in sorted(counts.items(), key=lambda pair: (-pair[1], pair[0]))][:ENTITIES]
    if len(found) < ENTITIES:
        prompt = _ENTITIES.format(
            count=ENTITIES - len(found), known=json.dumps(found), text=quoted("passage", segment.text)
        )
        more = _json(_complete(llm, prompt), list) or []
        found += [one for one in more if isinstance(one, str) and one in segment.text and one not in found]
    return SourceSegment(segment.document, segment.start, segment.end, tuple(found[:ENTITIES]))


def _ask(llm: Llm, group: Sequence[SourceSegment], refused: Counter[str]) -> Iterator[tuple[str, str]]:
    """Questions whose answers stand word for word in a segment."""
    passages = "\n\n".join(quoted("passage", segment.text, n) for n, segment in enumerate(group, 1))
    said = _json(_complete(llm, (_TWO if len(group) > 1 else _ONE).format(passages=passages)), list)
    if said is None:
        refused["the answer was not a JSON list"] += 1
        return
    for row in said[:PER_PROMPT]:
        text = " ".join(str(row.get("question", "")).split()) if isinstance(row, dict) else ""
        answer = str(row.get("answer", "")).strip() if isinstance(row, dict) else ""
        if not text or not answer:
            refused["question or answer missing"] += 1
        elif not any(answer in one.text for one in group):
            refused["the answer is not a substring of its passage"] += 1
        else:
            yield text, answer


def _judgments(question: str, answer: str, group: Sequence[SourceSegment], model: str) -> Iterator[Judgment]:
    """The answer's place; for two hops also the sentence of the other segment that names what both share."""
    holder = next(one for one in group if answer in one.text)
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


def _complete(llm: Llm, prompt: str) -> str:
    try:
        return llm.complete(prompt, purpose=PURPOSE, max_tokens=1000).text
    except ConcordError:
        return ""


def _json(text: str, kind: type) -> Any:
    """The first JSON value of a kind in what a model said; None when there is none."""
    start = text.find("[")
    try:
        value, _ = json.JSONDecoder().raw_decode(text[start:]) if start >= 0 else (None, 0)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, kind) else None


_RULES = (
    "Write 1 to 3 questions as a colleague would ask them. The answer to each must be copied exactly, character by "
    'character, from a passage, and be as short as possible. Answer only with JSON: [{{"question": "...", "answer": "..."}}]. '
    f"{RULE}\n\n{{passages}}"
)
_ONE = "Below is a passage of a company's knowledge base. " + _RULES
_TWO = "Below are two passages of a company's knowledge base. Every question must need both of them. " + _RULES
_ENTITIES = (
    "Name {count} more entities (people, organisations, products, documents) that stand word for word in the passage, "
    "beside {known}. Answer only with a JSON list of strings. "
    f"{RULE}\n\n{{text}}"
)
