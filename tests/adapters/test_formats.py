"""What each reader of files keeps and what it names: PDF, PowerPoint, Excel and Word files as other programs write
them.
"""

from __future__ import annotations

import datetime as dt
import io
import zipfile
from dataclasses import replace
from typing import Any

import pytest

from core.adapters.conversion import ocr
from core.adapters.conversion.converter import Converters
from core.adapters.conversion.formats import sheets, slides, word
from core.adapters.conversion.formats.html_markdown import TakenPictures, markdown
from core.adapters.conversion.formats.pdf import reader as pdf
from core.adapters.conversion.formats.pdf.blocks import in_text
from core.adapters.conversion.formats.pdf.headings import letters
from core.adapters.conversion.ocr import Ocr
from core.adapters.conversion.programs import original_worker
from core.adapters.conversion.worker_pool import Overrun, WorkerPool
from core.curation.upload import conversions
from core.errors import BadInput, Unavailable
from tests.support import uploads
from tests.support.hostile_files import locked_pdf


@pytest.fixture
def conversion() -> Converters:
    """Its readers end with the session, after whoever needs them next."""
    return Converters(size=1)


Line = tuple[Any, ...]  # left, bottom, size of letters, text, and whether it is bold


def printed(*pages: list[Line], draws: str = "", title: str = "") -> bytes:
    """A PDF with lines of text at places."""
    count = len(pages)
    kids = " ".join(f"{3 + 2 * n} 0 R" for n in range(count))
    objects = [b"<< /Type /Catalog /Pages 2 0 R >>", f"<< /Type /Pages /Kids [{kids}] /Count {count} >>".encode()]
    font = 3 + 2 * count
    for n, lines in enumerate(pages):
        text = " ".join(
            f"BT /{'F2' if bold else 'F1'} {size} Tf {left} {bottom} Td ({words}) Tj ET"
            for left, bottom, size, words, *bold in lines
        )
        stream = f"{text} {draws}".encode("latin-1")
        inside = (
            f"/MediaBox [0 0 612 792] /Contents {4 + 2 * n} 0 R /Resources << /Font << /F1 {font} 0 R /F2 "
            f"{font + 1} 0 R >> >>"
        )
        objects += [
            f"<< /Type /Page /Parent 2 0 R {inside} >>".encode(),
            b"<< /Length %d >>\nstream\n%s\nendstream" % (len(stream), stream),
        ]
    objects += [
        b"<< /Type /Font /Subtype /Type1 /Encoding /WinAnsiEncoding /BaseFont /Helvetica%s >>" % kind
        for kind in (b"", b"-Bold")
    ]
    return uploads.written_pdf(objects)


def prose(start: float, *texts: str) -> list[Line]:
    return [(72, start - 15 * n, 11, text) for n, text in enumerate(texts)]


SENTENCES = (
    "Wear a vest at every door of the dock, also when no truck stands at it, and",
    "never step over a running belt. Tell the shift lead at once when a lamp is out.",
)


# ---------------------------------------------------------------- PDF


def test_print_headers_and_page_numbers_are_dropped_and_a_sentence_goes_on_over_the_page() -> None:
    ends = [
        *prose(700, *SENTENCES),
        *prose(120, "The night shift locks door 14 after the last load and hands the key to"),
        (72, 30, 9, "Meridale handbook, page 1"),
    ]
    goes_on = [
        *prose(720, "the guard at the gate, who signs for it in the yard book."),
        *prose(650, *SENTENCES),
        (72, 30, 9, "Meridale handbook, page 2"),
    ]
    third = [*prose(600, *SENTENCES), (72, 30, 9, "Meridale handbook, page 3")]
    text = pdf.convert(printed([(72, 750, 20, "Dock safety"), *ends], goes_on, third))["text"]
    assert "handbook" not in text
    assert "hands the key to the guard at the gate" in text
    assert text.startswith("# Dock safety\n\nWear a vest")


