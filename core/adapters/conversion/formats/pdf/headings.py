"""Headings of a PDF by its letters: what is larger or bolder than the text, and what only looks so."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise, zip_longest
from typing import Any

from core.adapters.conversion.formats.pdf.tables import box_of, inside

SHORT = 120  # characters that a heading has at most
LARGE, SMALL = 1.2, 0.85  # times the letters of the text: a line alone is a heading from here on, and none below
ALIKE = 1.06  # two sizes of letters that are one level: heights of letters are not their sizes
TIGHT = 0.6  # of its height between two lines of one heading
APART = 3.0  # of its height between words of a line that belong to two things
ENTRIES = 5  # lines that end in a number and make a page one of contents
_SUBSET = re.compile(r"^[A-Z]{6}\+")
_MARKED = re.compile(r"\(?(?:[A-Za-z]|[ivxIVX]+|\d[\d.]*)[.)]?")
Style = tuple[str, int]


@dataclass(frozen=True)
class Letters:
    """The size of most of the text, the sizes of headings from the largest, and the fonts of headings with their
    sizes.
    """

    body: float
    sizes: tuple[float, ...]
    styles: frozenset[Style]

    def level(self, size: float) -> int:
        """How many sizes of headings are larger, and one.

        >>> Letters(10, (20, 14, 10), frozenset()).level(13.8)
        2
        """
        return 1 + sum(each > size * ALIKE for each in self.sizes)


def letters(pages: Sequence[Any]) -> Letters:
    """What the letters of a document say: most characters are text, and a heading has letters of its own."""
    text, found = Counter[Style](), Counter[Style]()
    for page in pages:
        for block in page.blocks or ():
            if block.kind in ("paragraph", "list_item", "heading") and (style := _style(_items(block, page))):
                (found if block.kind == "heading" else text)[style] += len(block.text or "")
    usual = dict(text.most_common(1))
    body = max((size for _, size in usual), default=0)
    return Letters(body, _levels(size for _, size in found), frozenset(style for style in found if style not in usual))


def _levels(sizes: Iterable[float]) -> tuple[float, ...]:
    """Sizes from the largest; one that is nearly the one before is the same."""
    kept: list[float] = []
    for size in sorted(set(sizes), reverse=True):
        if not kept or size * ALIKE < kept[-1]:
            kept.append(size)
    return tuple(kept)


def with_headings(blocks: Sequence[Any], page: Any, known: Letters) -> list[Any]:
    """The blocks of a page with every heading, its level, and no line that only looks like one."""
    contents = _is_contents(blocks)
    marked = [part for block in blocks for part in _headed(block, page, known, contents)]
    kept = [_told(block, below, known, page) for block, below in zip_longest(marked, marked[1:])]
    return list(_joined(kept, page))


def _is_contents(blocks: Sequence[Any]) -> bool:
    """Whether most lines of a page end in a number, as those of a table of contents do."""
    lines = [(block.text or "").rstrip() for block in blocks if block.kind in ("paragraph", "list_item")]
    entries = sum(1 for line in lines if line[-1:].isdigit())
    return entries >= ENTRIES and 2 * entries > len(lines)


def _headed(block: Any, page: Any, known: Letters, contents: bool) -> Iterator[Any]:
    """A block as the heading or the paragraph that its letters say it is."""
    items = _items(block, page) if block.kind in ("paragraph", "heading") else []
    size = _size(items)
    if not items:
        yield block
    elif size < SMALL * known.body or (contents and size <= known.body):
        yield _paragraph(block)
    elif block.kind == "heading":
        yield from _parted(replace(block, level=known.level(size)), items, known)
    elif _is_heading(block, items, known):
        yield replace(block, kind="heading", level=known.level(size))
    else:
        yield block


def _parted(block: Any, items: Sequence[Any], known: Letters) -> Iterator[Any]:
    """A heading; what stands far to the right of one in the letters of the text, such as a date, is not of it."""
    line = sorted(items, key=lambda item: item.x)
    gaps = [n for n, (a, b) in enumerate(pairwise(line), 1) if b.x - a.x - a.width > APART * a.height]
    gaps = [n for n in gaps if not _MARKED.fullmatch(" ".join(item.text for item in line[:n]).strip())]
    flat = max(item.y for item in line) - min(item.y for item in line) < line[0].height / 2
    if not gaps or not flat or _size(items) > known.body:
        yield block
    elif len(gaps) > 1:
        yield _paragraph(block)
    else:
        cut = gaps[0]
        yield replace(block, text=" ".join(item.text for item in line[:cut]))
        yield _paragraph(replace(block, text=" ".join(item.text for item in line[cut:])))


def _is_heading(block: Any, items: Sequence[Any], known: Letters) -> bool:
    """Whether a short paragraph has the letters of a heading, or larger ones than any text."""
    text, styles = block.text or "", {_style([item]) for item in items}
    if len(text) > SHORT or not re.search(r"[^\W\d_]", text):
        return False
    large = _size(items) >= LARGE * known.body and not text.rstrip().endswith(".")
    return large or (len(styles) == 1 and bool(styles & known.styles))


def _told(block: Any, below: Any, known: Letters, page: Any) -> Any:
    """A heading no larger than the text is none where it is a label of what follows, or the first line of a
    paragraph.
    """
    if block.kind != "heading" or _size(_items(block, page)) > known.body:
        return block
    text = (block.text or "").rstrip()
    begins = below is not None and below.kind == "paragraph" and (below.text or "")[:1].islower()
    if text.endswith(":") or not re.search(r"[^\W\d_]", text) or begins:
        return _paragraph(block)
    return block


def _joined(blocks: Iterable[Any], page: Any) -> Iterator[Any]:
    """The blocks, where a heading of several lines is one."""
    last: Any = None
    for block in blocks:
        if last is not None and _goes_on(last, block, page):
            last = replace(last, text=f"{last.text} {block.text}", bbox=block.bbox)
            continue
        if last is not None:
            yield last
        last = block
    if last is not None:
        yield last


def _goes_on(above: Any, below: Any, page: Any) -> bool:
    if not (above.kind == below.kind == "heading" and above.level == below.level):
        return False
    a, b = box_of(above), box_of(below)
    high = _size(_items(below, page))
    return 0 <= b.top - a.bottom <= TIGHT * high and not _MARKED.fullmatch((below.text or "").split(" ")[0])


def _paragraph(block: Any) -> Any:
    return replace(block, kind="paragraph", level=None)


def _items(block: Any, page: Any) -> list[Any]:
    return inside(page.text_items, box_of(block))


def _size(items: Sequence[Any]) -> float:
    style = _style(items)
    return style[1] if style else 0.0


def _style(items: Iterable[Any]) -> Style | None:
    """The font and the size that most letters have."""
    styles = Counter[Style]()
    for item in items:
        size = item.font_size if (item.font_size or 0) > 3 else item.height
        styles[_SUBSET.sub("", str(item.font_name)), round(size)] += len(item.text.strip())
    return styles.most_common(1)[0][0] if styles else None
