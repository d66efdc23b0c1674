"""Excel files to Markdown: a section per sheet, a table per block of cells, values as the sheet shows them."""

from __future__ import annotations

import datetime as dt
import io
import re
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from core.adapters.conversion.formats.html_markdown import TakenPictures
from core.adapters.conversion.formats.markdown_table import TooLarge, line, table

MOST_CELLS = 300_000
_MERGED = re.compile(rb"""<(?:\w+:)?mergeCell\s[^>]*?ref\s*=\s*["']([A-Za-z]{1,3}\d{1,7}:[A-Za-z]{1,3}\d{1,7})["']""")
TYPES = {"png": "image/png", "jpeg": "image/jpeg", "jpg": "image/jpeg", "gif": "image/gif", "webp": "image/webp"}
Grid = list[list[str]]


def convert(raw: bytes) -> Mapping[str, Any]:
    """The text, and what to look at: merged cells, hidden sheets, charts, formulas that were never computed."""
    shown, written = (_workbook(raw, values) for values in (True, False))
    answer: dict[str, Any] = {"parts": [], "tables": [], "images": [], "facts": []}
    pictures = TakenPictures()
    visible = [sheet for sheet in shown.worksheets if sheet.sheet_state == "visible"]
    for number, sheet in enumerate(shown.worksheets, 1):
        if sheet in visible:
            _section(sheet, number, len(visible) > 1, pictures, answer)
            answer["facts"] += _doubts(sheet, written[sheet.title], number)
        else:
            answer["facts"].append({"kind": "hidden", "page": number, "words": sheet.title})
    lone = visible[0].title if len(visible) == 1 and not re.fullmatch(r"\D{1,12} ?\d{1,3}", visible[0].title) else ""
    text = "\n\n".join(answer.pop("parts"))
    return {
        **answer,
        "text": text,
        "title": shown.properties.title or lone,
        "pictures": pictures.kept,
        "left_out": pictures.left_out,
    }


def _workbook(raw: bytes, values: bool) -> Any:
    """The file, opened. Merged cells become an object each then, however little of them is written in it."""
    import openpyxl
    from openpyxl.utils.cell import range_boundaries

    with zipfile.ZipFile(io.BytesIO(raw)) as parts:
        texts = (parts.read(name) for name in parts.namelist() if name.endswith(".xml"))
        found = [match.decode() for text in texts for match in _MERGED.findall(text)]
    sides = map(range_boundaries, found)
    if sum((right - left + 1) * (bottom - top + 1) for left, top, right, bottom in sides) > MOST_CELLS:
        raise TooLarge(f"a sheet has room for more than {MOST_CELLS:,} cells")
    return openpyxl.load_workbook(io.BytesIO(raw), data_only=values)


def _section(sheet: Any, number: int, named: bool, pictures: TakenPictures, answer: dict[str, Any]) -> None:
    """One sheet: its blocks and pictures from top to bottom, then its comments."""
    grid, images, parts = _grid(sheet), _pictures(sheet, pictures), answer["parts"]
    answer["images"] += [{"page": number}] * len(images)
    if named and (images or any(any(row) for row in grid)):
        parts.append(f"## {line(sheet.title)}")
    for row, block in _blocks(grid):
        above = [name for place, name in images if place < row]
        images = images[len(above) :]
        parts += (*above, *_written(block, number, answer["tables"], _merged(sheet)))
    parts += (*(name for _, name in images), *_comments(sheet))


def _grid(sheet: Any) -> Grid:
    if sheet.max_row * sheet.max_column > MOST_CELLS:
        raise TooLarge(f"a sheet has room for more than {MOST_CELLS:,} cells")
    return [[shown_value(cell.value, cell.number_format) for cell in row] for row in sheet.iter_rows()]


def _blocks(grid: Grid) -> Iterator[tuple[int, Grid]]:
    """Rows between empty rows, each block with its first row, without the columns that are empty beside it."""
    block: Grid = []
    for number, row in enumerate([*grid, []]):
        if any(row):
            block.append(row)
        elif block:
            used = [n for n in range(len(block[0])) if any(cells[n] for cells in block)]
            yield number - len(block), [[cells[n] for n in range(used[0], used[-1] + 1)] for cells in block]
            block = []


