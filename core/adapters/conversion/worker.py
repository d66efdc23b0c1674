"""The process that reads untrusted office files. Asked with `{"suffix"}` and the file, it answers with what it holds, or `{"error"}`."""

from __future__ import annotations

import io
import sys
from collections.abc import Mapping
from typing import Any

from core.adapters.conversion import pdf_facts, word
from core.adapters.conversion.confined import Answer, serve
from core.adapters.conversion.html_markdown import TakenPictures, markdown

MAX_TEXT = 8 * 1024 * 1024  # characters; more is refused by the size check anyway


def load() -> Answer:
    """One converter per suffix; markitdown's own detection would read a damaged file as plain text."""
    from markitdown import StreamInfo
    from markitdown import converters as known

    others = {".pdf": known.PdfConverter(), ".pptx": known.PptxConverter(), ".xlsx": known.XlsxConverter()}

    def other(suffix: str, raw: bytes) -> Mapping[str, Any]:
        info = StreamInfo(extension=suffix, charset="utf-8")
        text = str(others[suffix].convert(io.BytesIO(raw), info).markdown)
        return {"text": text, "facts": pdf_facts.facts(raw) if suffix == ".pdf" else []}

    def convert(question: Mapping[str, Any], raw: bytes) -> Mapping[str, Any]:
        suffix = question["suffix"]
        try:
            if suffix in others:
                answer = other(suffix, raw)
            else:
                answer = word.convert(raw) if suffix == ".docx" else _html(raw)
            return {**answer, "text": answer["text"][:MAX_TEXT]}
        except MemoryError:
            return {"error": "it needs too much memory"}
        except Exception as error:  # a broken file may make a library raise anything
            return {"error": type(error).__name__}

    return convert


def _html(raw: bytes) -> Mapping[str, Any]:
    from bs4 import UnicodeDammit

    pictures = TakenPictures()
    html = UnicodeDammit(raw, ["utf-8"], is_html=True).unicode_markup or ""
    text, title, merged = markdown(html, pictures)
    return {"text": text, "title": title, "pictures": pictures.kept, "left_out": pictures.left_out, "merged": merged}


if __name__ == "__main__":
    sys.exit(serve(load, *map(int, sys.argv[1:])))
