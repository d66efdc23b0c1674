"""The section of a passage that answers: its heading is that of the hit, whoever shows it."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import replace
from functools import lru_cache

from core.chunking.blocks import Outline, blocks
from core.curation.text.excerpts import Excerpt, excerpt
from core.curation.text.markup import blanked
from core.ports import Index
from core.retrieval.snippets import best_section
from core.types import Document, Hit


def excerpt_of(markdown: str, chunk: int | None, index: Index) -> Excerpt:
    """A passage as a card shows it; one that begins inside a table finds the table's head in its context."""
    return excerpt(markdown, index.context(chunk) if chunk is not None and markdown.startswith("|") else "")


def placed(hit: Hit, query: str, chunk: int, index: Index) -> Hit:
    """A hit under the heading of the section that holds its best sentence, where its passage has several sections."""
    shown = excerpt_of(hit.text, chunk, index)
    if not shown.sections:
        return hit
    number = best_section(shown.text, query, index.profile.lexical, index.rarity)
    if number is None:
        return hit
    start, end = (*shown.sections, len(hit.text))[number : number + 2]
    section = (hit.start + start, hit.start + end)
    passage = index.passage(chunk)
    heading = _path(hit, start, (passage.start - hit.start, passage.end - hit.start))
    return replace(hit, heading=heading, section=section, within=hit.heading)


def _path(hit: Hit, at: int, passage: tuple[int, int]) -> tuple[str, ...]:
    """The heading path at a place of a text: what is above all of it, then what is in it. The hit's own is the
    passage's.
    """
    outline = _outline(hit.text, hit.title)
    common = outline.path(*passage)
    place = bisect_right(outline.starts, at + 3) - 1  # a heading may be indented by three spaces
    return (*hit.heading[: len(hit.heading) - len(common)], *outline.paths[place])


@lru_cache(maxsize=20_000)
def _outline(text: str, title: str) -> Outline:
    read = Document("", "", title, blanked(text))
    return Outline(read, blocks(read))
