"""Office files to Markdown, and originals to be seen beside it, in processes of their own: a hostile file holds up
nobody else's.
"""

from __future__ import annotations

import base64
from collections.abc import Mapping
from typing import Any

from core.adapters.conversion.ocr import Ocr
from core.adapters.conversion.worker_pool import Limits, Overrun, WorkerPool
from core.curation.upload.conversions import NOTES, Conversion, Original, PartFacts, Picture, ToCheck
from core.errors import BadInput

SIZE = 4  # files that are converted at the same time
_LEFT_OUT = "It is of the kind {}, which browsers do not show, or too large. Save it as PNG and attach it."
LOCKED = "locked"
LIMITS = Limits(wall=45.0, cpu=40, memory=2 * 1024**3)

DRAWN = (".pdf", ".docx", ".pptx", ".xlsx")
DRAWN_AT_ONCE = 2  # files that are drawn at the same time
DRAWING = Limits(wall=20.0, cpu=15, memory=2 * 1024**3)


class Converters:
    """A few converters. Files travel through pipes, so that no kill leaves a temporary file."""

    def __init__(self, limits: Limits = LIMITS, size: int = SIZE, ocr: Ocr | None = None) -> None:
        self.pool, self.ocr = WorkerPool("core.adapters.conversion.programs.worker", size, limits), ocr

    def convert(self, suffix: str, raw: bytes) -> Conversion:
        """The Markdown of a file, its pictures, and what to compare with the original."""
        try:
            answer = self.pool.ask({"suffix": suffix}, raw)
        except Overrun as error:
            raise BadInput(f"The {suffix} file {error}. Split it, or copy its text and paste it.") from None
        if answer.get("error") == LOCKED:
            raise BadInput(f"The {suffix} file is locked by a password. Save it without one, and bring it again.")
        if "error" in answer:
            raise BadInput(
                f"The {suffix} file cannot be converted: {answer['error']}. "
                "Split it or save it again in its own program, or copy its text and paste it."
            )
        found = _conversion(answer)
        return self.ocr.read(found) if self.ocr and any(image.scan for image in found.images) else found

    def close(self) -> None:
        self.pool.close()
        if self.ocr:
            self.ocr.close()


class Originals:
    """Pages of PDF files as pictures, other files as their own paragraphs and tables, slide by slide or sheet by
    sheet.
    """

    def __init__(self, limits: Limits = DRAWING, size: int = DRAWN_AT_ONCE) -> None:
        self.pool = WorkerPool("core.adapters.conversion.programs.original_worker", size, limits)

    def draw(self, suffix: str, raw: bytes, page: int = 1) -> Original:
        """One page, or the whole text; nothing for formats that cannot be drawn."""
        if suffix not in DRAWN:
            return Original()
        try:
            answer = self.pool.ask({"suffix": suffix, "page": page}, raw)
        except Overrun as error:
            raise BadInput(f"The original {error}, so it cannot be shown here. Open it in its own program.") from None
        if "error" in answer:
            raise BadInput(
                f"The original cannot be shown here ({answer['error']}). Open it in its own program and compare there."
            )
        picture = base64.b64decode(answer.get("picture", ""))
        return Original(picture, int(answer.get("pages", 1)), tuple(answer.get("nodes", ())))

    def close(self) -> None:
        self.pool.close()


def _conversion(answer: Mapping[str, Any]) -> Conversion:
    pictures = tuple(Picture(part["name"], base64.b64decode(part["data"])) for part in answer.get("pictures", ()))
    facts = [
        ToCheck(fact["kind"], fact["words"], fact["page"], note=NOTES.get(fact["kind"], ""))
        for fact in answer.get("facts", ())
    ]
    lost = [ToCheck("left out", note=_LEFT_OUT.format(kind)) for kind in answer.get("left_out", ())]
    tables, images = (tuple(PartFacts(**part) for part in answer.get(name, ())) for name in ("tables", "images"))
    return Conversion(str(answer["text"]), pictures, (*facts, *lost), str(answer.get("title", "")), tables, images)
