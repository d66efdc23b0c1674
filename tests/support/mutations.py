"""A seeded mutator of office files: parts of real ones are exchanged, doubled, emptied or given impossible values."""

from __future__ import annotations

import io
import random
import re
import zipfile
from collections.abc import Callable, Iterator, Mapping
from functools import cache

from tests.support import uploads

EXTREMES = [
    b"",
    b"0",
    b"-1",
    b"1",
    b"2147483648",
    b"-99999999999999999999",
    b"1e308",
    b"NaN",
    b"true",
    b"99999",
    b"\xc2\xbd",
    b"&#0;",
    b"&amp;",
    b"../../x",
    b"rId1",
    b"Heading1",
    b"\xed\xa0\x80",
    b"x" * 3000,
    b"A1:XFD1048576",
    b"2026-13-45",
    b"#REF!",
    b"\xe2\x80\xae",
    b"&#xD800;",
    b"0.0.0",
    b"\xf0\x9d\x9f\x98",
]
_TOKENS: Mapping[str, re.Pattern[bytes]] = {
    "xml": re.compile(rb"<[^<>]{1,400}>"),
    "pdf": re.compile(rb"\d+ \d+ R|/[A-Za-z0-9]+|[-\d.]+|<<|>>|\[|\]|\([^()]*\)|\b(?:Tj|Td|Tf|BT|ET|re|S|Do|cm|q|Q)\b"),
}
_TIME = re.compile(rb"20\d\d-\d\d-\d\dT\d\d:\d\d:\d\dZ")
_VALUES: Mapping[str, re.Pattern[bytes]] = {
    "xml": re.compile(rb'(?<==")[^"<>]*(?=")|(?<=>)[^<>]+(?=<)'),
    "pdf": re.compile(rb"(?<= )-?\d+(?:\.\d+)?(?= )"),
}


def _docx() -> bytes:
    return uploads.rich_docx(rules=("Close the door.", "Tell dispatch."))


@cache
def sources(suffix: str) -> tuple[bytes, ...]:
    """Small real files of a kind."""
    makers: Mapping[str, tuple[Callable[[], bytes], ...]] = {
        ".docx": (uploads.docx, _docx),
        ".pptx": (uploads.pptx, rich_pptx),
        ".xlsx": (uploads.xlsx, rich_xlsx),
        ".html": (lambda: uploads.HTML, lambda: _PAGE),
        ".pdf": (uploads.pdf, uploads.mixed_pdf),
    }
    return tuple(timeless(make()) for make in makers[suffix])


def timeless(raw: bytes) -> bytes:
    """The same file whenever it is made: programs write the time into it, and every choice after that depends on its
    bytes.
    """
    if not raw.startswith(b"PK"):
        return raw
    with zipfile.ZipFile(io.BytesIO(raw)) as box:
        return uploads.zipped(
            {name: timeless(_TIME.sub(b"2026-01-02T03:04:05Z", box.read(name))) for name in box.namelist()}
        )


SUFFIXES = (".docx", ".pptx", ".xlsx", ".html", ".pdf")
_PAGE = (
    b"<html><body><nav>Menu</nav><h1>Docks</h1><h3>Doors</h3><ul><li>one<ol><li>two</li></ol></li></ul><blockquote><p>Quote</p></blockquote>"
    b"<table><caption>Hours</caption><tr><th rowspan=2>Site</th><th "
    b"colspan='2'>Hours</th></tr><tr><td>06</td><td>22<br>24</td></tr>"
    b"<tr><td>CMH2</td><td><table><tr><td>inner</td></tr></table></td><td>a|b</td></tr></table><pre><code "
    b"class='x'>let *a*;</code></pre>"
    b"<p>Text <b>bold <i>both</i></b> <a href='a.md#b' title='t'>link</a> <img "
    b"src='data:image/png;base64,iVBORw0KGgo=' alt='x|y'><img src='p.png'></p>"
    b"<dl><dt>Term</dt><dd>Words</dd></dl><svg><text>x</text></svg><p>&lt;script&gt; &amp;nbsp; 1 &lt; "
    b"2</p></body></html>"
)


def rich_pptx() -> bytes:
    """Levels, notes, a merged table, a picture and a chart."""
    from pptx import Presentation
    from pptx.chart.data import CategoryChartData
    from pptx.enum.chart import XL_CHART_TYPE
    from pptx.util import Inches

    show = Presentation()
    slide = show.slides.add_slide(show.slide_layouts[1])
    slide.shapes.title.text, body = "Dock safety", slide.placeholders[1].text_frame
    body.text = "Wear a vest"
    more = body.add_paragraph()
    more.text, more.level = "always", 1
    slide.notes_slide.notes_text_frame.text = "Show the vest."
    table = slide.shapes.add_table(2, 2, Inches(1), Inches(2), Inches(4), Inches(1)).table
    table.cell(0, 0).merge(table.cell(0, 1))
    slide.shapes.add_picture(io.BytesIO(uploads.png()), Inches(1), Inches(4))
    data = CategoryChartData()
    data.categories = ["May", "June"]
    data.add_series("Loads", (3, 4.5))
    slide.shapes.add_chart(XL_CHART_TYPE.COLUMN_CLUSTERED, Inches(5), Inches(4), Inches(3), Inches(2), data)
    box = io.BytesIO()
    show.save(box)
    return box.getvalue()


