"""The process that parses untrusted Markdown. It is asked to read or to render a document, and answers `{"answer"}` or
`{"error"}`.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import Any

from core import strict
from core.adapters.conversion.confined import Answer, serve
from core.curation.checks import check_rules
from core.curation.document.frontmatter import read_document
from core.curation.text.markup import parser
from core.curation.text.render import render
from core.errors import ConcordError
from core.types import Document


def load() -> Answer:
    parser().parse("")
    return answer


def answer(question: Mapping[str, Any], _: bytes) -> Mapping[str, Any]:
    """What was asked about the document, as plain values."""
    parts = question["document"]
    try:
        if question["do"] == "render":
            return {"answer": strict.plain(render(Document(**parts), question["first"], question["around"]))}
        return {"answer": strict.plain(check_rules.read(read_document(parts["path"], parts["text"])))}
    except ConcordError as error:
        return {"error": str(error)}
    except (MemoryError, RecursionError) as error:
        return {
            "error": f"{parts['path']} is too large or too deeply nested to be read ({type(error).__name__}). Split it."
        }


if __name__ == "__main__":
    sys.exit(serve(load, *map(int, sys.argv[1:])))
