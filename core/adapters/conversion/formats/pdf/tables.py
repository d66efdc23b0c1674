"""Tables of a PDF page that have ruling lines, laid over the blocks that were guessed from gaps."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from core.adapters.conversion.formats.pdf.listed_rows import lines_of

KEPT = 0.9  # the share of words under a ruled table that it must hold to take their place
INSIDE = 0.5  # the share of a block that lies inside a table to belong to it
_NUMBER = re.compile(r"[-+$€£(]?\d[\d.,]*[%).]?")
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
    """A table on a page: its cells, and whether its columns were guessed from gaps."""

    box: Box
    rows: tuple[tuple[str, ...], ...]
    guessed: bool = False
    merged: int = 0

    @property
    def words(self) -> Counter[str]:
        return words(" ".join(cell for row in self.rows for cell in row))


def words(text: str) -> Counter[str]:
    """The words of a text, without their marks.

    >>> words("Dock | dock **14**")
    Counter({'dock': 2, '14': 1})
    """
    return Counter(re.findall(r"\w+", text.casefold()))


def ruled(page: Any) -> list[PdfTable]:
    """The tables of a pdfplumber page whose lines are drawn."""
    tables = (_table(table) for table in page.find_tables())
    return [table for table in tables if len(table.rows) > 1 and len(table.rows[0]) > 1 and _filled(table.rows) > 1]


def _filled(rows: Sequence[Sequence[str]]) -> int:
    """How many columns hold words."""
    return sum(any(cells) for cells in zip(*rows, strict=True))


def _table(found: Any) -> PdfTable:
    cells = found.extract()
    rows = [line for row, place in zip(cells, found.rows, strict=True) for line in _rows(row, found, place)]
    merged = sum(cell is None for row in cells for cell in row)
    kept = [tuple(row) for row in rows if any(row)]
    return PdfTable(Box(*found.bbox), tuple(kept), merged=merged)


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


def laid_over(blocks: Sequence[Any], tables: Iterable[PdfTable]) -> Iterator[Any]:
    """The blocks in order, where those under a ruled table give way to it, unless it would lose their words."""
    under: dict[int, PdfTable] = {}
    for table in tables:
        covered = [n for n, block in enumerate(blocks) if n not in under and box_of(block).share_in(table.box) > INSIDE]
        said = sum((words(text_of(blocks[n])) for n in covered), Counter())
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


# ---------------------------------------------------------------- rows that were taken for prose

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
        return cls(box_of(block), bands, heights, [[cell.text for cell in line] + [""] * (wide - len(line)) for line in lines])  # fmt: skip

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
        reached = [n for n, (left, right) in enumerate(self.bands) if min(right, item.x + item.width) - max(left, item.x) > TOUCH]  # fmt: skip
        return reached[0] if len(reached) == 1 else None

    def grow(self, lines: Sequence[Sequence[Any]], box: Box, way: int) -> bool:
        """Add lines below the table, each that fills two columns or is a number as a row; or above it, all as its head."""
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
