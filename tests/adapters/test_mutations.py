"""Mutated office files through the real readers: each ends as a text or as one sentence, and none holds up the
others.
"""

from __future__ import annotations

import io
import os
import zipfile
from collections import Counter
from pathlib import Path

import pytest

from core.adapters.conversion.converter import DRAWN, Converters, Originals
from core.curation.checks import check_rules
from core.curation.document.frontmatter import read_document
from core.curation.document.size_limits import check_limits
from core.curation.text.render import render
from core.curation.upload import conversions
from core.errors import BadInput
from tests.conftest import rounds
from tests.support import uploads
from tests.support.mutations import SUFFIXES, mutations, sources


@pytest.fixture(scope="module")
def readers() -> tuple[Converters, Originals]:
    """With the limits of users, and so the processes that read for other tests too."""
    return Converters(size=1), Originals(size=1)


def outcome(readers: tuple[Converters, Originals], suffix: str, raw: bytes, draw: bool = False) -> str:
    """How a file ends; whatever is neither a text nor a refusal in words fails here."""
    converters, originals = readers
    try:
        found = conversions.tidied(converters.convert(suffix, raw), suffix, "mutated file")
        found.text.encode()  # as it is committed
        check_limits(found.text)
        document = read_document("it/mutated.md", found.text)
        check_rules.read(document)
        render(document)
        end = "read"
    except BadInput as error:
        end = str(error)
        assert end.endswith("."), end
    if draw and suffix in DRAWN:
        try:
            originals.draw(suffix, raw)
        except BadInput as error:
            assert str(error).endswith("."), error
    return end


def bombard(readers: tuple[Converters, Originals], count: int, seed: int) -> tuple[Counter[str], Counter[str]]:
    """Outcomes, and what was read by format; a file that fails is kept where CONCORD_KEPT says."""
    ends, read = Counter[str](), Counter[str]()
    kept = os.environ.get("CONCORD_KEPT", "")
    for n, (suffix, raw) in enumerate(mutations(count, seed)):
        try:
            end = outcome(readers, suffix, raw, draw=n % 4 == 0)
        except Exception as error:
            if not kept:
                raise
            end = f"FAILED {type(error).__name__}: {error}"
        lost = end.startswith("FAILED") or "made its reader end" in end or "seconds" in end
        if kept and lost:
            (Path(kept) / f"{seed}-{n}{suffix}").write_bytes(raw)
        ends[f"{suffix} {end}"[:160]] += 1
        read[suffix] += end == "read"
        if kept and n % 500 == 499:
            report = "\n".join(f"{many:6} {end}" for end, many in ends.most_common())
            (Path(kept) / f"{seed}.txt").write_text(f"{n + 1} files\n{report}\n")
    return ends, read


def test_the_files_that_are_mutated_can_be_read(readers: tuple[Converters, Originals]) -> None:
    for suffix in SUFFIXES:
        for raw in sources(suffix):
            assert outcome(readers, suffix, raw, draw=True) == "read"


def test_100_mutated_files_end_as_a_text_or_a_sentence(readers: tuple[Converters, Originals]) -> None:
    ends, read = bombard(readers, 100, seed=7)
    assert not [end for end in ends if "made its reader end" in end]
    assert min(read.values()) > 3, (read, ends)


@pytest.mark.slow(minutes=3)
def test_thousands_of_mutated_files_end_as_a_text_or_a_sentence(readers: tuple[Converters, Originals]) -> None:
    """Set CONCORD_KEPT to a folder to see outcomes and keep files that fail instead of stopping at the first."""
    ends, read = bombard(readers, rounds(5000), seed=2026)
    assert not [end for end in ends if "FAILED" in end or "made its reader end" in end], ends
    assert min(read.values()) > rounds(100), read


def reason(readers: tuple[Converters, Originals], suffix: str, raw: bytes) -> str:
    with pytest.raises(BadInput) as refused:
        readers[0].convert(suffix, raw)
    return str(refused.value)


def test_a_file_is_refused_for_what_is_wrong_with_it(readers: tuple[Converters, Originals]) -> None:
    huge = uploads.pdf().replace(b"[0 0 612 792]", b"[0 0 612612612 792]")
    assert "page 1 is larger than any paper. Split it" in reason(readers, ".pdf", huge)
    deep = b"<div>" * 5000 + b"text" + b"</div>" * 5000
    assert "its parts are nested too deeply." in reason(readers, ".html", deep)
    wide = b"<table><tr>" + b"<td colspan=900 rowspan=900>x</td>" * 9 + b"</tr></table>"
    assert "a table has room for more than 200,000 cells." in reason(readers, ".html", wide)
    assert "it is damaged. Split it or save it again" in reason(readers, ".pdf", b"%PDF-1.4 nothing")
    space = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
    merged = (
        f'<worksheet xmlns="{space}"><sheetData/><mergeCells><mergeCell ref="A1:XFD1048576"/></mergeCells></worksheet>'
    )
    with zipfile.ZipFile(io.BytesIO(uploads.xlsx())) as box:
        parts = {name: box.read(name) for name in box.namelist()}
    whole = uploads.zipped({**parts, "xl/worksheets/sheet1.xml": merged})
    assert "a sheet has room for more than 300,000 cells." in reason(readers, ".xlsx", whole)


def test_a_pdf_whose_ruling_lines_cannot_be_read_keeps_its_text(readers: tuple[Converters, Originals]) -> None:
    broken = uploads.mixed_pdf().replace(b"/Type /Page /Contents 4 0 R", b"/Type /Page /Rotate (x) /Contents 4 0 R")
    assert "Opening hours of the docks" in readers[0].convert(".pdf", broken).text
