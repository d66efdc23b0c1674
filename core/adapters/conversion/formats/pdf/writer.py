"""Blocks of PDF pages as one Markdown text: sentences, lists and tables go on over the end of a page."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from core.adapters.conversion.formats.html_markdown import TakenPictures
from core.adapters.conversion.formats.pdf.tables import Box, PdfTable, box_of

BULLETS = "•◦▪▫‣⁃∙●○■□–\uf0b7\uf0a7\uf0d8\uf0fc\uf076\uf0a8"
CLOSE = 8.0  # points between two lines of one paragraph
_ITEM = re.compile(rf"\s*(?:[{BULLETS}]|o(?= ))\s*(.+)")
_EMPHASIS = re.compile(r"(?<![\w*\\])(\*{1,3})(?=[^\s*])([^*\n]+)(?<=[^\s*])\1(?![\w*])")
_LEADERS = re.compile(r"(?:\s*\.){5,}\s*")
_NUMBER = re.compile(r"\(?(\d{1,9})[.)]?")
_ENDED = re.compile(r"[.:;!?)\]»”\"]\W*$")


class PdfWriter:
    """The text so far, with the page and the doubts of each table and picture, in the order of the text."""

    def __init__(self) -> None:
        self.parts: list[tuple[str, str, int]] = []  # kind, Markdown, page
        self.tables: list[dict[str, Any]] = []
        self.images: list[dict[str, Any]] = []
        self.pictures = TakenPictures()
        self._begun: tuple[str, tuple[str, ...]] = "", ()  # of the last table: its caption and its header
        self._depth = -1
        self._plain, self._box = "", Box(0, 0, 0, 0)  # of the last paragraph: its text without emphasis, and its place

    def block(self, block: Any, page: int) -> None:
        """Write one block of liteparse, or a ruled table."""
        table = block if isinstance(block, PdfTable) else _guessed(block)
        if table is not None:
            lead, rows = _lead(table)
            if rows:
                self._table(replace(table, rows=rows, above=tuple(lead)), page)
            elif table.guessed:
                self._lines(lead, page)
            else:
                self._add("quote", "\n>\n".join(map(_quoted, lead)), page)
        elif block.kind == "heading":
            self._add("heading", f"{'#' * (block.level or 1)} {_inline(' '.join((block.text or '').split()))}", page)
        elif block.kind == "list_item":
            self._item(block.text, block.marker or "", block.level or 0, page)
        elif block.kind in ("code", "grid_fallback"):
            self._code(block.lines or (), page)
        elif block.kind == "paragraph" and (block.text or "").strip():
            self._paragraph(block, page)

    def _lines(self, lines: Iterable[str], page: int) -> None:
        for line in lines:
            self._add("paragraph", _line(line), page)

    def picture(self, drawn: tuple[bytes, str], page: int, scan: bool = False) -> None:
        """Keep a picture and show it here."""
        name = self.pictures.add(*drawn)
        if name:
            self.images.append({"page": page, "scan": scan})
            self._add("picture", f"![{f'Scanned page {page}' if scan else ''}]({name})", page)

    def answer(self) -> Mapping[str, Any]:
        text = ""
        for n, (kind, part) in enumerate(_levelled(self.parts)):
            tight = n and kind == "item" and self.parts[n - 1][0] == "item"
            text += ("\n" if tight else "\n\n") * bool(n) + part
        kept, lost = self.pictures.kept, self.pictures.left_out
        return {"text": text, "tables": self.tables, "images": self.images, "pictures": kept, "left_out": lost}

    def _add(self, kind: str, text: str, page: int) -> None:
        if kind != "item":
            self._depth = -1
        self._plain = ""
        self.parts.append((kind, text, page))

    def _paragraph(self, block: Any, page: int) -> None:
        if match := _ITEM.fullmatch(block.text):
            self._item(match[1], "•", self._depth + 1 if self._depth >= 0 else 0, page)
            return
        text = _line(block.text)
        if self._goes_on(text, block, page):
            kind, before, _ = self.parts.pop()
            self.parts.append((kind, f"{self._plain or before} {text}", page))
        else:
            mark = "" if "*" in text else "**" * block.bold or "*" * block.italic
            self._add("paragraph", f"{mark}{text}{mark}", page)
        self._plain, self._box = (text if self.parts[-1][1].strip("*") == text else ""), box_of(block)

    def _goes_on(self, text: str, block: Any, page: int) -> bool:
        """Whether a paragraph is the rest of the one before: cut off by the end of the page, or by another kind of
        letters.
        """
        if not self.parts or not text[:1].islower():
            return False
        kind, before, last = self.parts[-1]
        if kind not in ("paragraph", "item") or _ENDED.search(before.rstrip("*")):
            return False
        box = box_of(block)
        below = (
            kind == "paragraph" and 0 <= box.top - self._box.bottom < CLOSE and abs(box.left - self._box.left) < CLOSE
        )
        return last == page - 1 or (last == page and below)

    def _item(self, text: str, marker: str, level: int, page: int) -> None:
        self._depth = min(level, self._depth + 1)
        number = _NUMBER.fullmatch(marker.strip())
        mark = f"{number[1]}." if number else "-"
        named = (
            ""
            if number or not re.search(r"\w", marker.replace("o", "")) or "\uf000" <= marker[:1] <= "\uf8ff"
            else f"{marker.strip()} "
        )
        self._add("item", f"{'    ' * self._depth}{mark} {named}{_line(text)}", page)

    def _code(self, lines: Sequence[str], page: int) -> None:
        """Lines as they stand; circles that were taken for letters are items of a list."""
        items = [_ITEM.fullmatch(line) for line in lines]
        if all(items):
            under = self._depth + 1 if self._depth >= 0 else 0
            for item in items:
                self._item(item[1] if item else "", "•", under, page)
            return
        self._add("code", "\n".join(("```", *(line.replace("```", "'''") for line in lines), "```")), page)

    def _table(self, table: PdfTable, page: int) -> None:
        rows = [tuple(_in_cell(cell) for cell in row) for row in table.rows]
        caption = _in_cell(" ".join(table.above)) or rows[0][0] * (not any(rows[0][1:]))
        if self._same_table(caption, rows[0], page):
            kind, before, _ = self.parts.pop()
            again = rows[0] == self._begun[1] or not table.above
            self.parts.append((kind, "\n".join((before, *map(_row, rows[again:]))), page))
            self.tables[-1]["guessed"] |= table.guessed
            self.tables[-1]["merged"] += table.merged
        else:
            self._lines(table.above, page)
            self._begun = caption, rows[0]
            self.tables.append({"page": page, "guessed": table.guessed, "merged": table.merged})
            rule = "|" + " --- |" * len(rows[0])
            self._add("table", "\n".join((_row(rows[0]), rule, *map(_row, rows[1:]))), page)
        self._lines(table.below, page)

    def _same_table(self, caption: str, head: tuple[str, ...], page: int) -> bool:
        """Whether a table goes on from the page before: it repeats the header, or the caption."""
        before, first = self._begun
        same = (len(head) == len(first) and caption == before) if caption else head == first
        return same and bool(self.parts) and self.parts[-1][0] == "table" and self.parts[-1][2] == page - 1


def _levelled(parts: Sequence[tuple[str, str, int]]) -> Iterator[tuple[str, str]]:
    """The parts with headings that skip no level: sizes of letters, and then their numbers, tell an order."""
    opened: list[tuple[int, int]] = []
    for kind, part, _ in parts:
        if kind == "heading":
            words = part.lstrip("#")
            place = len(part) - len(words), _dots(words)
            opened = [*(above for above in opened if above < place), place]
            part = "#" * min(len(opened), 6) + words
        yield kind, part


def _dots(words: str) -> int:
    """How deep the number of a heading is.

    >>> _dots(" 3. Doors"), _dots(" 3.1 Keys"), _dots(" Lamps")
    (0, 1, 0)
    """
    number = re.match(r" (\d{1,3}(?:\.\d{1,3})*)\.?\s", words)
    return number[1].count(".") if number else 0


def _guessed(block: Any) -> PdfTable | None:
    """A table of liteparse, squared off; nothing where the block is none."""
    if block.kind != "table":
        return None
    lines = [line for line in (block.header, *(block.rows or ())) if line]
    wide = max(map(len, lines), default=0)
    rows = (tuple(cell.text for cell in line) for line in lines)
    return (
        PdfTable(box_of(block), tuple(row + ("",) * (wide - len(row)) for row in rows), guessed=True) if wide else None
    )


def _lead(table: PdfTable) -> tuple[list[str], tuple[tuple[str, ...], ...]]:
    """Lines above a guessed table that are no row of it, such as the last one of a paragraph; and its rows.

    >>> _lead(PdfTable(Box(0, 0, 1, 1), (("as follows:", ""), ("Site", "Hours"), ("CMH2", "6")), guessed=True))
    (['as follows:'], (('Site', 'Hours'), ('CMH2', '6')))
    """
    rows, lead = table.rows, list(table.above)
    while table.guessed and rows and sum(bool(cell.strip()) for cell in rows[0]) <= 1:
        lead.append(" ".join(rows[0]).strip())
        rows = rows[1:]
    return [line for line in lead if line], rows


def _quoted(text: str) -> str:
    """The text of a frame as a quotation; its lines stay where none goes on in lower case."""
    lines = text.split("\n")
    return "\\\n".join(f"> {_line(line)}" for line in ([text] if any(line[:1].islower() for line in lines) else lines))


def _row(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _in_cell(text: str) -> str:
    return _inline(" ".join(text.split())).replace("|", r"\|").replace(r"\<br>", "<br>")


def _line(text: str | None) -> str:
    """A text as one line that begins nothing else than a paragraph.

    >>> _line("2. of 3 <b> 5 * 6"), _line("# 4 and **all**")
    ('2\\\\. of 3 \\\\<b> 5 \\\\* 6', '\\\\# 4 and **all**')
    """
    line = _inline(" ".join((text or "").split()))
    line = re.sub(r"^(#{1,6}|[>+=-]+)(?=\s|$)", r"\\\1", line)
    return re.sub(r"^(\d{1,9})([.)])(?=\s|$)", r"\1\\\2", line)


def _inline(text: str) -> str:
    """Emphasis stays, other stars and angles are letters; the dots of a table of contents are one sign.

    >>> _inline("Naming . . . . . . . 4"), _inline("Wait... **now**")
    ('Naming … 4', 'Wait... **now**')
    """
    text, kept, end = _LEADERS.sub(" … ", text), "", 0
    for match in _EMPHASIS.finditer(text):
        kept += _escaped(text[end : match.start()]) + match[1] + _escaped(match[2]) + match[1]
        end = match.end()
    return kept + _escaped(text[end:])


def _escaped(text: str) -> str:
    return re.sub(r"<(?=[A-Za-z/!?])|(?<!\\)\*", r"\\\g<0>", text)
