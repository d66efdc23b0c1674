"""From judgments to chunks of one generation. What finds no place any more is listed with the reason, never dropped."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache

from core.chunking.blocks import Outline, blocks
from core.curation.passages import places
from core.evaluation.querysets.queryset import Judgment, of_question, settled
from core.ports import Index
from core.types import Document


@dataclass(frozen=True, slots=True)
class Anchored:
    """Where a judgment stands in one generation; without chunks, `why` says what was not found."""

    judgment: Judgment
    document: int = -1
    chunks: tuple[int, ...] = ()
    why: str = ""


@dataclass(frozen=True, slots=True)
class Gains:
    """What a generation should find: per question the gain of each document or chunk, and what was left out."""

    gains: Mapping[str, Mapping[int, float]]
    unmapped: tuple[Anchored, ...]


def anchor(judgment: Judgment, index: Index) -> Anchored:
    """The chunks that hold what was judged, or the reason why there are none."""
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
    held = tuple(_holding(index, chunks, section) if section else chunks)
    return Anchored(judgment, document, held, "" if held else f"No chunk of {judgment.path!r} holds what was judged.")


def section_text(judgment: Judgment, index: Index) -> str:
    """The section that a judgment names, as it stands in a generation; "" when it is gone."""
    document = _document(judgment, index)
    span = _section(index, document, judgment.heading) if document is not None else None
    return index.text(document)[span[0] : span[1]] if document is not None and span else ""


def gains(judgments: Iterable[Judgment], index: Index, unit: str = "document") -> Gains:
    """Judgments as gains over documents or chunks of a generation; of several grades the best counts."""
    placed: dict[str, dict[int, float]] = {}
    unmapped = []
    for question, given in of_question(settled(judgments)).items():
        for judgment in given:
            found = anchor(judgment, index)
            if not found.chunks:
                unmapped.append(found)
            for place in (found.document,) if unit == "document" and found.chunks else found.chunks:
                kept = placed.setdefault(question, {})
                kept[place] = max(kept.get(place, 0.0), judgment.grade)
    return Gains(placed, tuple(unmapped))


def _document(judgment: Judgment, index: Index) -> int | None:
    """By path; a file that was moved is found by its name if a single one of that name still holds the quote."""
    for number, facts in enumerate(index.documents):
        if judgment.path in (facts.path, facts.doc):
            return number
    name = judgment.path.rsplit("/", 1)[-1]
    same = [n for n, facts in enumerate(index.documents) if facts.path.rsplit("/", 1)[-1] == name]
    kept = [n for n in same if judgment.quote and places(index.text(n), judgment.quote)]
    return kept[0] if len(kept) == 1 else None


def _holding(index: Index, chunks: Iterable[int], span: tuple[int, int]) -> list[int]:
    """Chunks that hold the whole span, else those that hold a part of it."""
    passages = [(chunk, index.passage(chunk)) for chunk in chunks]
    whole = [chunk for chunk, p in passages if p.start <= span[0] and span[1] <= p.end]
    return whole or [chunk for chunk, p in passages if p.start < span[1] and span[0] < p.end]


def _section(index: Index, document: int, heading: tuple[str, ...]) -> tuple[int, int] | None:
    """Where a section begins and ends, with the sections below it."""
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