def _written(block: Grid, number: int, tables: list[dict[str, Any]], merged: int) -> Iterator[str]:
    """A block as lines of text above a table: a row with one cell alone is a title or a remark, a row alone is a
    line.
    """
    rows = list(block)
    while rows and sum(map(bool, rows[0])) == 1 and (len(rows) == 1 or len(rows[0]) > 1):
        yield line(next(filter(None, rows.pop(0))))
    if rows and len(rows[0]) == 1:
        yield "\n".join(f"- {line(row[0])}" for row in rows)
    elif len(rows) == 1:
        first, *rest = filter(None, rows[0])
        yield line(f"{first}: {', '.join(rest)}")
    elif rows:
        tables.append({"page": number, "merged": merged if not any(one["page"] == number for one in tables) else 0})
        yield table(rows)


def _merged(sheet: Any) -> int:
    return len(sheet.merged_cells.ranges)


def _comments(sheet: Any) -> Iterator[str]:
    """Comments at cells, as a list below the tables."""
    cells = (cell for row in sheet.iter_rows() for cell in row if getattr(cell, "comment", None))
    found = [f"- {cell.coordinate}: {line(cell.comment.text)}" for cell in cells]
    if found:
        yield "Comments:\n\n" + "\n".join(found)


def _pictures(sheet: Any, pictures: TakenPictures) -> list[tuple[int, str]]:
    """The row of each picture, and the Markdown that shows it, from top to bottom."""
    images = sorted(getattr(sheet, "_images", ()), key=_row_of)
    named = [
        (_row_of(image), pictures.add(image._data(), TYPES.get(str(image.format).lower(), ""))) for image in images
    ]
    return [(row, f"![]({name})") for row, name in named if name]


def _row_of(image: Any) -> int:
    place = getattr(image.anchor, "_from", None)
    return int(place.row) if place is not None else 0


def _doubts(sheet: Any, written: Any, number: int) -> Iterator[dict[str, Any]]:
    """What a sheet shows in its own program and the text does not."""
    for chart in getattr(sheet, "_charts", ()):
        yield {"kind": "chart", "page": number, "words": type(chart).__name__}
    empty = (
        cell.coordinate
        for row in written.iter_rows()
        for cell in row
        if cell.data_type == "f" and sheet[cell.coordinate].value is None
    )
    if places := list(empty):
        yield {"kind": "formula", "page": number, "words": ", ".join(places[:8])}


def shown_value(value: Any, form: str = "General") -> str:
    """A value as a sheet shows it, with dates as year, month, day.

    >>> shown_value(0.25, "0%"), shown_value(1500.5, "#,##0.00 €"), shown_value(dt.datetime(2026, 1, 2), "dd.mm.yyyy")
    ('25%', '1,500.50 €', '2026-01-02')
    >>> shown_value(0.1 + 0.2), shown_value(5000), shown_value(None), shown_value(True)
    ('0.3', '5000', '', 'TRUE')
    """
    if value is None:
        return ""
    if isinstance(value, bool):
        return str(value).upper()
    if isinstance(value, dt.datetime):
        return value.date().isoformat() if value.time() == dt.time() else value.isoformat(" ", "minutes")
    if isinstance(value, dt.time):
        return value.isoformat("minutes")
    if isinstance(value, dt.timedelta):
        minutes = round(value.total_seconds() / 60)
        return f"{minutes // 60}:{minutes % 60:02}"
    return _number(value, form) if isinstance(value, int | float) else str(value).strip()


def _number(value: float, form: str) -> str:
    """A number with the decimals, the separators and the unit of its format."""
    first = re.split(r";", form or "General")[0]
    unit = re.sub(r"\[\$([^\]-]*)[^\]]*\]", r'"\1"', first)
    unit = re.sub(r"\[[^\]]*\]|_.|\*.", "", unit)
    match = re.search(r"[#0?][#0?,]*(?:\.([#0?]+))?%?", unit)
    if match is None or "E" in unit.upper().replace("GENERAL", ""):
        return f"{value:.10g}"
    shown = value * 100 if "%" in match[0] else value
    decimals = len(match[1] or "")
    number = f"{shown:{',' if ',' in match[0] else ''}.{decimals}f}" + "%" * ("%" in match[0])
    before, after = (_literal(part) for part in (unit[: match.start()], unit[match.end() :]))
    return f"{before}{number}{after}"


def _literal(text: str) -> str:
    return re.sub(r'["\\]', "", text)


def sheet_nodes(raw: bytes, number: int) -> tuple[list[Any], int]:
    """One sheet as a table to draw, and how many sheets there are."""
    sheets = _workbook(raw, True).worksheets
    sheet = sheets[min(max(number, 1), len(sheets)) - 1]
    rows: Sequence[Sequence[str]] = [row for row in _grid(sheet) if any(row)][:500]
    cells = [["tr", {}, [["td", {}, [cell]] for cell in row]] for row in rows]
    return [["h4", {}, [sheet.title]], ["table", {}, [["tbody", {}, cells]]]], len(sheets)