def test_a_paragraph_whose_first_line_is_bold_stays_one_and_a_list_loses_no_word_at_the_end_of_a_page() -> None:
    bold = [(72, 700, 11, "Stop rule. Anyone may stop a load at any point, without giving a reason", True)]
    first = [*bold, *prose(686, "first. Loading restarts when both agree."), (72, 90, 11, "\x95 Keys are handed to")]
    text = pdf.convert(printed(first, prose(700, "the guard, who signs.")))["text"]
    assert "without giving a reason first. Loading restarts" in text
    assert "Keys are handed to the guard, who signs." in text


def test_a_heading_that_was_missed_is_known_by_its_letters() -> None:
    page = [
        (72, 740, 20, "Dock safety"),
        (72, 700, 15, "Doors"),
        *prose(670, *SENTENCES),
        (72, 600, 15, "Lamps"),
        *prose(570, *SENTENCES),
    ]
    (parsed,) = pdf._parsed(printed(page)).pages
    kinds = {"Doors": ("heading", 2), "Lamps": ("paragraph", None)}
    seen = [
        replace(block, **dict(zip(("kind", "level"), kinds.get(block.text, (block.kind, block.level)), strict=True)))
        for block in parsed.blocks
    ]
    parsed = replace(parsed, blocks=seen)
    blocks = in_text(parsed, set(), letters([parsed]))
    assert [(block.text, block.level) for block in blocks if block.kind == "heading"] == [
        ("Dock safety", 1),
        ("Doors", 2),
        ("Lamps", 2),
    ]


def headings_of(*pages: list[Line]) -> list[str]:
    return [line for line in pdf.convert(printed(*pages))["text"].split("\n") if line.startswith("#")]


def test_a_bold_label_and_the_first_line_of_a_paragraph_are_no_headings() -> None:
    page = [
        (72, 740, 20, "Dock safety"),
        (72, 700, 11, "1. Doors", True),
        *prose(680, *SENTENCES),
        (72, 630, 11, "Before each load:", True),
        *((90, 612 - 15 * n, 11, f"\x95 {text}") for n, text in enumerate(("wear a vest", "test the lamp"))),
        (72, 560, 11, "Meridale keeps every door of the dock shut at night, and the guard", True),
        *prose(546, "walks along all of them before the first truck comes in."),
        (72, 500, 11, "2. Lamps", True),
        *prose(480, *SENTENCES),
    ]
    assert headings_of(page) == ["# Dock safety", "## 1. Doors", "## 2. Lamps"]


def test_a_large_line_is_a_heading_where_no_other_has_its_letters_and_two_lines_of_it_are_one() -> None:
    page = [
        (72, 740, 24, "Keys"),
        *prose(670, *SENTENCES),
        (72, 600, 17, "Doors"),
        (72, 580, 17, "and lamps"),
        *prose(540, *SENTENCES),
    ]
    (parsed,) = pdf._parsed(printed(page)).pages
    (title, first, split, second) = parsed.blocks
    lines = [
        (line, replace(split.bbox, y=split.bbox.y + 20 * n, height=17))
        for n, line in enumerate(split.text.split(" ", 1))
    ]
    parts = [replace(split, kind="paragraph", level=None, text=line, bbox=box) for line, box in lines]
    parsed = replace(parsed, blocks=[title, first, *parts, second])
    blocks = in_text(parsed, set(), letters([parsed]))
    assert [block.text for block in blocks if block.kind == "heading"] == ["Keys", "Doors and lamps"]


def test_numbers_of_headings_tell_their_level_where_the_letters_are_the_same() -> None:
    heads = ("1. Doors", "1.1 Night", "1.2 Day", "2. Lamps")
    page = [(72, 750, 20, "Dock safety")]
    for n, head in enumerate(heads):
        page += [(72, 700 - 100 * n, 11, head, True), *prose(680 - 100 * n, *SENTENCES)]
    assert headings_of(page) == ["# Dock safety", "## 1. Doors", "### 1.1 Night", "### 1.2 Day", "## 2. Lamps"]


def test_entries_of_contents_are_no_headings_and_a_date_at_the_margin_is_not_of_one() -> None:
    entries = [(90, 660 - 40 * n, 11, f"Part {name} of the dock {n + 4}") for n, name in enumerate("abcdefg")]
    contents = [(72, 740, 20, "Contents"), (72, 700, 11, "FIRST CHAPTER", True), *entries]
    text = [(72, 740, 11, "FIRST CHAPTER", True), (480, 740, 11, "May 4, 2031", True), *prose(700, *SENTENCES)]
    assert headings_of(contents, text) == ["# Contents", "## FIRST CHAPTER"]


