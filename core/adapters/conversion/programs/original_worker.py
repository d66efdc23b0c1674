"""The process that draws an uploaded file as it is: `{"suffix", "page"}` and the file in, `{"picture", "pages"}` or
`{"nodes"}` out.
"""

from __future__ import annotations

import base64
import io
import sys
import zipfile
from collections.abc import Iterator, Mapping
from typing import Any
from xml.etree import ElementTree

from core.adapters.conversion.confined import Answer, serve
from core.adapters.conversion.formats import sheets, slides
from core.adapters.conversion.formats.word_numbers import W, numbers_of

WIDTH = 1000  # pixels of a page
MOST = 3000  # paragraphs and tables of a Word file that are drawn
_LISTS = ("word/numbering.xml", "word/styles.xml")


def load() -> Answer:
    """Loaded before memory is limited."""
    import openpyxl  # noqa: F401
    import PIL.JpegImagePlugin  # noqa: F401
    import pptx  # noqa: F401
    import pypdfium2

    def draw(question: Mapping[str, Any], raw: bytes) -> Mapping[str, Any]:
        try:
            suffix, number = question["suffix"], int(question["page"])
            if suffix == ".pdf":
                return _page(pypdfium2.PdfDocument(raw), number)
            if suffix == ".docx":
                return {"nodes": list(_blocks(raw))[:MOST]}
            nodes, pages = (slides.slide_nodes if suffix == ".pptx" else sheets.sheet_nodes)(raw, number)
            return {"nodes": nodes[:MOST], "pages": pages}
        except MemoryError:
            return {"error": "it needs too much memory"}
        except Exception as error:  # a broken file may make a library raise anything
            return {"error": type(error).__name__}

    return draw


def _page(document: Any, number: int) -> Mapping[str, Any]:
    page = document[min(max(number, 1), len(document)) - 1]
    width, height = page.get_size()
    picture = page.render(scale=min(WIDTH / max(width, 1), 3 * WIDTH / max(height, 1))).to_pil().convert("RGB")
    box = io.BytesIO()
    picture.save(box, "JPEG", quality=80)
    return {"picture": base64.b64encode(box.getvalue()).decode(), "pages": len(document)}


def _blocks(raw: bytes) -> Iterator[list[Any]]:
    """The paragraphs and tables of a Word file, read straight from it, as nodes."""
    with zipfile.ZipFile(io.BytesIO(raw)) as archive:
        names = set(archive.namelist())
        body = ElementTree.fromstring(archive.read("word/document.xml")).find(f"{W}body")
        numbers = numbers_of(*(archive.read(part) if part in names else b"" for part in _LISTS))
    for block in body if body is not None else ():
        if block.tag == f"{W}tbl":
            rows = [
                ["tr", {}, [["td", {}, [_text(cell)]] for cell in row.iter(f"{W}tc")]] for row in block.iter(f"{W}tr")
            ]
            yield ["table", {}, [["tbody", {}, rows]]]
        elif text := " ".join(part for part in (numbers.before(block), _text(block)) if part):
            style = block.find(f"{W}pPr/{W}pStyle")
            named = (style.get(f"{W}val") or "").lower() if style is not None else ""
            yield ["h4" if named.startswith(("heading", "title")) else "p", {}, [text]]


def _text(block: ElementTree.Element) -> str:
    """The words of a block; a picture is named."""
    instead = {"tab": " ", "br": " ", "drawing": "[picture]"}
    names = ((node.tag.rpartition("}")[2], node.text or "") for node in block.iter())
    return "".join(text if name == "t" else instead.get(name, "") for name, text in names).strip()


if __name__ == "__main__":
    sys.exit(serve(load, *map(int, sys.argv[1:])))
