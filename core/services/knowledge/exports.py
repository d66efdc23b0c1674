"""A document as a file to take along: Markdown as it is kept, or Word."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime

from core.access import ANYONE, Actor, require, use_case
from core.curation.pictures.picture_files import is_picture
from core.errors import BadInput, ConcordError
from core.services.knowledge.documents import Documents
from core.types import Document

MEDIA_TYPES = {
    "md": "text/markdown",
    "docx": "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
}

WriteWord = Callable[[Document, list[str], datetime, Callable[[str], bytes | None]], bytes]


@dataclass(frozen=True, slots=True)
class ExportedFile:
    """A file by name, with its bytes and what kind it is."""

    name: str
    media_type: str
    content: bytes


class Exports:
    """Documents of the newest state as files."""

    def __init__(self, documents: Documents, write_word: WriteWord) -> None:
        self.documents, self.write_word = documents, write_word

    @use_case(ANYONE)
    def export(self, actor: Actor, name: str, kind: str) -> ExportedFile:
        """A document, by id or path, as `md` or `docx`."""
        require(actor, "read documents")
        if kind not in MEDIA_TYPES:
            raise BadInput(f"A document cannot be exported as {kind!r}. Formats: {', '.join(MEDIA_TYPES)}.")
        document = self.documents.show(name)
        content = document.text.encode() if kind == "md" else self._word(document)
        stem = document.path.split("/")[-1].removesuffix(".md")
        return ExportedFile(f"{stem}.{kind}", MEDIA_TYPES[kind], content)

    def _word(self, document: Document) -> bytes:
        last = self.documents.touched().get(document.path)
        changed = datetime.fromisoformat(last.when) if last else datetime(1970, 1, 1, tzinfo=UTC)
        facts = standing(document, last.when[:10] if last else "")
        return self.write_word(document, facts, changed.astimezone(UTC), self._picture)

    def _picture(self, path: str) -> bytes | None:
        """A picture of the newest state; None where there is none."""
        seen = self.documents.readership.now()
        if not is_picture(path) or (seen is not None and not seen.path(path)):
            return None
        try:
            return self.documents.repository.read(self.documents.repository.head(), path)
        except ConcordError:
            return None


def standing(document: Document, day: str) -> list[str]:
    """What a reader of a printed or exported copy has to know.

    >>> standing(Document("IT-1", "it/vpn.md", "VPN", "", version=3), "2026-11-05")
    ['IT-1, version 3 of 2026-11-05', 'approved', 'no owner']
    """
    meta = document.meta
    facts = [
        f"{document.id}, version {document.version}" + (f" of {day}" if day else ""),
        document.status,
        f"owner {meta.owner}" if meta.owner else "no owner",
        f"effective {meta.effective_date}" if meta.effective_date else "",
        f"review due {meta.review_due}" if meta.review_due else "",
    ]
    return [fact for fact in facts if fact]