def test_bullets_that_a_browser_draws_begin_items_and_a_line_to_their_left_ends_the_list() -> None:
    lines = [
        (90, 700 - 18 * n, 11, text)
        for n, text in enumerate(("invoice with unit values;", "packing list that agrees;", "bill of lading."))
    ]
    after = [(72, 640, 11, "Values include commissions that were paid for separately.")]
    dots = " ".join(f"{76} {702 - 18 * n} 4 4 re f" for n in range(3))
    text = pdf.convert(
        printed(
            [*prose(730, "The file must hold these papers before it goes to the broker:"), *lines, *after], draws=dots
        )
    )["text"]
    assert "- invoice with unit values;\n- packing list that agrees;\n- bill of lading.\n\nValues include" in text


def test_a_ruled_row_with_a_list_of_names_beside_lists_of_numbers_is_a_row_per_line() -> None:
    rows = [("Door", "Loads", "Hours"), ("North", "1,530", "12"), ("South", "1,253", "9"), ("All", "2,783", "21")]
    tops = (700, 670, 655, 640)
    cells = [(80 + 120 * n, top, 11, text) for top, row in zip(tops, rows, strict=True) for n, text in enumerate(row)]
    grid = " ".join(f"72 {y} m 432 {y} l S" for y in (720, 690, 630)) + " ".join(
        f" {x} 630 m {x} 720 l S" for x in (72, 192, 312, 432)
    )
    text = pdf.convert(printed([*cells, *prose(580, *SENTENCES)], draws=grid))["text"]
    assert "| North | 1,530 | 12 |\n| South | 1,253 | 9 |\n| All | 2,783 | 21 |" in text


def boxed(*boxes: tuple[int, int, int, int]) -> str:
    return " ".join(f"{left} {bottom} {wide} {high} re S" for left, bottom, wide, high in boxes)


def test_a_caption_and_notes_across_a_ruled_table_are_paragraphs_and_its_next_page_joins_it() -> None:
    def page(*rows: tuple[str, ...]) -> list[Line]:
        cells = [(80 + 100 * n, 676 - 20 * at, 11, text) for at, row in enumerate(rows) for n, text in enumerate(row)]
        return [(80, 696, 11, "Doors of the dock in 2030 and 2031"), *cells]

    first = page(("Site", "Old", "New"), ("North", "12", "9"), ("South", "na", "7"))
    second = page(("West", "3", "4"), ("East", "5", "6"), ("All", "20", "26"))
    notes = [(80, 616, 9, "na: no door"), (80, 598, 9, "Source: yard book")]
    grid = boxed(
        (72, 690, 300, 20),
        (72, 592, 300, 38),
        *((72 + 100 * n, 670 - 20 * at, 100, 20) for at in range(3) for n in range(3)),
    )
    text = pdf.convert(printed([*first, *notes], draws=grid))["text"]
    table = "| Site | Old | New |\n| --- | --- | --- |\n| North | 12 | 9 |\n| South | na | 7 |"
    assert text == f"Doors of the dock in 2030 and 2031\n\n{table}\n\nna: no door Source: yard book"
    both = pdf.convert(printed(first, second, draws=grid))["text"]
    assert both.endswith(f"{table}\n| West | 3 | 4 |\n| East | 5 | 6 |\n| All | 20 | 26 |")


@pytest.mark.parametrize(("seconds", "quoted"), [(15.0, "> Practice tips:\n>\n> "), (-1.0, "\n\nPractice tips: ")])
def test_a_box_of_prose_is_a_quotation_and_a_paragraph_where_time_for_ruled_tables_is_up(
    monkeypatch: pytest.MonkeyPatch, seconds: float, quoted: str
) -> None:
    monkeypatch.setattr(pdf, "SECONDS", seconds)
    tips = (
        "Count the keys before the night shift begins,",
        "and tell the guard at once when one of them",
        "is not on its hook. Never lend a key.",
    )
    lines = [(80, 685, 11, "Practice tips:"), *((94, 664 - 16 * n, 11, text) for n, text in enumerate(tips))]
    frame = boxed((72, 600, 400, 80), (72, 680, 400, 20), (90, 600, 382, 80))
    answer = pdf.convert(printed([*prose(740, *SENTENCES), *lines, *prose(560, *SENTENCES)], draws=frame))
    assert answer["tables"] == []
    assert f"{quoted}{' '.join(tips)}\n\nWear a vest" in answer["text"]