def rich_xlsx() -> bytes:
    """Dates, formats, formulas, merged cells, a comment, a hidden sheet, a picture and a chart."""
    import datetime as dt

    import openpyxl
    from openpyxl.chart import BarChart, Reference
    from openpyxl.comments import Comment
    from openpyxl.drawing.image import Image

    book = openpyxl.Workbook()
    sheet = book.active
    for row in (
        ("Limits of 2026",),
        ("Role", "Limit", "From"),
        ("Manager", 5000.5, dt.date(2026, 1, 2)),
        ("Director", "=B3*2", 0.25),
    ):
        sheet.append(row)
    sheet["B3"].number_format, sheet["C4"].number_format = "#,##0.00 [$€-407]", "0.0%"
    sheet["A3"].comment = Comment("Ask finance", "Ann")
    sheet.merge_cells("A1:C1")
    sheet.add_image(Image(io.BytesIO(uploads.png())), "E2")
    chart = BarChart()
    chart.add_data(Reference(sheet, min_col=2, min_row=2, max_row=4), titles_from_data=True)
    sheet.add_chart(chart, "E8")
    book.create_sheet("Old").sheet_state = "hidden"
    box = io.BytesIO()
    book.save(box)
    return box.getvalue()


def mutated(r: random.Random, suffix: str) -> bytes:
    """A file with some parts changed: inside its archive where it is one, so that the readers get to see them."""
    raw = r.choice(sources(suffix))
    if suffix in (".html", ".pdf") or r.random() < 0.05:
        return bent(r, raw, "pdf" if suffix == ".pdf" else "xml")
    with zipfile.ZipFile(io.BytesIO(raw)) as box:
        parts: dict[str, bytes | str] = {name: box.read(name) for name in box.namelist()}
    names = [name for name in parts if not name.startswith(("ppt/slideLayouts/", "ppt/slideMasters/", "ppt/theme/"))]
    for _ in range(r.choice([1, 1, 2, 4])):
        name, other = r.choice(names), r.choice(names)
        change = r.random()
        if change < 0.04:
            parts.pop(name, None)
        elif change < 0.08:
            parts[name] = parts.get(other, b"")
        elif name in parts:
            parts[name] = bent(r, bytes(parts[name]), "xml")  # type: ignore[arg-type]
    return uploads.zipped(parts)


def bent(r: random.Random, raw: bytes, kind: str) -> bytes:
    """Some bytes, tokens or values exchanged."""
    for _ in range(r.choice([1, 1, 2, 3, 8])):
        raw = r.choice([_bytes, _token, _token, _value, _value, _value])(r, raw, kind) or raw
    return raw


def _bytes(r: random.Random, raw: bytes, kind: str) -> bytes:
    at = r.randrange(len(raw) or 1)
    return (
        raw[:at]
        + r.choice([b"", r.randbytes(1), r.randbytes(9), b"<", b">", b'"'])
        + raw[at + r.choice([0, 1, 1, 40]) :]
    )


def _token(r: random.Random, raw: bytes, kind: str) -> bytes:
    """A token doubled, dropped, moved or put in place of another."""
    found = list(_TOKENS[kind].finditer(raw))
    if not found:
        return raw
    first, second = r.choice(found), r.choice(found)
    new = r.choice(
        [
            b"",
            first[0] * 2,
            second[0],
            first[0] * r.choice([3, 400]),
            raw[min(first.start(), second.start()) : max(first.end(), second.end())],
        ]
    )
    return raw[: first.start()] + new + raw[first.end() :]


def _value(r: random.Random, raw: bytes, kind: str) -> bytes:
    found = list(_VALUES[kind].finditer(raw))
    if not found:
        return raw
    value = r.choice(found)
    return raw[: value.start()] + r.choice([*EXTREMES, r.choice(found)[0]]) + raw[value.end() :]


def mutations(count: int, seed: int) -> Iterator[tuple[str, bytes]]:
    """So many files, the formats in turn."""
    for n in range(count):
        suffix = SUFFIXES[n % len(SUFFIXES)]
        yield suffix, mutated(random.Random(f"{seed} {n}"), suffix)
