"""What a PDF holds that its text does not show: tables, pictures and scanned pages, with the page of each."""

from __future__ import annotations

import io
import time
from collections.abc import Iterator
from typing import Any

PAGES = 300  # that are looked at
SECONDS = 12.0  # of computing for all of them
SMALL = 0.01  # the share of the page below which a picture is an ornament
SCAN = 0.5  # the share from which a picture is the page itself
FEW = 30  # characters that a scanned page may have: a stamp, a page number


def facts(raw: bytes) -> list[dict[str, Any]]:
    """Each as `{"kind", "page", "words"}`; a page that cannot be looked at is one too."""
    import pdfplumber

    found: list[dict[str, Any]] = []
    end = time.process_time() + SECONDS
    with pdfplumber.open(io.BytesIO(raw)) as pdf:
        for number, page in enumerate(pdf.pages, 1):
            if number > PAGES or time.process_time() > end:
                found.append({"kind": "rest", "page": number, "words": ""})
                break
            found += ({"page": number, **fact} for fact in _of(page))
            page.close()
    return found


def _of(page: Any) -> Iterator[dict[str, Any]]:
    area = float(page.width * page.height) or 1.0
    shares = [image["width"] * image["height"] / area for image in page.images]
    if len(page.chars) <= FEW and any(share >= SCAN for share in shares):
        yield {"kind": "scan", "words": ""}
        return
    for share in shares:
        if share >= SMALL:
            yield {"kind": "picture", "words": ""}
    if len(page.lines) + len(page.rects) + len(page.curves) > 3:
        for table in page.find_tables():
            rows = table.extract()
            if len(rows) > 1 and max(map(len, rows)) > 1:
                heads = (" ".join(str(cell or "").split()) for cell in rows[0])
                yield {"kind": "table", "words": ", ".join(head for head in heads if head)[:200]}