def test_a_ruled_table_takes_the_place_of_what_was_guessed_and_joins_its_rest_on_the_next_page() -> None:
    def page(rows: list[tuple[str, str]]) -> tuple[list[Line], str]:
        cells = [
            (80 + 150 * column, 710 - 30 * n, 11, text) for n, row in enumerate(rows) for column, text in enumerate(row)
        ]
        grid = " ".join(f"{72 + 150 * column} {700 - 30 * n} 150 30 re S" for n in range(3) for column in range(2))
        return cells, grid

    first, grid = page([("Site", "Hours"), ("CMH2", "06 to 22"), ("SAV3", "always")])
    second, _ = page([("Site", "Hours"), ("RNO1", "never"), ("LAX9", "a|b *")])
    answer = pdf.convert(printed(first, second, draws=grid))
    assert answer["tables"] == [{"page": 1, "guessed": False, "merged": 0}]
    assert answer["text"].count("| Site | Hours |") == 1
    assert "| SAV3 | always |\n| RNO1 | never |\n| LAX9 | a\\|b \\* |" in answer["text"]


def test_a_table_without_lines_is_named_as_guessed_with_its_page() -> None:
    rows = [("Role", "Limit", "From"), ("Clerk", "500", "May"), ("Lead", "1500", "June"), ("Head", "9000", "July")]
    cells = [
        (72 + 160 * column, 600 - 16 * n, 11, text) for n, row in enumerate(rows) for column, text in enumerate(row)
    ]
    answer = pdf.convert(printed(prose(700, *SENTENCES), [*prose(700, *SENTENCES), *cells]))
    assert [(part["page"], part["guessed"]) for part in answer["tables"]] == [(2, True)]
    assert "| Lead | 1500 | June |" in answer["text"]


def test_a_print_header_that_looks_like_a_table_is_left_out() -> None:
    head = [
        (72 + 160 * c, 780 - 14 * n, 9, text)
        for n, row in enumerate((("Agency", "Handbook", "Rev 3"), ("Part", "Chapter", "Page 1")))
        for c, text in enumerate(row)
    ]
    answer = pdf.convert(printed(*([*head, *prose(700, *SENTENCES)] for _ in range(3))))
    assert answer["tables"] == []
    assert "Agency" not in answer["text"]


def test_a_table_of_contents_of_word_is_left_out_and_named() -> None:
    with zipfile.ZipFile(io.BytesIO(uploads.docx())) as archive:
        parts = {name: archive.read(name).decode() for name in archive.namelist()}
    toc = '<w:style w:type="paragraph" w:styleId="TOC1"><w:name w:val="toc 1"/></w:style>'
    line = '<w:p><w:pPr><w:pStyle w:val="TOC1"/></w:pPr><w:r><w:t>PURPOSE</w:t></w:r><w:r><w:t>1-1</w:t></w:r></w:p>'
    parts["word/styles.xml"] = parts["word/styles.xml"].replace("</w:styles>", f"{toc}</w:styles>")
    parts["word/document.xml"] = parts["word/document.xml"].replace("<w:body>", f"<w:body>{line}{line}")
    answer = word.convert(uploads.zipped(parts))
    assert "PURPOSE" not in answer["text"]
    assert answer["facts"] == [{"kind": "contents", "page": 0, "words": "2"}]


