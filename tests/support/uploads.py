"""Small real files of other programs, and zips that mean harm."""

from __future__ import annotations

import io
import struct
import zipfile
import zlib
from collections.abc import Mapping
from dataclasses import dataclass, field

from core.access import Actor
from core.services.reviews.changes import ChangeBasis


def zipped(files: Mapping[str, bytes | str], **options: int) -> bytes:
    """A zip of a folder tree, the same whenever it is made."""
    box = io.BytesIO()
    with zipfile.ZipFile(box, "w", zipfile.ZIP_DEFLATED, **options) as archive:
        for name, raw in files.items():
            archive.writestr(zipfile.ZipInfo(name), raw, zipfile.ZIP_DEFLATED)
    return box.getvalue()


def link_zip() -> bytes:
    """A zip with a symbolic link that leads out."""
    box = io.BytesIO()
    with zipfile.ZipFile(box, "w") as archive:
        info = zipfile.ZipInfo("it/passwd.md")
        info.external_attr = 0o120777 << 16
        archive.writestr(info, "/etc/passwd")
        archive.writestr("it/good.md", "# Good\n\nText.\n")
    return box.getvalue()


def locked_zip() -> bytes:
    """A zip whose one file claims to be encrypted."""
    raw = bytearray(zipped({"a.md": "# A\n\nText.\n"}))
    for mark, at in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        raw[raw.index(mark) + at] |= 1
    return bytes(raw)


def crowded_zip(claimed: int) -> bytes:
    """A zip whose list of names claims to be huge."""
    raw = bytearray(zipped({"a.md": "# A\n"}))
    struct.pack_into("<I", raw, raw.rindex(b"PK\x05\x06") + 12, claimed)
    return bytes(raw)


def docx(
    title: str = "Badge policy", rows: tuple[tuple[str, str], ...] = (("Site", "Hours"), ("CMH2", "06 to 22"))
) -> bytes:
    """The smallest Word file with a heading, a paragraph and a table."""
    word = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
    cells = "".join(
        "<w:tr>" + "".join(f"<w:tc><w:p><w:r><w:t>{cell}</w:t></w:r></w:p></w:tc>" for cell in row) + "</w:tr>"
        for row in rows
    )
    body = (
        f'<w:p><w:pPr><w:pStyle w:val="Heading1"/></w:pPr><w:r><w:t>{title}</w:t></w:r></w:p>'
        f"<w:p><w:r><w:t>Report a lost badge within 2 hours.</w:t></w:r></w:p><w:tbl>{cells}</w:tbl>"
    )
    types = "http://schemas.openxmlformats.org/package/2006/content-types"
    office = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
    main = "application/vnd.openxmlformats-officedocument.wordprocessingml"
    return zipped(
        {
            "[Content_Types].xml": f'<Types xmlns="{types}"><Default Extension="xml" ContentType="application/xml"/>'
            '<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
            f'<Override PartName="/word/document.xml" ContentType="{main}.document.main+xml"/>'
            f'<Override PartName="/word/styles.xml" ContentType="{main}.styles+xml"/></Types>',
            "_rels/.rels": '<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">'
            f'<Relationship Id="r1" Type="{office}/officeDocument" Target="word/document.xml"/></Relationships>',
            "word/_rels/document.xml.rels": "<Relationships "
            'xmlns="http://schemas.openxmlformats.org/package/2006/relationships">'
            f'<Relationship Id="r1" Type="{office}/styles" Target="styles.xml"/></Relationships>',
            "word/styles.xml": f'<w:styles xmlns:w="{word}"><w:style w:type="paragraph" w:styleId="Heading1"><w:name '
            'w:val="heading 1"/></w:style></w:styles>',
            "word/document.xml": f'<w:document xmlns:w="{word}"><w:body>{body}</w:body></w:document>',
        }
    )


def xlsx() -> bytes:
    """A sheet with two columns."""
    import openpyxl

    book = openpyxl.Workbook()
    sheet = book.active
    sheet.title = "Limits"
    for row in (("Role", "Limit"), ("Manager", 5000), ("Director", 25000)):
        sheet.append(row)
    box = io.BytesIO()
    book.save(box)
    return box.getvalue()


