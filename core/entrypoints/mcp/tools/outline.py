"""outline: the sections of a document, or the documents that there are."""

from __future__ import annotations

from collections import Counter
from typing import Annotated, NamedTuple

from pydantic import BaseModel, Field

from core.chunking.blocks import blocks
from core.curation.text.markup import unique_slug
from core.entrypoints.mcp.visits import (
    USUAL,
    AsOf,
    Budget,
    DocumentReply,
    Marks,
    Quoted,
    ToolReply,
    ToolSession,
    document_fields,
    longest,
)
from core.errors import NotFound
from core.types import Document


class DocumentSection(NamedTuple):
    """A heading with what stands below it."""

    name: str
    title: str
    level: int
    start: int
    end: int


class SectionReply(BaseModel):
    """A section of a document."""

    section: str = Field(description="The name to read it by.")
    title: Quoted
    level: int
    start: int
    tokens: int


class ListedReply(BaseModel):
    """A document in a list."""

    doc: str
    path: str
    title: Quoted
    version: int


class OutlineReply(ToolReply):
    """The sections of a document, or documents."""

    commit: str
    document: DocumentReply | None
    sections: list[SectionReply]
    documents: list[ListedReply]
    folders: dict[str, int] = Field(description="Folders with the number of documents below them.")
    left_out: int = Field(description="Entries that the budget left no room for.")

    def words(self) -> str:
        listed = [
            f"{'  ' * (each.level - 1)}{each.section}: {each.title} ({each.tokens} tokens)" for each in self.sections
        ]
        head = [self.document.about()] if self.document else []
        listed += [f"{each.doc}: {each.title} ({each.path}, version {each.version})" for each in self.documents]
        lines = [*head, *listed, *(f"{name}/: {count} documents" for name, count in self.folders.items())]
        marks = Marks(lines)
        more = f"\n{self.left_out} more: name a folder, or raise the token budget." if self.left_out else ""
        return f"{marks.notice}\n{marks(*lines)}{more}"


def outline(
    visit: ToolSession,
    document: Annotated[str, Field(description="The id or path of a document. Empty: list documents.")] = "",
    folder: Annotated[str, Field(description="Without a document: only those below this folder.")] = "",
    token_budget: Budget = USUAL,
    as_of: AsOf = "",
) -> OutlineReply:
    """List the sections of a document with their sizes; without a document, the documents that there are.

    Use it to choose what to read of a long document, or to see what the knowledge base covers.
    """
    if document:
        return _of_document(visit, *visit.document(document, as_of), token_budget)
    return _of_folder(visit, folder, as_of, token_budget)


def _of_document(visit: ToolSession, document: Document, commit: str, budget: int) -> OutlineReply:
    about = DocumentReply(**document_fields(document))
    count = visit.counter()
    rows = [
        SectionReply(
            section=each.name,
            title=each.title,
            level=each.level,
            start=each.start,
            tokens=count(document.text[each.start : each.end]),
        )
        for each in sections(document)
    ]

    def made(n: int) -> OutlineReply:
        return OutlineReply(
            commit=commit, document=about, sections=rows[:n], documents=[], folders={}, left_out=len(rows) - n
        )

    return made(longest(len(rows), lambda n: count.within(made(n), budget)))


def _of_folder(visit: ToolSession, folder: str, as_of: str, budget: int) -> OutlineReply:
    commit, below = visit.commit(as_of), f"{folder.strip('/')}/".lstrip("/")
    known = [each for each in visit.app.knowledge.documents.all(commit) if each.meta.status == "approved"]
    listed = [each for each in known if each.path.startswith(below)]
    if folder and not listed:
        there = sorted({each.path.partition("/")[0] for each in known if "/" in each.path})
        raise NotFound(f"There is no document below {folder!r}. Folders: {', '.join(there)}.")
    rows = [ListedReply(doc=each.id, path=each.path, title=each.title, version=each.version) for each in listed]
    folders = Counter(
        each.path.removeprefix(below).partition("/")[0] for each in listed if "/" in each.path[len(below) :]
    )
    under = {f"{below}{name}": count for name, count in sorted(folders.items())}

    count = visit.counter()

    def made(n: int) -> OutlineReply:
        left_out = len(rows) - n
        return OutlineReply(
            commit=commit, document=None, sections=[], documents=rows[:n], folders=under, left_out=left_out
        )

    return made(longest(len(rows), lambda n: count.within(made(n), budget)))


def sections(document: Document) -> list[DocumentSection]:
    """Every section in order, each up to the next heading of its level or a higher one.

    >>> text = "# A\\n\\nOne.\\n\\n## B\\n\\nTwo.\\n"
    >>> [(each.name, text[each.start:each.end][-5:]) for each in sections(Document("d", "d.md", "A", text))]
    [('a', 'Two.\\n'), ('b', 'Two.\\n')]
    """
    headings = [block for block in blocks(document) if block.kind == "heading"]
    seen: Counter[str] = Counter()
    found = []
    for n, block in enumerate(headings):
        end = next((other.start for other in headings[n + 1 :] if other.level <= block.level), len(document.text))
        found.append(DocumentSection(unique_slug(block.title, seen), block.title, block.level, block.start, end))
    return found


def section_named(document: Document, name: str) -> DocumentSection:
    """A section by its name or its heading."""
    known, wanted = sections(document), name.strip().lstrip("#").strip().casefold()
    for each in known:
        if wanted in (each.name, each.title.casefold()):
            return each
    names = ", ".join(each.name for each in known[:20])
    raise NotFound(f"{document.id} has no section {name!r}. Sections: {names or 'none'}.")