def test_moved_text_fields_and_drawn_boxes_of_word_are_read_once() -> None:
    word_space, mc, wps, vml = (
        "http://schemas.openxmlformats.org/wordprocessingml/2006/main",
        "http://schemas.openxmlformats.org/markup-compatibility/2006",
        "http://schemas.microsoft.com/office/word/2010/wordprocessingShape",
        "urn:schemas-microsoft-com:vml",
    )

    def said(text):
        return f"<w:r><w:t xml:space='preserve'>{text}</w:t></w:r>"

    def box(text):
        return f"<w:txbxContent><w:p>{said(text)}</w:p></w:txbxContent>"

    def drawn(text):
        return f"<w:drawing><wps:wsp><wps:txbx>{box(text)}</wps:txbx></wps:wsp></w:drawing>"

    def either(text, fallback):
        return f"<w:r><mc:AlternateContent><mc:Choice>{drawn(text)}</mc:Choice>{fallback}</mc:AlternateContent></w:r>"

    known = f"<mc:Fallback><w:pict><v:oval><v:textbox>{box('Both ways.')}</v:textbox></v:oval></w:pict></mc:Fallback>"
    body = [
        f"<w:moveFrom>{said('It was here. ')}</w:moveFrom>{said('Stays. ')}",
        f"<w:moveTo>{said('It is here now. ')}</w:moveTo><w:fldSimple>{said('Table 3')}</w:fldSimple>",
        said("Alone.") + f"<w:r>{drawn('Drawn alone.')}</w:r>",
        said("Picture.") + either("In the choice.", "<mc:Fallback><w:drawing/></mc:Fallback>"),
        said("Nothing.") + either("No fallback.", ""),
        said("Known.") + either("Both ways.", known),
    ]
    with zipfile.ZipFile(io.BytesIO(uploads.docx())) as archive:
        parts = {name: archive.read(name).decode() for name in archive.namelist()}
    spaces = f'xmlns:w="{word_space}" xmlns:mc="{mc}" xmlns:wps="{wps}" xmlns:v="{vml}"'
    paragraphs = "".join(f"<w:p>{each}</w:p>" for each in body)
    parts["word/document.xml"] = f"<w:document {spaces}><w:body>{paragraphs}</w:body></w:document>"
    text = word.convert(uploads.zipped(parts))["text"]
    assert [line for line in text.split("\n") if line] == [
        "Stays.",
        "It is here now. Table 3",
        "Alone.",
        "Drawn alone.",
        "Picture.",
        "In the choice.",
        "Nothing.",
        "No fallback.",
        "Known.",
        "Both ways.",
    ]


def test_a_list_in_a_list_of_a_cell_begins_on_a_line_of_its_own() -> None:
    html = "<table><tr><th>Step</th></tr><tr><td><ul><li>Gate<ul><li>Lock</li></ul></li><li>Yard</li></ul></td></tr></table>"  # noqa: E501
    text, _, _ = markdown(html, TakenPictures())
    assert "| • Gate<br>• Lock<br>• Yard |" in text


def test_rows_of_a_guessed_table_that_stand_apart_are_rows_and_prose_is_not() -> None:
    def row(height: int, *cells: str) -> list[Line]:
        return [(place, height, 11, cell) for place, cell in zip((72, 220, 420), cells, strict=True) if cell]

    table = [line for n in range(6) for line in row(560 - 18 * n, f"Site {n}", f"Dock {n}, gate {n}", f"{n}50")]
    above, below = row(592, "", "Where", "Pallets"), row(436, "Site 9", "Yard", "950")
    prose = [(72, 400, 11, "Whoever counts them writes the number of every site into the list of the day, and signs.")]
    text = pdf.convert(printed([*above, *table, *below, *prose]))["text"]
    lines = [line for line in text.split("\n") if line.startswith("|")]
    assert lines[0] == "|  | Where | Pallets |"
    assert lines[-1] == "| Site 9 | Yard | 950 |"
    assert len(lines) == 9
    assert "\nWhoever counts them writes" in text


