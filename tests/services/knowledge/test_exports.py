"""Documents as files to take along."""

from __future__ import annotations

import csv
import io
import re
import time
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from core.access import SYSTEM
from core.adapters.conversion.word_export import WordWriter
from core.adapters.conversion.worker_pool import Limits
from core.adapters.system.docx_file import word_file
from core.bootstrap import App
from core.entrypoints.cli import main
from core.errors import BadInput, NotFound
from core.spreadsheet import csv_text
from core.types import Document
from tests.conftest import ME, ROOT, put
from tests.support.uploads import png

TEXT = """---
id: IT-1
title: Using the **VPN**
owner: Ann
---
# Using the VPN

Some **bold**, *slanted* and `code` on the [web](https://example.org), and [another](b.md).

## Steps

1. Open the valve
   - slowly

   With care.
2. Close it

Between.

3. Third

| Form | Days |
|---|---:|
| FN-22 | 5 |
| FN-23 |

> Quoted.

```
  indented
```

---

![Map](vpn.assets/map.png) and ![A drawing](gone.svg)
"""


@pytest.fixture
def exported_app(app: App) -> App:
    app.knowledge.repository.commit("main", {"it/vpn.assets/map.png": png(1200, 300)}, ME, "a picture")
    put(app, {"it/vpn.md": TEXT})
    return app


def word(app: App) -> Any:
    import docx

    file = app.knowledge.exports.export(SYSTEM, "IT-1", "docx")
    assert (file.name, file.media_type.rpartition(".")[2]) == ("vpn.docx", "document")
    return docx.Document(io.BytesIO(file.content))


def test_markdown_is_the_file_as_it_is_kept(exported_app: App) -> None:
    file = exported_app.knowledge.exports.export(SYSTEM, "it/vpn.md", "md")
    assert (file.name, file.content.decode()) == ("vpn.md", TEXT)


def test_a_word_file_has_headings_lists_tables_links_and_pictures(exported_app: App) -> None:
    document = word(exported_app)
    styles = [(paragraph.style.name, paragraph.text) for paragraph in document.paragraphs if paragraph.text]
    assert styles[0] == ("Title", "Using the VPN")
    assert styles[1][1].startswith("IT-1, version 1 of ")
    assert styles[1][1].endswith("imported · owner Ann")
    assert ("Heading 2", "Steps") in styles
    assert ("Heading 1", "Using the VPN") not in styles, "the title stands there once"
    assert [text for style, text in styles if style == "List Number"] == ["Open the valve", "Close it", "Third"]
    assert ("List Bullet 2", "slowly") in styles
    assert ("List Continue", "With care.") in styles
    assert ("Quote", "Quoted.") in styles
    assert ("Normal", "  indented") in styles
    [table] = document.tables
    assert [[cell.text for cell in row.cells] for row in table.rows] == [
        ["Form", "Days"],
        ["FN-22", "5"],
        ["FN-23", ""],
    ]
    [picture] = document.inline_shapes
    assert (picture.width.inches, picture.height.inches) == (6.0, 1.5), "as wide as the page, and in proportion"
    assert styles[-1] == ("Normal", " and [A drawing]")
    assert "https://example.org" in {link.address for p in document.paragraphs for link in p.hyperlinks}


def test_each_numbered_list_counts_by_itself(exported_app: App) -> None:
    document = word(exported_app)
    numbers = [p._p.pPr.numPr.numId.val for p in document.paragraphs if p.style.name == "List Number"]
    assert numbers[0] == numbers[1] != numbers[2]
    starts = {
        n.numId: n.lvlOverride_lst[0].startOverride.val
        for n in document.part.numbering_part.element.num_lst
        if n.lvlOverride_lst
    }
    assert (starts[numbers[0]], starts[numbers[2]]) == (1, 3)


