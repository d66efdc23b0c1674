"""Scanned pages read by OCR, where that is installed and switched on. What looks like a table is named, never taken
for text in silence.
"""

from __future__ import annotations

import importlib.util
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import groupby, pairwise
from statistics import median

from core.adapters.conversion.formats.markdown_table import line
from core.adapters.conversion.worker_pool import Limits, Overrun, WorkerPool
from core.curation.upload.conversions import OCR_TABLE, Conversion, PartFacts, Picture, ToCheck
from core.cures import install
from core.errors import Unavailable

PACKAGE = "rapidocr==3.10.0"
PAGES = 20  # of one file that are read; each takes some 5 to 10 seconds of computing
LIMITS = Limits(wall=300.0, cpu=110, memory=6 * 1024**3)
GAP = 0.6  # heights of a line between two words that stand in different columns; a line of prose comes in one piece
_ITEM = re.compile(r"([•·▪◦●-]|\d{1,2}[.)]) ?(?=\S)")


@dataclass(frozen=True)
class ReadLine:
    """Words that stand together on a page, in pixels."""

    left: float
    top: float
    right: float
    bottom: float
    text: str
    sure: float = 1.0

    @property
    def height(self) -> float:
        return self.bottom - self.top


class Ocr:
    """Reads the scanned pages of a conversion, one at a time."""

    def __init__(self, pool: WorkerPool) -> None:
        self.pool = pool

    def read(self, conversion: Conversion) -> Conversion:
        """The conversion with the words of its scanned pages below their pictures."""
        pictures = {picture.path: picture for picture in conversion.pictures}
        text, facts, tables = conversion.text, list(conversion.images), list[ToCheck]()
        scans = [(n, fact) for n, fact in enumerate(facts) if fact.scan][:PAGES]
        for n, fact in scans:
            shown = f"![Scanned page {fact.page}]"
            name = text.partition(f"{shown}(")[2].partition(")")[0]
            written, rows = page_text(self._lines(pictures[name])) if name in pictures else ("", [])
            if written:
                text = text.replace(f"{shown}({name})", f"{shown}({name})\n\n{written}", 1)
                facts[n] = PartFacts(fact.page, scan=True, guessed=True)
            tables += [ToCheck("table", row, fact.page, note=OCR_TABLE) for row in rows]
        return replace(conversion, text=text, images=tuple(facts), to_check=(*conversion.to_check, *tables))

    def _lines(self, picture: Picture) -> list[ReadLine]:
        """The words of one page; none where it took too long, and the page stays a picture."""
        try:
            return [ReadLine(*found) for found in self.pool.ask({}, picture.raw).get("lines", ())]
        except Overrun:
            return []

    def close(self) -> None:
        self.pool.close()


def installed() -> Ocr:
    """The reader of scanned pages, if its package is there."""
    if importlib.util.find_spec("rapidocr") is None:
        raise Unavailable("CONCORD_OCR is on, and no OCR is installed.", install(PACKAGE))
    return Ocr(WorkerPool("core.adapters.conversion.programs.ocr_worker", 1, LIMITS))


def page_text(found: Sequence[ReadLine]) -> tuple[str, list[str]]:
    """Paragraphs of a page from top to bottom, and the first row of whatever stands in columns.

    >>> rows = [
    ...     ReadLine(0, 0, 200, 10, "Opening hours"),
    ...     ReadLine(0, 40, 30, 50, "Site"),
    ...     ReadLine(90, 40, 120, 50, "Hours"),
    ...     ReadLine(0, 60, 30, 70, "CMH2"),
    ...     ReadLine(90, 60, 120, 70, "06 to 22"),
    ... ]
    >>> page_text(rows)
    ('Opening hours\\n\\nSite / Hours\\\\\\nCMH2 / 06 to 22', ['Site, Hours'])
    """
    rows = _rows(found)
    usual = median(row[0].height for row in rows) if rows else 0
    parts, tables = list[str](), list[str]()
    for columns, group in groupby(_marked(rows), key=lambda marked: marked[0]):
        lines = [row for _, row in group]
        if columns:
            tables.append(", ".join(cell.text for cell in lines[0]))
            parts.append("\\\n".join(" / ".join(line(cell.text) for cell in row) for row in lines))
        else:
            parts += _paragraphs(lines, usual)
    return "\n\n".join(parts), tables


def _rows(found: Sequence[ReadLine]) -> list[list[ReadLine]]:
    """Words beside each other as rows, from top to bottom."""
    rows: list[list[ReadLine]] = []
    for words in sorted(found, key=lambda words: words.top):
        if rows and words.top + words.height / 2 < rows[-1][0].bottom:
            rows[-1].append(words)
        else:
            rows.append([words])
    return [sorted(row, key=lambda words: words.left) for row in rows]


def _marked(rows: Sequence[list[ReadLine]]) -> list[tuple[bool, list[ReadLine]]]:
    """Each row, and whether it belongs to columns: it has gaps, or stands between two rows that have."""
    gaps = [any(b.left - a.right > GAP * a.height for a, b in pairwise(row)) for row in rows]
    between = [any(gaps[max(n - 1, 0) : n]) and any(gaps[n + 1 : n + 2]) for n in range(len(rows))]
    return [(gap or inside, row) for gap, inside, row in zip(gaps, between, rows, strict=True)]


def _paragraphs(rows: Sequence[list[ReadLine]], usual: float) -> list[str]:
    """Lines that stand close below each other as one paragraph; a mark or a number begins an item of a list."""
    parts: list[str] = []
    for n, row in enumerate(rows):
        words = " ".join(part.text for part in row)
        close = n and row[0].top - rows[n - 1][0].bottom < 0.7 * usual and not _ITEM.match(words)
        parts[-1:] = [f"{parts[-1]} {words}"] if close else [*parts[-1:], words]
    return [_item(part) if _ITEM.match(part) else line(part) for part in parts]


def _item(text: str) -> str:
    """An item of a list.

    >>> _item("•Wear a vest"), _item("2) Lock it")
    ('- Wear a vest', '2. Lock it')
    """
    mark = _ITEM.match(text)
    sign = mark[1] if mark else ""
    return f"{f'{sign[:-1]}.' if sign[:1].isdigit() else '-'} {line(text[len(sign) :])}"