def test_the_original_of_word_shows_the_numbers_of_its_lists() -> None:
    space = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"'

    def level(n, form, text):
        return f'<w:lvl w:ilvl="{n}"><w:start w:val="1"/><w:numFmt w:val="{form}"/><w:lvlText w:val="{text}"/></w:lvl>'

    abstract = (
        "<w:abstractNum "
        f'w:abstractNumId="0">{level(0, "decimal", "%1.")}{level(1, "lowerLetter", "%1.%2)")}</w:abstractNum>'
    )
    again = (
        '<w:num w:numId="2"><w:abstractNumId w:val="0"/><w:lvlOverride w:ilvl="0"><w:startOverride '
        'w:val="1"/></w:lvlOverride></w:num>'
    )
    numbering = (
        f'<w:numbering {space}>{abstract}<w:num w:numId="1"><w:abstractNumId w:val="0"/></w:num>{again}</w:numbering>'
    )

    def item(text, n, depth):
        return (
            f'<w:p><w:pPr><w:numPr><w:ilvl w:val="{depth}"/><w:numId '
            f'w:val="{n}"/></w:numPr></w:pPr><w:r><w:t>{text}</w:t></w:r></w:p>'
        )

    body = "".join(
        item(*each) for each in (("Call", 1, 0), ("Desk", 1, 1), ("Gate", 1, 1), ("Write", 1, 0), ("Begin", 2, 0))
    )
    document = f"<w:document {space}><w:body>{body}<w:p><w:r><w:t>End</w:t></w:r></w:p></w:body></w:document>"
    raw = uploads.zipped({"word/document.xml": document, "word/numbering.xml": numbering})
    shown = [node[2][0] for node in original_worker._blocks(raw)]
    assert shown == ["1. Call", "1.a) Desk", "1.b) Gate", "2. Write", "1. Begin", "End"]


def test_locked_and_damaged_files_are_told_apart(conversion: Converters) -> None:
    with pytest.raises(BadInput, match="locked by a password"):
        conversion.convert(".pdf", locked_pdf())
    with pytest.raises(BadInput, match="it is damaged"):
        conversion.convert(".pdf", uploads.pdf()[:200])


def test_a_scan_becomes_pictures_of_its_pages_that_are_named() -> None:
    answer = pdf.convert(uploads.mixed_pdf())
    assert answer["images"] == [{"page": 1, "scan": False}, {"page": 2, "scan": True}]
    assert [part["name"] for part in answer["pictures"]] == ["picture-1.png", "picture-2.jpg"]


def scanned() -> conversions.Conversion:
    answer = pdf.convert(uploads.mixed_pdf())
    images = tuple(conversions.PartFacts(**part) for part in answer["images"])
    kept = tuple(conversions.Picture(part["name"], b"") for part in answer["pictures"])
    return conversions.Conversion(answer["text"], kept, images=images)


class SeenLines(WorkerPool):
    """Stands where OCR will: it sees these lines on every page, or gives up."""

    def __init__(self, *lines: list[Any]) -> None:
        self.lines = list(lines)

    def ask(self, question: Any, payload: bytes = b"") -> dict[str, Any]:
        if not self.lines:
            raise Overrun("took too long", True)
        return {"lines": self.lines}


def test_ocr_writes_words_below_the_picture_and_names_every_page_and_every_table() -> None:
    lines = [
        [0, 0, 400, 12, "Keys are kept in", 1],
        [0, 16, 400, 28, "the guard house.", 1],
        [0, 60, 80, 72, "Door", 1],
        [200, 60, 260, 72, "Key", 1],
    ]
    lines += [[0, 80, 80, 92, "14", 1], [200, 80, 260, 92, "B 7", 1], [0, 130, 300, 142, "1.Sign the book", 1]]
    found = conversions.tidied(Ocr(SeenLines(*lines)).read(scanned()), ".pdf", "hours")
    below = found.text.partition("![Scanned page 2](picture-2.jpg)\n\n")[2]
    assert below == "Keys are kept in the guard house.\n\nDoor / Key\\\n14 / B 7\n\n1. Sign the book\n"
    notes = {part.note: (part.kind, part.page, part.line) for part in found.to_check}
    assert notes[conversions.OCR][:2] == ("scan", 2)
    assert notes[conversions.OCR_TABLE][:2] == ("table", 2)
    assert found.text.split("\n")[notes[conversions.OCR_TABLE][2] - 1] == "Door / Key\\"


def test_a_page_that_ocr_gives_up_stays_a_picture_that_says_so() -> None:
    found = conversions.tidied(Ocr(SeenLines()).read(scanned()), ".pdf", "hours")
    assert found.text.endswith("![Scanned page 2](picture-2.jpg)\n")
    assert [part.note for part in found.to_check if part.kind == "scan"] == [conversions.SCAN]


