"""What a change does to each document, before and after, and what each person has seen of it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

from core.access import OWN_DATA, Actor, plain_address, use_case
from core.curation.document.frontmatter import read_document
from core.curation.pictures.picture_files import is_picture
from core.curation.review.diffs import diff
from core.errors import BadInput, ConcordError
from core.services.reviews.changes import Change, Changes
from core.types import Document, Edit

if TYPE_CHECKING:
    from core.storage.git.repository import Repository
    from core.storage.state.records import LookRow


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


def compare(repository: Repository, start: str, head: str, edit: Edit) -> DocumentDiff:
    if is_picture(edit.path):
        before, after = (edit.old_path or edit.path), edit.path
        blobs = tuple(_blob(repository, commit, path) for commit, path in ((start, before), (head, after)))
        return DocumentDiff(edit, "", "", None, None, "", (blobs[0], blobs[1]), start, head)
    before = "" if edit.kind == "added" else _text(repository, start, edit.old_path or edit.path)
    after = "" if edit.kind == "deleted" else _text(repository, head, edit.path)
    old, _ = _document(edit.old_path or edit.path, before)
    new, problem = _document(edit.path, after)
    return DocumentDiff(edit, before, after, old, new, problem, start=start, head=head)


def _blob(repository: Repository, commit: str, path: str) -> str:
    return next((entry.blob for entry in repository.pictures(commit) if entry.path == path), "")


def _text(repository: Repository, commit: str, path: str) -> str:
    return repository.read(commit, path).decode("utf-8", "replace")


def _document(path: str, text: str) -> tuple[Document | None, str]:
    if not text or not path.endswith(".md"):
        return None, ""
    try:
        return read_document(path, text), ""
    except ConcordError as error:
        return None, str(error)


def size(document: DocumentDiff) -> tuple[int, int]:
    lines = diff(document.before, document.after, 0)
    return lines.added, lines.removed


# ---------------------------------------------------------------- what people have seen


@dataclass(frozen=True, slots=True)
class Look:
    """The text that somebody saw before this one, and what others did to it since; empty after a first look."""

    before: str = ""  # a commit
    at: str = ""
    edits: int = 0
    documents: tuple[Edit, ...] = ()  # what differs between then and now


@dataclass(frozen=True, slots=True)
class News:
    """What others did to a change since somebody looked at it; not `seen` before the first look."""

    edits: int = 0
    comments: int = 0
    seen: bool = True


class ReviewerViews:
    """Looks and viewed documents, to each person their own."""

    def __init__(self, changes: Changes) -> None:
        self.changes, self.database = changes, changes.database
        self.repository, self.clock = changes.repository, changes.clock
        self._writers = lru_cache(maxsize=2048)(self._read_writers)
        self._since = lru_cache(maxsize=64)(self._compare)

    # ------------------------------------------------------------ the last look

    @use_case("propose a change", OWN_DATA)
    def look(self, actor: Actor, number: int) -> Look:
        """Remember that somebody looks now. What they saw before this text stays known until the next edit."""
        change, newest = self.changes.get(number), self.database.comments.newest(number)
        last = self.database.looks.get(actor.id, number)
        before, at = (last.before, last.before_at) if last else ("", "")
        if last and last.head != change.head:
            before, at = last.head, last.at
        if last is None or (last.head, last.comment) != (change.head, newest):
            seen = {"head": change.head, "at": self.clock.stamp(), "comment": newest}
            self.database.looks.keep(who=actor.id, change=number, **seen, before=before, before_at=at)
        writers = self._writers(before, change.head) if before else None
        if not writers:
            return Look()
        return Look(before, at, _others(actor, writers), self._since(before, change.head, change.documents))

    def _read_writers(self, before: str, head: str) -> tuple[str, ...] | None:
        """Who made each edit between two commits of a change, by address; None when one does not follow from the
        other.
        """
        if before == head:
            return ()
        if not self.repository.contains(head, before):
            return None
        return tuple(step.author.email for step, _ in self.repository.log(head, since=before))

    def _compare(self, before: str, head: str, documents: tuple[Edit, ...]) -> tuple[Edit, ...]:
        """What differs in documents that belong to the change, now or then; the rest came in from the main line."""
        then = self.repository.changed(self.repository.merge_base(self.repository.head(), before), before)
        own = {path for edit in (*documents, *then) for path in (edit.path, edit.old_path)}
        return tuple(edit for edit in self.repository.changed(before, head) if edit.path in own)

    @use_case("propose a change", OWN_DATA)
    def news(self, actor: Actor, changes: Iterable[Change]) -> dict[int, News]:
        """What is new in changes that are open, by number. What authors start, they have seen."""
        looks = self.database.looks.of_person(actor.id)
        return {change.id: self._news(actor, change, looks.get(change.id)) for change in changes if change.open}

    def _news(self, actor: Actor, change: Change, last: LookRow | None) -> News:
        if last is None and change.author != actor.id:
            return News(seen=False)
        head, comment = (last.head, last.comment) if last else (change.start, 0)
        edits = _others(actor, self._writers(head, change.head) or ())
        return News(edits, self.database.comments.by_others(change.id, actor.id, comment))

    # ------------------------------------------------------------ viewed documents

    @use_case("propose a change", OWN_DATA)
    def viewed(self, actor: Actor, number: int) -> frozenset[str]:
        """Paths whose text of now this person has marked as viewed."""
        marks = self.database.looks.viewed(actor.id, number)
        return frozenset(e.path for e in self.changes.get(number).documents if marks.get(e.path) == e.blob)

    @use_case("propose a change", OWN_DATA)
    def mark(self, actor: Actor, number: int, path: str, *, viewed: bool = True) -> None:
        """Mark a document as viewed, until its text changes."""
        blobs = {edit.path: edit.blob for edit in self.changes.get(number).documents}
        if path not in blobs:
            raise BadInput(f"The change does not touch {path!r}. Its documents: {', '.join(blobs)}.")
        if viewed:
            self.database.looks.mark(actor.id, number, path, blobs[path])
        else:
            self.database.looks.unmark(actor.id, number, path)


def _others(actor: Actor, writers: tuple[str, ...]) -> int:
    mine = plain_address(actor.email)
    return sum(plain_address(writer) != mine for writer in writers)
