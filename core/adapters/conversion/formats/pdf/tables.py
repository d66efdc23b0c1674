"""Tables and framed text of a PDF page that have ruling lines, laid over the blocks that were guessed from gaps."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

from core.adapters.conversion.formats.pdf.listed_rows import lines_of

KEPT = 0.9  # the share of words under a ruled table that it must hold to take their place
INSIDE = 0.5  # the share of a block that lies inside a table to belong to it
_NUMBER = re.compile(r"[-+$€£(]?\d[\d.,]*[%).]?")
GAP = 1.2  # times its height between two lines of two paragraphs
TOUCH = 1.0  # points that words reach into a column to stand in it


@dataclass(frozen=True)
class Box:
    """A region of a page in points, from its upper left corner."""

    left: float
    top: float
    right: float
    bottom: float

    def share_in(self, other: Box) -> float:
        """How much of this box lies inside another one.

        >>> Box(0, 0, 10, 10).share_in(Box(5, 0, 20, 10))
        0.5
        """
        wide = min(self.right, other.right) - max(self.left, other.left)
        high = min(self.bottom, other.bottom) - max(self.top, other.top)
        area = (self.right - self.left) * (self.bottom - self.top)
        return max(wide, 0) * max(high, 0) / area if area else 0.0


@dataclass(frozen=True)
class PdfTable:
    """A table on a page, with its caption and notes; or a frame around text, which has no rows and its text `above`."""

    box: Box
    rows: tuple[tuple[str, ...], ...]
    guessed: bool = False
    merged: int = 0
    above: tuple[str, ...] = ()
    below: tuple[str, ...] = ()

    @property
    def words(self) -> Counter[str]:
        return words(" ".join([*self.above, *(cell for row in self.rows for cell in row), *self.below]))


def words(text: str) -> Counter[str]:
    """The words of a text, without their marks.

    >>> words("Dock | dock **14**")
    Counter({'dock': 2, '14': 1})
    """
    return Counter(re.findall(r"\w+", text.casefold()))


def ruled(page: Any) -> list[PdfTable]:
    """The tables and the framed text of a pdfplumber page whose lines are drawn."""
    return [table for found in page.find_tables() if (table := _table(found))]


def _table(found: Any) -> PdfTable | None:
    """A table with words in two columns; a frame where no two cells with words share a row, as in a call-out box."""
    lines = [(cells, row) for cells, row in zip(found.extract(), found.rows, strict=True) if any(cells)]
    rows = [tuple(line) for cells, row in lines for line in _rows(cells, found, row)]
    if len(rows) < 2 or sum(any(column) for column in zip(*rows, strict=True)) < 2:
        return None
    box, texts = Box(*found.bbox), ["".join(filter(None, cells)) for cells, _ in lines]
    if all(sum(map(bool, cells)) <= 1 for cells in rows):
        return PdfTable(box, (), above=tuple(texts))
    wide = box.right - box.left - 2 * TOUCH
    spans = [sum(map(bool, row.cells)) == 1 and row.bbox[2] - row.bbox[0] > wide for _, row in lines]
    start, end = spans.index(False), len(lines) - (spans[-1] and "\n" in texts[-1])
    if any(_NUMBER.fullmatch(cell) for cell in rows[start]):  # a label of rows, whose header is a page before
        start = 0
    merged = sum(cell is None for cells, _ in lines[start:end] for cell in cells)
    kept = tuple(rows[start : len(rows) - len(lines) + end])
    return PdfTable(box, kept, merged=merged, above=tuple(texts[:start]), below=tuple(texts[end:]))


def _rows(cells: Sequence[str | None], found: Any, place: Any) -> list[list[str]]:
    """A row; or its lines, where they are names in the first column and numbers in another."""
    whole = [_cell(cell) for cell in cells]
    if not any(_listed(cell) for cell in cells[1:]):
        return [whole]
    lines = lines_of(found, place)
    return lines if lines and all(line[0] for line in lines) else [whole]


def _listed(text: str | None) -> bool:
    """Whether a cell has several lines that are all numbers.

    >>> _listed("1,530\\n1,253"), _listed("12\\ndoors"), _listed("12")
    (True, False, False)
    """
    lines = (text or "").split("\n")
    return len(lines) > 1 and all(_NUMBER.fullmatch(line.strip()) for line in lines)


def _cell(text: str | None) -> str:
    """The lines of a cell as one; items of a list keep their own.

    >>> _cell("Wear:\\n• a vest\\n• shoes\\nwith caps")
    'Wear:<br>• a vest<br>• shoes with caps'
    """
    lines = (" ".join(line.split()) for line in (text or "").split("\n"))
    return re.sub(r" (?=• |\(?\d{1,2}[.)] )", "<br>", " ".join(line for line in lines if line)) if text else ""


def laid_over(blocks: Sequence[Any], tables: Iterable[PdfTable], items: Sequence[Any]) -> Iterator[Any]:
    """The blocks in order, where those under a ruled table give way to it, unless it would lose words of the page."""
    under: dict[int, PdfTable] = {}
    for table in tables:
        covered = [n for n, block in enumerate(blocks) if n not in under and box_of(block).share_in(table.box) > INSIDE]
        shown = [item.text for item in items if any(_place(item).share_in(box_of(blocks[n])) > INSIDE for n in covered)]
        said = words(" ".join(shown))
        if covered and sum((said - table.words).values()) <= (1 - KEPT) * sum(said.values()):
            under |= dict.fromkeys(covered, table)
    written: list[PdfTable] = []
    for n, block in enumerate(blocks):
        if n not in under:
            yield block
        elif under[n] not in written:
            written.append(under[n])
            yield under[n]


def box_of(block: Any) -> Box:
    """Where a block of liteparse stands; an empty box where it does not say."""
    if isinstance(block, PdfTable):
        return block.box
    box = block.bbox
    return Box(box.x, box.y, box.x + box.width, box.y + box.height) if box else Box(0, 0, 0, 0)


def text_of(block: Any) -> str:
    """All words of a block of liteparse."""
    cells = [*(block.header or ()), *(cell for row in block.rows or () for cell in row)]
    return " ".join([block.text or "", *(block.lines or ()), *(cell.text for cell in cells)])


# ---------------------------------------------------------------- prose that was taken for rows, and rows for prose


def unframed(blocks: Iterable[Any], items: Sequence[Any]) -> Iterator[Any]:
    """The blocks, where a guessed table is paragraphs if more of its lines run on over its one border than stop
    there.
    """
    for block in blocks:
        rows = [row for row in (block.header, *(block.rows or ())) if row] if block.kind == "table" else []
        tops = [row[0].bbox.y for row in rows if row[0].bbox]
        own = [item for item in inside(items, box_of(block)) if tops and item.y + item.height > min(tops)]
        lines = [sorted(line, key=lambda item: item.x) for line in _lines(own)]
        yield from _paragraphs(block, tops, lines) if _runs_on(rows, lines) else [block]


def _runs_on(rows: Sequence[Sequence[Any]], lines: Sequence[Sequence[Any]]) -> bool:
    border = _span((row[1] for row in rows if len(row) == 2), lambda box: (box.x, box.x))
    if border is None or max(map(len, rows)) > 2:
        return False
    over = sum(any(item.x + TOUCH < border[0] < item.x + item.width - TOUCH for item in line) for line in lines)
    return bool(over > sum(line[0].x + TOUCH < border[0] <= line[-1].x + TOUCH for line in lines))


def _paragraphs(block: Any, tops: Sequence[float], lines: Sequence[Sequence[Any]]) -> Iterator[Any]:
    """The lines of a block as paragraphs, which end at a row of it or at a gap between lines."""
    parts: list[list[Any]] = []
    for line in lines:
        last = _place(parts[-1][-1]) if parts else Box(0, 0, 0, 0)
        apart = line[0].y - last.bottom > GAP * line[0].height
        if not parts or apart or any(last.top < top - TOUCH <= line[0].y for top in tops):
            parts.append([])
        parts[-1] += line
    for part in parts:
        x, y = min(item.x for item in part), min(item.y for item in part)
        wide, high = max(item.x + item.width for item in part) - x, max(item.y + item.height for item in part) - y
        place, text = replace(block.bbox, x=x, y=y, width=wide, height=high), " ".join(item.text for item in part)
        yield replace(block, kind="paragraph", text=text, bbox=place, header=None, rows=None, bold=False, italic=False)


Band = tuple[float, float]


def gathered(blocks: Iterable[Any], items: Sequence[Any]) -> list[Any]:
    """The blocks of a page, where lines around and inside a guessed table that stand in its columns are rows of it."""
    found = list(blocks)
    for block in [each for each in found if not isinstance(each, PdfTable) and each.kind == "table"]:
        if grid := _Grid.of(block):
            n = found.index(block)
            below = list(_spilled(grid, found[n + 1 :], items, 1))
            above = list(_spilled(grid, found[n - 1 :: -1] if n else [], items, -1))
            loose = [each for each in found if _loose(each) and box_of(each).share_in(grid.box) > 1 - INSIDE]
            taken = [each for each in loose if each not in below + above and grid.fill(inside(items, box_of(each)))]
            if below or above or taken:
                found[n] = grid.table
                found = [each for each in found if not any(each is one for one in below + above + taken)]
    return found


def _loose(block: Any) -> bool:
    return not isinstance(block, PdfTable) and block.kind in ("paragraph", "heading")


def _spilled(grid: _Grid, near: Iterable[Any], items: Sequence[Any], way: int) -> Iterator[Any]:
    """The blocks next to a table, downwards or upwards, that stand in its columns; each is added to it."""
    for block in near:
        if not isinstance(block, PdfTable) and block.kind == "rule":
            continue
        numbered = way < 0 and _NUMBER.match((getattr(block, "text", "") or "").strip())
        headed = way > 0 and getattr(block, "kind", "") == "heading"
        if (
            headed
            or numbered
            or not _loose(block)
            or not grid.grow(_lines(inside(items, box_of(block))), box_of(block), way)
        ):
            return
        yield block


def inside(items: Iterable[Any], box: Box) -> list[Any]:
    """The words of a page that stand in a box."""
    return [item for item in items if item.text.strip() and _place(item).share_in(box) > INSIDE]


def _place(item: Any) -> Box:
    return Box(item.x, item.y, item.x + item.width, item.y + item.height)


def _lines(items: Iterable[Any]) -> list[list[Any]]:
    """Words that stand on one line, from the top."""
    lines: list[list[Any]] = []
    for item in sorted(items, key=lambda each: (each.y, each.x)):
        if lines and item.y < lines[-1][0].y + lines[-1][0].height / 2:
            lines[-1].append(item)
        else:
            lines.append([item])
    return lines


@dataclass
class _Grid:
    """A guessed table while rows are added to it."""

    box: Box
    bands: list[Band]
    heights: list[Band]
    rows: list[list[str]]

    @classmethod
    def of(cls, block: Any) -> _Grid | None:
        """Nothing where the columns overlap, or stand in one row alone."""
        lines = [line for line in (block.header, *(block.rows or ())) if line]
        wide = max(map(len, lines), default=0)
        bands = _bands(block.rows or (), wide)
        if wide < 2 or len(block.rows or ()) < 2 or bands is None:
            return None
        heights = [_span(line, lambda box: (box.y, box.y + box.height)) or (0.0, 0.0) for line in lines]
        return cls(
            box_of(block), bands, heights, [[cell.text for cell in line] + [""] * (wide - len(line)) for line in lines]
        )

    @property
    def table(self) -> PdfTable:
        return PdfTable(self.box, tuple(map(tuple, self.rows)), guessed=True)

    @property
    def pitch(self) -> float:
        """The largest step from one row to the next."""
        tops = [top for top, bottom in self.heights if bottom]
        return max((b - a for a, b in pairwise(tops)), default=0.0)

    def column(self, item: Any) -> int | None:
        """The one column that words stand in."""
        reached = [
            n
            for n, (left, right) in enumerate(self.bands)
            if min(right, item.x + item.width) - max(left, item.x) > TOUCH
        ]
        return reached[0] if len(reached) == 1 else None

    def grow(self, lines: Sequence[Sequence[Any]], box: Box, way: int) -> bool:
        """Add lines below the table, each that fills two columns or is a number as a row; or above it, all as its
        head.
        """
        gap = box.top - self.box.bottom if way > 0 else self.box.top - box.bottom
        placed = [[(self.column(item), item.text) for item in line] for line in lines]
        columns = [{column for column, _ in line} for line in placed]
        if not lines or gap > self.pitch or None in set().union(*columns) or max(map(len, columns)) < 2:
            return False
        rows: list[list[str]] = []
        for line, filled in zip(placed, columns, strict=True):
            if not rows or (way > 0 and (len(filled) > 1 or _NUMBER.fullmatch(line[0][1].strip()))):
                rows.append([""] * len(self.bands))
            for column, text in line:
                rows[-1][column or 0] = f"{rows[-1][column or 0]} {text}".strip()
        self.rows = [*self.rows, *rows] if way > 0 else [*rows, *self.rows]
        place = (box.top, box.bottom)
        self.heights = [*self.heights, *[place] * len(rows)] if way > 0 else [place, *self.heights]
        sides = min(self.box.left, box.left), min(self.box.top, box.top), max(self.box.right, box.right)
        self.box = Box(*sides, max(self.box.bottom, box.bottom))
        return True

    def fill(self, items: Sequence[Any]) -> bool:
        """Put words into the empty cells that they stand in; all of them, or none."""
        places = [(self._row(item), self.column(item)) for item in items]
        if not items or any(row is None or column is None or self.rows[row][column] for row, column in places):
            return False
        for item, (row, column) in zip(items, places, strict=True):
            if row is not None and column is not None:
                self.rows[row][column] = f"{self.rows[row][column]} {item.text}".strip()
        return True

    def _row(self, item: Any) -> int | None:
        middle = item.y + item.height / 2
        return next((n for n, (top, bottom) in enumerate(self.heights) if top <= middle <= bottom), None)


def _span(cells: Iterable[Any], side: Any) -> Band | None:
    sides = [side(cell.bbox) for cell in cells if cell.text.strip() and cell.bbox]
    return (min(a for a, _ in sides), max(b for _, b in sides)) if sides else None


def _bands(rows: Sequence[Sequence[Any]], wide: int) -> list[Band] | None:
    """From where to where each column goes; one without words lies between its neighbours. None where they overlap."""
    spans = [
        _span((row[n] for row in rows if n < len(row)), lambda box: (box.x, box.x + box.width)) for n in range(wide)
    ]
    known = [span for span in spans if span]
    if len(known) < 2 or any(a[1] > b[0] for a, b in pairwise(known)):
        return None
    bands: list[Band] = []
    for n, span in enumerate(spans):
        after = next((later[0] for later in spans[n + 1 :] if later), float("inf"))
        bands.append(span or (bands[-1][1] if bands else float("-inf"), after))
    return bands