def test_ocr_that_is_switched_on_and_not_installed_says_how_to_install_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(Unavailable, match="Install rapidocr=="):
        ocr.installed()


@pytest.mark.slow
def test_a_real_scan_is_read_where_ocr_is_installed() -> None:
    pytest.importorskip("rapidocr")
    drawing = pdf._Pages(printed([*prose(700, *SENTENCES)])).page(1)[0]
    reader = ocr.installed()
    text, tables = ocr.page_text(reader._lines(conversions.Picture("a.jpg", drawing)))
    reader.close()
    assert "never step over a running belt" in text
    assert tables == []


# ---------------------------------------------------------------- PowerPoint


def presentation() -> Any:
    from pptx import Presentation

    return Presentation()


def saved(made: Any) -> bytes:
    box = io.BytesIO()
    made.save(box)
    return box.getvalue()


def test_slides_keep_levels_notes_pictures_charts_and_merged_cells_and_name_hidden_ones() -> None:
    from pptx.chart.data import CategoryChartData
    from pptx.enum.chart import XL_CHART_TYPE
    from pptx.util import Inches

    show = presentation()
    first = show.slides.add_slide(show.slide_layouts[1])
    first.shapes.title.text, body = "Dock | safety", first.placeholders[1].text_frame
    body.text = "Wear a vest"
    deeper = body.add_paragraph()
    deeper.text, deeper.level = "*always*", 1
    first.notes_slide.notes_text_frame.text = "Show the vest."
    second = show.slides.add_slide(show.slide_layouts[5])
    second.shapes.title.text = "Doors"
    table = second.shapes.add_table(2, 2, Inches(1), Inches(2), Inches(4), Inches(1)).table
    table.cell(0, 0).merge(table.cell(0, 1))
    for at, text in (((0, 0), "Door"), ((1, 0), "a|b"), ((1, 1), "two\nlines")):
        table.cell(*at).text = text
    second.shapes.add_picture(io.BytesIO(uploads.png()), Inches(1), Inches(4))
    data = CategoryChartData()
    data.categories = ["May", "June"]
    data.add_series("Loads", (3, 4.5))
    second.shapes.add_chart(XL_CHART_TYPE.COLUMN_CLUSTERED, Inches(5), Inches(4), Inches(3), Inches(2), data)
    second.shapes.add_ole_object(io.BytesIO(uploads.xlsx()), "Excel.Sheet.12", Inches(8), Inches(4))
    hidden = show.slides.add_slide(show.slide_layouts[5])
    hidden.shapes.title.text = "Old"
    hidden._element.set("show", "0")
    answer = slides.convert(saved(show))
    assert answer["text"].startswith(
        "## Dock | safety\n\n- Wear a vest\n    - \\*always\\*\n\n**Notes:** Show the vest.\n\n## Doors"
    )
    assert "| Door |  |\n| --- | --- |\n| a\\|b | two<br>lines |" in answer["text"]
    assert "|  | Loads |\n| --- | --- |\n| May | 3 |\n| June | 4.5 |" in answer["text"]
    assert answer["images"] == [{"page": 2}]
    assert answer["tables"][0] == {"page": 2, "merged": 1}
    assert [(fact["kind"], fact["page"]) for fact in answer["facts"]] == [("chart", 2), ("drawing", 2), ("hidden", 3)]


def test_numbers_in_a_text_box_count_and_its_plain_lines_stay_paragraphs() -> None:
    from pptx.util import Inches

    show = presentation()
    slide = show.slides.add_slide(show.slide_layouts[6])
    frame = slide.shapes.add_textbox(Inches(1), Inches(1), Inches(4), Inches(2)).text_frame
    for n, text in enumerate(("Before you start", "Lock the door", "Chock the wheel")):
        paragraph = frame.paragraphs[0] if n == 0 else frame.add_paragraph()
        paragraph.text = text
        if n:
            paragraph._p.get_or_add_pPr().append(
                paragraph._p.makeelement(
                    "{http://schemas.openxmlformats.org/drawingml/2006/main}buAutoNum", {"type": "arabicPeriod"}
                )
            )
    assert (
        slides.convert(saved(show))["text"] == "## Slide 1\n\nBefore you start\n\n1. Lock the door\n2. Chock the wheel"
    )


