"""PDF files to Markdown: liteparse finds the blocks of a page, pdfplumber its ruled tables, pypdfium2 draws its
pictures.
"""

from __future__ import annotations

import io
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any

from core.adapters.conversion.formats.markdown_table import TooLarge
from core.adapters.conversion.formats.pdf.blocks import in_text, running_lines
from core.adapters.conversion.formats.pdf.headings import letters
from core.adapters.conversion.formats.pdf.tables import Box, PdfTable, box_of, gathered, laid_over, ruled
from core.adapters.conversion.formats.pdf.writer import PdfWriter
from core.curation.upload.conversions import own_title

PAGES = 300  # that are read
SECONDS = 15.0  # of computing for ruled tables; later ones are taken as guessed
SMALL = 0.01  # the share of the page below which a picture is an ornament
FEW = 30  # characters that a scanned page may have: a stamp, a page number
REPEATED = 3  # a picture on so many pages at the same place belongs to the print, not to the text
WIDTH, SHARPEST = 1600, 3.0  # pixels of a picture, and how much larger than on the page it is drawn
LOCKED = "password"  # in pdfium's message
LONGEST = 20_000  # points of a page's side: seven metres


class LockedFile(Exception):
    """A file that asks for a password."""


def convert(raw: bytes) -> Mapping[str, Any]:
    """The text with its tables and pictures, each with its page, and the pages that could not be read."""
    parsed, drawn = _parsed(raw), _Pages(raw)
    writer = PdfWriter()
    ornaments, running, known = _ornaments(parsed.images), running_lines(parsed.pages), letters(parsed.pages)
    pictures = {image.id: image for image in parsed.images if image.id not in ornaments}
    with _RuledPages(raw) as tables:
        for page in parsed.pages:
            if _scanned(page):
                writer.picture(drawn.page(page.page_num), page.page_num, scan=True)
                continue
            blocks = laid_over(in_text(page, running, known), tables.of(page), page.text_items)
            for block in gathered(blocks, page.text_items):
                if isinstance(block, PdfTable) or block.kind != "figure":
                    writer.block(block, page.page_num)
                elif block.id in pictures and _large(box_of(block), page):
                    writer.picture(drawn.part(page.page_num, box_of(block), pictures[block.id]), page.page_num)
    return {**writer.answer(), "title": drawn.title or _largest(parsed.pages), "facts": list(_facts(parsed))}


def _parsed(raw: bytes) -> Any:
    """What liteparse sees. Its own OCR is off: it would fetch data from the network."""
    from liteparse import LiteParse
    from liteparse.types import ParseError

    _check_sizes(raw)
    reader = LiteParse(
        output_format="markdown",
        ocr_enabled=False,
        extract_blocks=True,
        include_complexity=True,
        extract_images=True,
        extract_vector_graphics=True,
        keep_headers_footers=True,
        continue_on_page_error=True,
        max_pages=PAGES,
        num_workers=1,
        quiet=True,
    )
    try:
        return reader.parse(raw[max(raw.find(b"%PDF-"), 0) :])
    except ParseError as error:
        if LOCKED in str(error).lower():
            raise LockedFile from None
        raise


def _check_sizes(raw: bytes) -> None:
    """Refuse pages larger than any paper: liteparse would take memory for all of it, and end."""
    import pypdfium2

    with suppress(pypdfium2.PdfiumError):  # locked or damaged: liteparse says which
        document = pypdfium2.PdfDocument(raw)
        for n in range(min(len(document), PAGES)):
            if max(document.get_page_size(n)) > LONGEST:
                raise TooLarge(f"page {n + 1} is larger than any paper")


def _largest(pages: Sequence[Any]) -> str:
    """The one main heading of the first page, where it has one."""
    mains = [
        block.text for block in (pages[0].blocks or () if pages else ()) if block.kind == "heading" and block.level == 1
    ]
    return " ".join(mains[0].split()) if len(mains) == 1 else ""


