"""Blocks of PDF pages put right: lines that every page repeats are dropped, drawn bullets begin items of a list."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from core.adapters.conversion.formats.pdf.headings import Letters, with_headings
from core.adapters.conversion.formats.pdf.tables import Box, box_of, inside, text_of, unframed

BAND = 0.09  # the share of a page's height at its top and bottom where print headers stand
REPEATED = 3  # pages on which a line stands to be one of them
BULLET = (1.5, 7.0)  # points: how wide and high the bullets are that browsers draw
NEAR = 25.0  # points between a bullet and its words


def running_lines(pages: Sequence[Any]) -> set[str]:
    """Print headers: texts in the upper or lower margin of several pages, page numbers aside."""
    counts = Counter(
        line for page in pages for line in {_line(block) for block in page.blocks or () if _marginal(block, page)}
    )
    return {line for line, count in counts.items() if line and count >= min(REPEATED, max(2, len(pages)))}


def in_text(page: Any, running: set[str], known: Letters) -> list[Any]:
    """The blocks of a page without its print headers, with all its headings, and with lists where bullets are drawn."""
    marks = _bullets(page)
    own = [block for block in page.blocks or () if not _runs(block, page, running)]
    blocks = with_headings(list(unframed(own, page.text_items)), page, known)
    return [part for block in blocks for part in (_items(block, page, marks) if block.kind == "paragraph" else [block])]


def _runs(block: Any, page: Any, running: set[str]) -> bool:
    """Whether a block is a print header; the title of the first page may say the same."""
    title = page.page_num == 1 and block.kind == "heading"
    return _marginal(block, page) and _line(block) in running and not title


def _line(block: Any) -> str:
    """The letters of a block, with numbers as one sign."""
    return re.sub(r"\d+", "#", re.sub(r"\W+", "", text_of(block).casefold()))


def _marginal(block: Any, page: Any) -> bool:
    box = box_of(block)
    worded = block.text is not None or block.kind == "table"
    return bool(worded and (box.bottom <= BAND * page.height or box.top >= (1 - BAND) * page.height))


def _bullets(page: Any) -> list[Box]:
    """Small filled shapes, about as wide as they are high."""
    graphics = page.vector_graphics
    sizes = (shape.bbox for shape in (graphics.shapes if graphics else ()) if shape.fill)
    small = (
        (x, y, wide, high) for x, y, wide, high in sizes if BULLET[0] <= min(wide, high) <= max(wide, high) <= BULLET[1]
    )
    return [Box(x, y, x + wide, y + high) for x, y, wide, high in small]


def _items(block: Any, page: Any, marks: Sequence[Box]) -> Iterator[Any]:
    """A paragraph cut where drawn bullets stand to the left of its lines; itself where there are none."""
    box = box_of(block)
    own = [mark for mark in marks if box.top - 2 <= _middle(mark) <= box.bottom + 2]
    parts = (
        list(_parts(sorted(inside(page.text_items, box), key=lambda item: (round(item.y), item.x)), own)) if own else []
    )
    if not any(begins for begins, _ in parts):
        yield block
        return
    for begins, text in parts:
        kind = "list_item" if begins else "paragraph"
        yield replace(block, kind=kind, text=text, marker="•", level=0, bold=False, italic=False)


def _parts(items: Sequence[Any], marks: Sequence[Box]) -> Iterator[tuple[bool, str]]:
    """Pieces of a paragraph, each with whether a bullet begins it; a line further left than the items ends the list."""
    begun, words, left = False, list[str](), 0.0
    for item in items:
        marked = any(
            abs(_middle(mark) - item.y - item.height / 2) < item.height / 2 and 0 <= item.x - mark.right <= NEAR
            for mark in marks
        )
        if words and (marked or (begun and item.x < left - 5)):
            yield begun, " ".join(words)
            begun, words = False, []
        if marked:
            begun, left = True, item.x
        words.append(item.text)
    if words:
        yield begun, " ".join(words)


def _middle(box: Box) -> float:
    return (box.top + box.bottom) / 2
