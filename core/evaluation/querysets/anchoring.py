"""From judgments to chunks of one generation. A judgment that no longer fits is listed with the reason, never
dropped.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain

from core.chunking.blocks import Outline, blocks
from core.curation.text.excerpts import places
from core.evaluation.querysets.queryset import Judgment, by_question, settled
from core.ports import Index
from core.types import Document

SEGMENT = 1000  # words of a source segment


@dataclass(frozen=True, slots=True)
class Anchored:
    """The chunks that a judgment is about, in one generation; without chunks, `why` says what is gone."""

    judgment: Judgment
    document: int = -1
    chunks: tuple[int, ...] = ()
    why: str = ""


@dataclass(frozen=True, slots=True)
class Gains:
    """What a search should find: per question the gain of each document or chunk, and judgments without a place."""

    gains: Mapping[str, Mapping[int, float]]
    unmapped: tuple[Anchored, ...]


def anchor(judgment: Judgment, index: Index) -> Anchored:
    """Find the chunks that hold what was judged, or say why there are none."""
    document = _document(judgment, index)
    if document is None:
        return Anchored(judgment, why=f"There is no document {judgment.path!r} any more.")
    section = _section(index, document, judgment.heading) if judgment.heading else None
    if judgment.quote:
        spans = places(index.text(document), judgment.quote)
        if not spans:
            return Anchored(judgment, why=f"The quoted words no longer stand in {judgment.path!r}.")
        section = next((span for span in spans if section and section[0] <= span[0] < section[1]), spans[0])
    elif judgment.heading and not section:
        return Anchored(
            judgment, why=f"The heading {' › '.join(judgment.heading)!r} no longer stands in {judgment.path!r}."
        )
    chunks = index.chunks_of(document)
    judged = tuple(_holding(index, chunks, section) if section else chunks)
    return Anchored(
        judgment, document, judged, "" if judged else f"No chunk of {judgment.path!r} holds what was judged."
    )


def segment_text(judgment: Judgment, index: Index) -> str:
    """The source segment of quoted words: the thousand words of their document among which they stand."""
    document = _document(judgment, index)
    spans = places(index.text(document), judgment.quote) if document is not None else []
    if document is None or not spans:
        return ""
    section = _section(index, document, judgment.heading) if judgment.heading else None
    start, _ = next((span for span in spans if section and section[0] <= span[0] < section[1]), spans[0])
    text, body = index.text(document), index.documents[document].body
    return next((text[a:b] for a, b in source_segments(text, body) if start < b), "")


@lru_cache(maxsize=1024)
def source_segments(text: str, body: int = 0, size: int = SEGMENT) -> tuple[tuple[int, int], ...]:
    """Spans of `size` words one after the other, the last with what is left (thesis, 4.1).

    >>> source_segments("one two three four five", 0, 2)
    ((0, 7), (8, 18), (19, 23))
    """
    words = list(re.finditer(r"\S+", text[body:]))
    runs = [words[n : n + size] for n in range(0, len(words), size)]
    return tuple((body + run[0].start(), body + run[-1].end()) for run in runs)


def gains(judgments: Iterable[Judgment], index: Index, unit: str = "document") -> Gains:
    """Gains by document or chunk; where several judgments meet, the highest grade counts."""
    grades: dict[str, dict[int, float]] = {}
    unmapped = []
    for judgment in chain.from_iterable(by_question(settled(judgments)).values()):
        anchored = anchor(judgment, index)
        if not anchored.chunks:
            unmapped.append(anchored)
            continue
        of_question = grades.setdefault(judgment.question, {})
        for place in (anchored.document,) if unit == "document" else anchored.chunks:
            of_question[place] = max(of_question.get(place, 0.0), judgment.grade)
    return Gains(grades, tuple(unmapped))


def _document(judgment: Judgment, index: Index) -> int | None:
    """By path; a moved file by its name, if exactly one file of that name holds the quote."""
    for number, facts in enumerate(index.documents):
        if judgment.path in (facts.path, facts.doc):
            return number
    name = judgment.path.rsplit("/", 1)[-1]
    namesakes = [n for n, facts in enumerate(index.documents) if facts.path.rsplit("/", 1)[-1] == name]
    quoted = [n for n in namesakes if judgment.quote and places(index.text(n), judgment.quote)]
    return quoted[0] if len(quoted) == 1 else None


def _holding(index: Index, chunks: Iterable[int], span: tuple[int, int]) -> list[int]:
    """Chunks that hold the whole span, else those that hold a part of it."""
    passages = [(chunk, index.passage(chunk)) for chunk in chunks]
    whole = [chunk for chunk, p in passages if p.start <= span[0] and span[1] <= p.end]
    return whole or [chunk for chunk, p in passages if p.start < span[1] and span[0] < p.end]


def _section(index: Index, document: int, heading: tuple[str, ...]) -> tuple[int, int] | None:
    """Start and end of a section, with its subsections."""
    facts, text = index.documents[document], index.text(document)
    outline = _outline(Document(facts.doc, facts.path, facts.title, text, facts.body))
    size = len(heading)
    for n, path in enumerate(outline.paths):
        if path[-size:] == heading:
            rest = range(n + 1, len(outline.paths))
            after = (outline.starts[m] for m in rest if outline.paths[m][: len(path)] != path)
            return outline.starts[n], next(after, len(text))
    return None


@lru_cache(maxsize=256)
def _outline(document: Document) -> Outline:
    return Outline(document, blocks(document))
