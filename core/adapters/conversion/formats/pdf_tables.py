"""Tables of a PDF page that have ruling lines, laid over the blocks that were guessed from gaps."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

KEPT = 0.9  # the share of words under a ruled table that it must hold to take their place
INSIDE = 0.5  # the share of a block that lies inside a table to belong to it


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
    rows = [[_cell(cell) for cell in row] for row in cells]
    merged = sum(cell is None for row in cells for cell in row)
    kept = [tuple(row) for row in rows if any(row)]
    return PdfTable(Box(*found.bbox), tuple(kept), merged=merged)


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
