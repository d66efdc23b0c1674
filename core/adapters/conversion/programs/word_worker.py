"""The process that writes Word files: `{"document", "facts", "changed", "pictures"}` and the pictures in, `{"file"}`
out.
"""

from __future__ import annotations

import base64
import sys
from collections.abc import Mapping
from datetime import datetime
from typing import Any

from core import strict
from core.adapters.conversion.confined import Answer, serve
from core.adapters.system.docx_file import word_file
from core.types import Document


def load() -> Answer:
    """Loaded before memory is limited."""
    word_file(Document("", "", "", ""), (), datetime(1970, 1, 1), lambda path: None)
    return answer


def answer(question: Mapping[str, Any], raw: bytes) -> Mapping[str, Any]:
    pictures, at = dict[str, bytes](), 0
    for path, size in question["pictures"]:
        pictures[path], at = raw[at : at + size], at + size
    document = strict.parse(Document, question["document"], "document")
    try:
        made = word_file(document, question["facts"], datetime.fromisoformat(question["changed"]), pictures.get)
    except (MemoryError, RecursionError) as error:
        return {"error": type(error).__name__}
    return {"file": base64.b64encode(made).decode()}


if __name__ == "__main__":
    sys.exit(serve(load, *map(int, sys.argv[1:])))
