"""What a change does to each document, before and after."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from core.curation.diffs import diff
from core.curation.frontmatter import read_document
from core.curation.pictures import is_picture
from core.errors import ConcordError
from core.types import Document, Edit

if TYPE_CHECKING:
    from core.adapters.git.store import GitStore


@dataclass(frozen=True, slots=True)
class DocumentDiff:
    """One document of a change. A missing side is empty; an unreadable one has no document.

    For a picture, `pictures` has its blob before and after; "" where there is none.
    """

    edit: Edit
    before: str
    after: str
    old: Document | None
    new: Document | None
    problem: str = ""
    pictures: tuple[str, str] = ("", "")
    start: str = ""  # the commits that are compared
    head: str = ""

    @property
    def title(self) -> str:
        """The new title, else the old one, else the path; of a picture its name."""
        path = self.edit.path.rsplit("/", 1)[-1] if any(self.pictures) else self.edit.path
        return next((document.title for document in (self.new, self.old) if document), path)


def compare(store: GitStore, start: str, head: str, edit: Edit) -> DocumentDiff:
    if is_picture(edit.path):
        before, after = (edit.old_path or edit.path), edit.path
        blobs = tuple(_blob(store, commit, path) for commit, path in ((start, before), (head, after)))
        return DocumentDiff(edit, "", "", None, None, "", (blobs[0], blobs[1]), start, head)
    before = "" if edit.kind == "added" else _text(store, start, edit.old_path or edit.path)
    after = "" if edit.kind == "deleted" else _text(store, head, edit.path)
    old, _ = _document(edit.old_path or edit.path, before)
    new, problem = _document(edit.path, after)
    return DocumentDiff(edit, before, after, old, new, problem, start=start, head=head)


def _blob(store: GitStore, commit: str, path: str) -> str:
    return next((entry.blob for entry in store.pictures(commit) if entry.path == path), "")


def _text(store: GitStore, commit: str, path: str) -> str:
    return store.read(commit, path).decode("utf-8", "replace")


def _document(path: str, text: str) -> tuple[Document | None, str]:
    if not text or not path.endswith(".md"):
        return None, ""
    try:
        return read_document(path, text), ""
    except ConcordError as error:
        return None, str(error)


def size(document: DocumentDiff) -> tuple[int, int]:
    """Lines added and removed."""
    lines = diff(document.before, document.after, 0)
    return lines.added, lines.removed