def pptx() -> bytes:
    """Two slides, one with a table."""
    from pptx import Presentation
    from pptx.util import Inches

    show = Presentation()
    for title in ("Dock safety", "Doors"):
        slide = show.slides.add_slide(show.slide_layouts[5])
        slide.shapes.title.text = title
    table = slide.shapes.add_table(2, 2, Inches(1), Inches(2), Inches(4), Inches(1)).table
    for n, text in enumerate(("Door", "Lock", "14", "chock")):
        table.cell(n // 2, n % 2).text = text
    box = io.BytesIO()
    show.save(box)
    return box.getvalue()


def pdf(text: str = "Report a lost badge within 2 hours.") -> bytes:
    """One page with one line, written by hand."""
    stream = f"BT /F1 12 Tf 72 720 Td ({text}) Tj ET".encode()
    objects = [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
        b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents 4 0 R /Resources << /Font << /F1 5 0 R >> "
        b">> >>",
        b"<< /Length %d >>\nstream\n%s\nendstream" % (len(stream), stream),
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
    ]
    return written_pdf(objects)


def spinning_pdf(levels: int = 9) -> bytes:
    """A drawing that draws another one ten times, which draws another one ten times, and so on: days of work in 2
    KB.
    """
    objects = [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
        b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 300 300] /Contents 4 0 R /Resources << /XObject << /X 5 0 R >> "
        b">> >>",
        b"<< /Length 5 >>\nstream\n/X Do\nendstream",
    ]
    for n in range(5, 5 + levels):
        again = b"<< /XObject << /X %d 0 R >> >>" % (n + 1) if n < 4 + levels else b"<< >>"
        draws = b"/X Do " * 10 if n < 4 + levels else b"0 0 m"
        head = b"<< /Type /XObject /Subtype /Form /BBox [0 0 9 9] /Resources %s /Length %d >>" % (again, len(draws))
        objects.append(head + b"\nstream\n" + draws + b"\nendstream")
    return written_pdf(objects)


def written_pdf(objects: list[bytes]) -> bytes:
    """Numbered objects with their table of contents."""
    out, places = bytearray(b"%PDF-1.4\n"), []
    for n, one in enumerate(objects, 1):
        places.append(len(out))
        out += b"%d 0 obj\n%s\nendobj\n" % (n, one)
    start = len(out)
    out += b"xref\n0 %d\n0000000000 65535 f \n" % (len(objects) + 1) + b"".join(
        b"%010d 00000 n \n" % at for at in places
    )
    return bytes(out + b"trailer << /Size %d /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF\n" % (len(objects) + 1, start))


HTML = (
    b"<html><head><title>Badges</title></head><body><h1>Badges</h1><script>alert(1)</script>"
    b"<p><a href='javascript:alert(1)'>click</a> Report within 2 hours.</p>"
    b"<table><tr><th>Site</th><th>Hours</th></tr><tr><td>CMH2</td><td>06 to 22</td></tr></table></body></html>"
)

GOOD = (
    "---\nid: {0}\ntitle: Document {0}\ndoc_type: sop\nowner: Ann\nreview_due: 2030-01-01\nanswers: "
    "[Why?]\n---\n# Document {0}\n\nText of its own, number {0}.\n"
)


@dataclass
class Proposed:
    """A change, as far as the intake is concerned."""

    id: str


@dataclass
class ProposedChanges:
    """Stands where the change service will: it keeps what it was given."""

    made: list[tuple[str, str, dict[str, bytes | None], str]] = field(default_factory=list)

    def propose(
        self, actor: Actor, title: str, files: Mapping[str, bytes | None], message: str, basis: ChangeBasis
    ) -> Proposed:
        self.made.append((actor.id, title, dict(files), message))
        return Proposed(f"c{len(self.made)}")