# ---------------------------------------------------------------- Excel


def test_sheets_show_values_as_the_program_does_and_name_what_is_not_there() -> None:
    import openpyxl

    book = openpyxl.Workbook()
    sheet = book.active
    sheet.title = "Limits"
    sheet["A1"] = "Limits per role"
    sheet.merge_cells("A1:C1")
    for row in (
        ("Role", "Share", "From"),
        ("Clerk|Lead", 0.25, dt.datetime(2026, 1, 2)),
        (None, None, None),
        ("Two\nlines", 1500.5, "=1+1"),
    ):
        sheet.append(row)
    sheet["B3"].number_format, sheet["B5"].number_format = "0%", '#,##0.00 "€"'
    old = book.create_sheet("Old")
    old["A1"], old.sheet_state = "secret", "hidden"
    notes = book.create_sheet("Notes")
    notes["A1"], notes["A6"], notes["B6"] = "One remark", "Total", 7
    picture = openpyxl.drawing.image.Image(io.BytesIO(uploads.png()))
    notes.add_image(picture, "A3")
    answer = sheets.convert(saved(book))
    assert answer["text"].startswith(
        "## Limits\n\nLimits per role\n\n| Role | Share | From |\n| --- | --- | --- |\n| Clerk\\|Lead | 25% | "
        "2026-01-02 |"
    )
    assert "Two<br>lines" not in answer["text"].split("\n")[2]
    assert "1,500.50 €" in answer["text"]
    assert answer["text"].endswith("## Notes\n\nOne remark\n\n![](picture-1.png)\n\nTotal: 7")
    assert "NaN" not in answer["text"]
    assert "secret" not in answer["text"]
    assert [(fact["kind"], fact["page"], fact["words"]) for fact in answer["facts"]] == [
        ("formula", 1, "C5"),
        ("hidden", 2, "Old"),
    ]
    assert answer["tables"][0] == {"page": 1, "merged": 1}


# ---------------------------------------------------------------- Word, and titles


def test_a_word_file_names_its_comments_and_tracked_changes() -> None:
    with zipfile.ZipFile(io.BytesIO(uploads.docx())) as archive:
        files = {name: archive.read(name) for name in archive.namelist()}
    files["word/document.xml"] = files["word/document.xml"].replace(
        b"<w:p><w:r><w:t>Report", b'<w:p><w:ins w:id="1"><w:r><w:t>Now. </w:t></w:r></w:ins><w:r><w:t>Report', 1
    )
    files["word/comments.xml"] = (
        b'<w:comments xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"><w:comment '
        b'w:id="0"/></w:comments>'
    )
    answer = word.convert(uploads.zipped(files))
    assert "Now. Report a lost badge" in answer["text"]
    assert [fact["kind"] for fact in answer["facts"]] == ["comment", "tracked"]


@pytest.mark.parametrize(
    ("text", "told", "title", "first"),
    [
        ("Text.\n\n# Dock\n\nMore.", "x", "Dock", "Text."),
        ("# A\n\n# B", "Yard rules", "Yard rules", "# Yard rules"),
        ("###### Meridale\n\n# Yard rules\n\n# B", "Yard rules", "Yard rules", "# Yard rules"),
        ("**Yard rules**\n\nText.", "yard.odt", "Yard rules", "# Yard rules"),
        ("Text.", "Microsoft Word - yard.doc", "", "# yard_final"),
        ("# 1. Introduction\n\nText.", "", "", "# yard_final"),
    ],
)
def test_titles_come_from_the_file_and_a_name_that_had_to_serve_is_named(
    text: str, told: str, title: str, first: str
) -> None:
    found = conversions.tidied(conversions.Conversion(text, title=told), ".pdf", "yard_final")
    assert found.title == title
    assert found.text.split("\n")[0] == first
    assert found.text.count("Yard rules") <= 1
    assert [part.kind for part in found.to_check] == ([] if title else ["title"])
