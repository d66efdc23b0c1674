"""The process that reads untrusted office files. Asked with `{"suffix"}` and the file, it answers with what it holds,
or `{"error"}`.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import Any

from core.adapters.conversion.confined import Answer, serve
from core.adapters.conversion.formats import sheets, slides, word
from core.adapters.conversion.formats.html_markdown import TakenPictures, markdown
from core.adapters.conversion.formats.markdown_table import TooLarge
from core.adapters.conversion.formats.pdf import reader

MAX_TEXT = 8 * 1024 * 1024  # characters; more is refused by the size check anyway


def load() -> Answer:
    """One reader per suffix: what a file says of its own kind is not believed."""
    import liteparse  # noqa: F401
    import openpyxl  # noqa: F401
    import pdfplumber  # noqa: F401
    import pptx  # noqa: F401
    import pypdfium2  # noqa: F401

    readers = {
        ".pdf": reader.convert,
        ".docx": word.convert,
        ".html": _html,
        ".htm": _html,
        ".pptx": slides.convert,
        ".xlsx": sheets.convert,
    }

    def convert(question: Mapping[str, Any], raw: bytes) -> Mapping[str, Any]:
        try:
            answer = readers[question["suffix"]](raw)
            return {**answer, "text": answer["text"][:MAX_TEXT]}
        except reader.LockedFile:
            return {"error": "locked"}
        except TooLarge as error:
            return {"error": str(error)}
        except MemoryError:
            return {"error": "it needs too much memory"}
        except RecursionError:
            return {"error": "its parts are nested too deeply"}
        except Exception:  # a broken file may make a library raise anything
            return {"error": "it is damaged"}

    return convert


def _html(raw: bytes) -> Mapping[str, Any]:
    from bs4 import UnicodeDammit

    pictures = TakenPictures()
    html = UnicodeDammit(raw, ["utf-8"], is_html=True).unicode_markup or ""
    text, title, merged = markdown(html, pictures)
    return {
        "text": text,
        "title": title,
        "pictures": pictures.kept,
        "left_out": pictures.left_out,
        "tables": [{"merged": count} for count in merged],
    }


if __name__ == "__main__":
    sys.exit(serve(load, *map(int, sys.argv[1:])))