def rich_docx(alt: str = "Dock door 14 with its chock", rules: tuple[str, ...] = (), image: bytes = b"") -> bytes:
    """A Word file with a title, a picture, a pipe in a cell and a merged cell, as Word writes them."""
    word = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
    drawn, main = "http://schemas.openxmlformats.org/drawingml/2006", "application/vnd.openxmlformats-officedocument"
    office, package = (
        "http://schemas.openxmlformats.org/officeDocument/2006/relationships",
        "http://schemas.openxmlformats.org/package/2006",
    )

    def paragraph(text: str, style: str = "") -> str:
        named = f'<w:pPr><w:pStyle w:val="{style}"/></w:pPr>' if style else ""
        return f"<w:p>{named}<w:r><w:t>{text}</w:t></w:r></w:p>"

    def cell(*texts: str, wide: int = 1) -> str:
        span = f'<w:tcPr><w:gridSpan w:val="{wide}"/></w:tcPr>' if wide > 1 else ""
        return f"<w:tc>{span}{''.join(map(paragraph, texts))}</w:tc>"

    picture = (
        f'<w:p><w:r><w:drawing><wp:inline xmlns:wp="{drawn}/wordprocessingDrawing"><wp:docPr id="1" name="p" '
        f'descr="{alt}"/>'
        f'<a:graphic xmlns:a="{drawn}/main"><a:graphicData><pic:pic xmlns:pic="{drawn}/picture"><pic:blipFill>'
        '<a:blip r:embed="r2" '
        f'xmlns:r="{office}"/></pic:blipFill></pic:pic></a:graphicData></a:graphic></wp:inline></w:drawing></w:r></w:p>'
    )
    rows = (
        cell("Kind") + cell("Rule"),
        cell("reefers | containers") + cell("close it", "tell dispatch"),
        cell("all doors are locked at night", wide=2),
    )
    table = "<w:tbl>" + "".join(f"<w:tr>{row}</w:tr>" for row in rows) + "</w:tbl>"
    body = (
        paragraph("Dock doors", "Title")
        + paragraph("Scope", "Heading1")
        + table
        + picture
        + paragraph("Rules", "Heading1")
        + "".join(map(paragraph, rules))
    )
    styles = "".join(
        f'<w:style w:type="paragraph" w:styleId="{key}"><w:name w:val="{name}"/></w:style>'
        for key, name in (("Title", "Title"), ("Heading1", "heading 1"))
    )
    return zipped(
        {
            "[Content_Types].xml": f'<Types xmlns="{package}/content-types"><Default Extension="xml" '
            'ContentType="application/xml"/>'
            '<Default Extension="png" ContentType="image/png"/>'
            '<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
            '<Override PartName="/word/document.xml" '
            f'ContentType="{main}.wordprocessingml.document.main+xml"/></Types>',
            "_rels/.rels": f'<Relationships xmlns="{package}/relationships">'
            f'<Relationship Id="r1" Type="{office}/officeDocument" Target="word/document.xml"/></Relationships>',
            "word/_rels/document.xml.rels": f'<Relationships xmlns="{package}/relationships">'
            f'<Relationship Id="r1" Type="{office}/styles" Target="styles.xml"/>'
            f'<Relationship Id="r2" Type="{office}/image" Target="media/image1.png"/></Relationships>',
            "word/styles.xml": f'<w:styles xmlns:w="{word}">{styles}</w:styles>',
            "word/media/image1.png": image or png(),
            "word/document.xml": f'<w:document xmlns:w="{word}"><w:body>{body}</w:body></w:document>',
        }
    )


def png(width: int = 2, height: int = 2, shade: int = 200) -> bytes:
    """A small grey picture."""

    def part(name: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))

    rows = (b"\0" + bytes([shade]) * width) * height
    head = struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + part(b"IHDR", head) + part(b"IDAT", zlib.compress(rows)) + part(b"IEND", b"")


def gif(width: int = 2, height: int = 2, frames: int = 1) -> bytes:
    """An animation; its frames are empty."""
    frame = b"," + struct.pack("<HHHHB", 0, 0, width, height, 0) + b"\x02\x02\x44\x01\x00"
    return b"GIF89a" + struct.pack("<HHBBB", width, height, 0x80, 0, 0) + b"\0\0\0\xff\xff\xff" + frame * frames + b";"


def mixed_pdf() -> bytes:
    """A page with a ruled table and a picture, and a page that is a scan."""
    grid = " ".join(f"{72 + 150 * column} {600 - 30 * row} 150 30 re S" for row in range(3) for column in range(2))
    words = [("Site", "Hours"), ("CMH2", "06 to 22"), ("SAV3", "always")]
    cells = " ".join(
        f"BT /F1 12 Tf {80 + 150 * column} {610 - 30 * row} Td ({word}) Tj ET"
        for row, line in enumerate(words)
        for column, word in enumerate(line)
    )
    title = "BT /F1 12 Tf 72 700 Td (Opening hours of the docks and who may enter them.) Tj ET"
    first = f"{title} {grid} {cells} q 200 0 0 150 72 200 cm /I1 Do Q".encode()
    second = b"q 612 0 0 792 0 0 cm /I1 Do Q"
    inside = b"/Parent 2 0 R /MediaBox [0 0 612 792] /Resources << /Font << /F1 7 0 R >> /XObject << /I1 8 0 R >> >>"
    dot = (
        b"<< /Type /XObject /Subtype /Image /Width 1 /Height 1 /ColorSpace /DeviceGray /BitsPerComponent 8 /Length 1 >>"
    )
    return written_pdf(
        [
            b"<< /Type /Catalog /Pages 2 0 R >>",
            b"<< /Type /Pages /Kids [3 0 R 5 0 R] /Count 2 >>",
            b"<< /Type /Page /Contents 4 0 R " + inside + b" >>",
            b"<< /Length %d >>\nstream\n%s\nendstream" % (len(first), first),
            b"<< /Type /Page /Contents 6 0 R " + inside + b" >>",
            b"<< /Length %d >>\nstream\n%s\nendstream" % (len(second), second),
            b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
            dot + b"\nstream\n\x80\nendstream",
        ]
    )
