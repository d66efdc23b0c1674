"""Documents as Word files: short ones are written here, longer ones in a process with limits."""

from __future__ import annotations

import base64
from collections.abc import Callable, Sequence
from datetime import datetime

from core import strict
from core.adapters.conversion.texts import SHORT
from core.adapters.conversion.worker_pool import Limits, Overrun, WorkerPool
from core.adapters.system.docx_file import word_file
from core.curation.document.links import picture_paths
from core.curation.document.size_limits import effort
from core.errors import BadInput
from core.types import Document

LIMITS = Limits(wall=60.0, cpu=20, memory=1024**3)


class WordWriter:
    """One file at a time; a document that would take too long is refused with a sentence."""

    def __init__(self, limits: Limits = LIMITS) -> None:
        self.pool = WorkerPool("core.adapters.conversion.programs.word_worker", 1, limits)

    def write(
        self, document: Document, facts: Sequence[str], changed: datetime, picture: Callable[[str], bytes | None]
    ) -> bytes:
        """The bytes of a .docx; `facts` stand below the title, and `picture` reads one by its path."""
        if effort(document.text) <= SHORT:
            return word_file(document, facts, changed, picture)
        found = {path: raw for path in sorted(picture_paths(document)) if (raw := picture(path))}
        question = {
            "document": strict.plain(document),
            "facts": list(facts),
            "changed": changed.isoformat(),
            "pictures": [[path, len(raw)] for path, raw in found.items()],
        }
        try:
            answer = self.pool.ask(question, b"".join(found.values()))
        except Overrun as error:
            raise BadInput(f"{document.path} {error}. Take it as Markdown, or split it.") from None
        if "error" in answer:
            raise BadInput(f"{document.path} cannot be written as Word ({answer['error']}). Take it as Markdown.")
        return base64.b64decode(answer["file"])
