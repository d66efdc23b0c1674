"""What a change does to each document: both texts, read as documents where they can be."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from core.curation.diffs import diff
from core.curation.frontmatter import read_document
from core.errors import ConcordError
from core.types import Document, Edit

if TYPE_CHECKING:
    from core.adapters.git.store import GitStore


@dataclass(frozen=True, slots=True)
class DocumentDiff:
    """One document of a change. A side that does not exist is empty; one that cannot be read has no document."""

    edit: Edit
    before: str
    after: str
    old: Document | None
    new: Document | None
    problem: str = ""

    @property
    def title(self) -> str:
        """The title as it will be, else as it was, else the path."""
        return next((one.title for one in (self.new, self.old) if one), self.edit.path)


def compare(store: GitStore, start: str, head: str, edit: Edit) -> DocumentDiff:
    """One edited document with its two sides."""
    before = "" if edit.kind == "added" else _text(store, start, edit.old_path or edit.path)
    after = "" if edit.kind == "deleted" else _text(store, head, edit.path)
    old, _ = _document(edit.old_path or edit.path, before)
    new, problem = _document(edit.path, after)
    return DocumentDiff(edit, before, after, old, new, problem)


def _text(store: GitStore, commit: str, path: str) -> str:
    return store.read(commit, path).decode("utf-8", "replace")


def _document(path: str, text: str) -> tuple[Document | None, str]:
    if not text or not path.endswith(".md"):
        return None, ""
    try:
        return read_document(path, text), ""
    except ConcordError as error:
        return None, str(error)


def size(one: DocumentDiff) -> tuple[int, int]:
    """How many lines of a document came and went."""
    made = diff(one.before, one.after, 0)
    return made.added, made.removed