def test_a_word_file_knows_its_title_owner_and_page_numbers(exported_app: App) -> None:
    document = word(exported_app)
    facts = document.core_properties
    assert (facts.title, facts.author, facts.subject) == ("Using the VPN", "Ann", "IT-1")
    assert "Using the VPN" in document.sections[0].header.paragraphs[0].text
    assert "NUMPAGES" in document.sections[0].footer.paragraphs[0]._p.xml


def test_signs_that_word_cannot_hold_and_broken_pictures_do_no_harm(app: App) -> None:
    app.knowledge.repository.commit("main", {"b.png": b"no picture"}, ME, "a picture")
    put(app, {"a.md": "# A\x0b\n\nBell\x07 and \ufffe end. ![Broken](b.png)\n\n|x|\n|-|\n|1|\n"})
    assert len(app.knowledge.exports.export(SYSTEM, "a", "docx").content) > 10_000


def test_an_unknown_format_or_document_is_refused(exported_app: App) -> None:
    with pytest.raises(BadInput, match="Formats: md, docx"):
        exported_app.knowledge.exports.export(SYSTEM, "IT-1", "pdf")
    with pytest.raises(NotFound):
        exported_app.knowledge.exports.export(SYSTEM, "nothing", "md")


def test_the_command_line_writes_the_file(exported_app: App, tmp_path: Path) -> None:
    out = tmp_path / "vpn.docx"
    command = ["--home", str(exported_app.settings.home), "documents", "export", "IT-1", "--format", "docx"]
    assert main([*command, "--out", str(out)]) == 0
    assert out.read_bytes()[:2] == b"PK"
    assert main([*command, "--out", str(tmp_path / "no" / "such" / "folder.docx")]) != 0


def test_one_place_writes_csv_and_no_cell_of_it_begins_like_a_formula() -> None:
    writers = [
        str(path.relative_to(ROOT))
        for folder in ("core", "pages")
        for path in (ROOT / folder).rglob("*.py")
        if re.search(r"csv\.(writer|DictWriter)|\.to_csv\(", path.read_text(encoding="utf-8"))
    ]
    assert writers == ["core/spreadsheet.py"]
    cells = [f"{quotes}{sign}1+1" for quotes in ("", "'", "''") for sign in "=+-@\t\r\n＝＋－＠"]
    rows = list(csv.reader(io.StringIO(csv_text([cells, [f"x\r{cell}" for cell in cells]]))))
    assert len(rows) == 2
    assert all(cell.startswith(("'", "x\n")) for row in rows for cell in row)
    assert 'aria-label^="Download as CSV"' in (ROOT / "pages/ui/assets/app.css").read_text(), "Streamlit guards none"


def test_a_long_document_is_written_as_word_by_a_process_with_limits(exported_app: App) -> None:
    long = TEXT + "\n" + "\n".join(f"- Item {number} with *words* enough\n" for number in range(400))
    put(exported_app, {"it/vpn.md": long})
    document = word(exported_app)
    assert (len(document.inline_shapes), document.paragraphs[-1].text) == (1, "Item 399 with words enough")
    assert document.paragraphs[-1].style.name == "List Bullet"
    writer = WordWriter(Limits(60.0, 1, 1024**3))
    slow = exported_app.knowledge.documents.show("IT-1")
    slow = replace(slow, text=slow.text + "\n- **a** b" * 20_000)
    with pytest.raises(
        BadInput, match="it/vpn.md needs more than 1 seconds of computing and was given up. Take it as Mark"
    ):
        writer.write(slow, ["x"], datetime(2026, 1, 1, tzinfo=UTC), lambda path: None)


def test_list_items_are_written_without_looking_their_style_up_each_time() -> None:
    text = "\n".join(f"- item {number}" for number in range(300))
    started = time.process_time()
    word_file(Document("X", "x.md", "T", text), ["x"], datetime(2026, 1, 1, tzinfo=UTC), lambda path: None)
    assert time.process_time() - started < 2.0, "it took 4 seconds"