def _scanned(page: Any) -> bool:
    """Whether a page is a picture of itself."""
    facts = page.complexity
    return facts is not None and "scanned" in facts.reasons and facts.text_length <= FEW


def _large(box: Box, page: Any) -> bool:
    wide, high = box.right - box.left, box.bottom - box.top
    return wide * high >= SMALL * float(page.width * page.height)


def _ornaments(images: Sequence[Any]) -> set[str]:
    """Pictures that stand at the same place of many pages."""

    def place(image: Any) -> tuple[int, ...]:
        return tuple(round(side / 4) for side in (image.bbox.x, image.bbox.y, image.bbox.width, image.bbox.height))

    places = Counter(place(image) for image in images)
    return {image.id for image in images if places[place(image)] >= REPEATED}


def _facts(parsed: Any) -> Iterator[dict[str, Any]]:
    """Pages that a person must look at since their words are not, or not all, in the text."""
    for page in parsed.pages:
        if page.complexity is not None and page.complexity.is_garbled:
            yield {"kind": "garbled", "page": page.page_num, "words": ""}
    for failed in parsed.page_errors:
        yield {"kind": "unread", "page": failed.page_num, "words": ""}
    if parsed.total_pages > PAGES:
        yield {"kind": "rest", "page": PAGES + 1, "words": ""}


class _RuledPages:
    """The ruled tables of pages where liteparse sees any table; looking for them is most of the work."""

    def __init__(self, raw: bytes) -> None:
        self.raw, self.end = raw, time.process_time() + SECONDS
        self.pdf: Any = None

    def __enter__(self) -> _RuledPages:
        return self

    def __exit__(self, *_: object) -> None:
        if self.pdf is not None:
            self.pdf.close()

    def of(self, page: Any) -> list[PdfTable]:
        layout = page.complexity.layout if page.complexity else None
        seen = any(block.kind in ("table", "grid_fallback") for block in page.blocks or ())
        if not (seen or (layout and layout.ruled_table_count)) or time.process_time() > self.end:
            return []
        import pdfplumber

        try:
            if self.pdf is None:
                self.pdf = pdfplumber.open(io.BytesIO(self.raw))
            found = self.pdf.pages[page.page_num - 1]
            tables = ruled(found)
            found.close()
        except Exception:  # what liteparse read stands, with its tables as guessed
            self.pdf, self.end = None, 0.0
            return []
        return tables


class _Pages:
    """Pages, or parts of them, as pictures: drawn, so that masks, rotations and colours are as seen, and no metadata
    comes along.
    """

    def __init__(self, raw: bytes) -> None:
        import pypdfium2

        self.document = pypdfium2.PdfDocument(raw)

    @property
    def title(self) -> str:
        """The title in the properties, unless it is the name of a file or of a program."""
        return own_title("", str(self.document.get_metadata_dict().get("Title") or ""))

    def page(self, number: int) -> tuple[bytes, str]:
        return self._drawn(number, (0, 0, 0, 0), WIDTH, "JPEG")

    def part(self, number: int, box: Box, image: Any) -> tuple[bytes, str]:
        width, height = self.document[number - 1].get_size()
        crop = (max(box.left, 0), max(height - box.bottom, 0), max(width - box.right, 0), max(box.top, 0))
        return self._drawn(number, crop, max(image.width, image.height), "JPEG" if image.format == "jpg" else "PNG")

    def _drawn(self, number: int, crop: tuple[float, ...], pixels: int, kind: str) -> tuple[bytes, str]:
        page = self.document[number - 1]
        width, height = page.get_size()
        longest = max(width - crop[0] - crop[2], height - crop[1] - crop[3], 1)
        scale = min(max(min(pixels, WIDTH) / longest, 1.0), SHARPEST)
        picture = page.render(scale=min(scale, WIDTH * 1.5 / longest), crop=crop).to_pil().convert("RGB")
        box = io.BytesIO()
        picture.save(box, kind, **({"quality": 85} if kind == "JPEG" else {"optimize": True}))
        return box.getvalue(), f"image/{kind.lower()}"
