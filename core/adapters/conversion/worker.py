"""The process that reads untrusted office files. Asked with `{"suffix"}` and the file, it answers `{"text"}` or `{"error"}`."""

from __future__ import annotations

import io
import sys
from collections.abc import Mapping
from typing import Any

from core.adapters.conversion.confined import Answer, serve

MAX_TEXT = 8 * 1024 * 1024  # characters; more is refused by the size check anyway


def load() -> Answer:
    """One converter per suffix; markitdown's own detection would read a damaged file as plain text."""
    from markitdown import StreamInfo
    from markitdown import converters as known

    by_suffix = {
        ".docx": known.DocxConverter(),
        ".pdf": known.PdfConverter(),
        ".html": known.HtmlConverter(),
        ".htm": known.HtmlConverter(),
        ".pptx": known.PptxConverter(),
        ".xlsx": known.XlsxConverter(),
    }

    def convert(question: Mapping[str, Any], raw: bytes) -> Mapping[str, Any]:
        suffix = question["suffix"]
        try:
            info = StreamInfo(extension=suffix, charset="utf-8")
            return {"text": str(by_suffix[suffix].convert(io.BytesIO(raw), info).markdown)[:MAX_TEXT]}
        except MemoryError:
            return {"error": "it needs too much memory"}
        except Exception as error:  # a broken file may make a library raise anything
            return {"error": type(error).__name__}

    return convert


if __name__ == "__main__":
    sys.exit(serve(load, *map(int, sys.argv[1:])))
