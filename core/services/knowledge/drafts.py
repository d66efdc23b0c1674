"""Unsaved text and pictures of editors, kept per person and place, so that leaving a page loses nothing; and the pictures of documents."""

from __future__ import annotations

import json
import posixpath
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import lru_cache
from typing import TYPE_CHECKING

from core.access import EVERYBODY, OWN_DESK, READS, Actor, require, use_case
from core.curation.document import size_limits
from core.curation.document.frontmatter import MAX_BYTES
from core.curation.document.links import picture_paths
from core.curation.pictures import picture_files
from core.errors import BadInput, NotFound
from core.ports import Clock
from core.types import Document

if TYPE_CHECKING:
    from core.curation.review.readers import Readable
    from core.services.knowledge.documents import Documents
    from core.storage.state.records import ChangeRow
    from core.storage.state.rows.knowledge_rows import DraftRows


RECENT = timedelta(hours=12)  # who typed within them may still be at it


@dataclass(frozen=True, slots=True)
class Typing:
    """Somebody else with unsaved text of a document, in a change or (0) in the approved one."""

    name: str
    change: int
    at: str


class Drafts:
    """Drafts; each is visible to its writer alone. Others learn only that there is one."""

    def __init__(self, rows: DraftRows, clock: Clock) -> None:
        self.rows, self.clock = rows, clock

    @use_case("propose a change", OWN_DESK)
    def keep(self, actor: Actor, place: str, text: str, most: int = MAX_BYTES) -> None:
        if len(text.encode("utf-8", "replace")) > most:
            raise BadInput(f"The text is longer than {most:,} bytes, so it was not kept. Split the document.")
        self.rows.keep(actor.id, place, text, self.clock.stamp())

    @use_case("propose a change", OWN_DESK)
    def find(self, actor: Actor, place: str) -> tuple[str, str] | None:
        """The text and when it was kept; None when there is none."""
        row = self.rows.get(actor.id, place)
        return (row.text, row.at) if row else None

    @use_case("propose a change", OWN_DESK)
    def others(self, actor: Actor, path: str) -> tuple[Typing, ...]:
        """Who else has been typing at a document today, last typed first."""
        since = datetime.fromisoformat(self.clock.stamp()) - RECENT
        found = ((row, *row.place.partition(":")[::2]) for row in self.rows.others(actor.id, path))
        return tuple(
            Typing(row.name, int(change), row.at)
            for row, change, where in found
            if where == path and change.isdecimal() and datetime.fromisoformat(row.at) >= since
        )

    @use_case("propose a change", OWN_DESK)
    def forget(self, actor: Actor, place: str) -> None:
        self.rows.drop(actor.id, place)


@dataclass(frozen=True, slots=True)
class ShownPicture:
    """A picture that a document shows. `blob` is "" where it is missing."""

    path: str
    blob: str = ""
    size: int = 0


@dataclass(frozen=True, slots=True)
class HeldPicture:
    """A picture of a draft: where it will lie, and the Markdown that shows it."""

    path: str
    blob: str
    markdown: str


class Pictures:
    """Pictures by commit and by blob. A blob's id is its address, so what was fetched once stays right."""

    def __init__(self, documents: Documents, drafts: Drafts, changes: Callable[[], Sequence[ChangeRow]]) -> None:
        """`changes` gives all of them."""
        self.repository, self.readership, self.drafts = documents.repository, documents.readership, drafts
        self.changes = changes
        self._at = lru_cache(maxsize=64)(self._blobs)
        self._changed = lru_cache(maxsize=256)(self._changed_blobs)
        self._approved = lru_cache(maxsize=2)(self._ever_approved)

    @use_case(EVERYBODY)
    def blobs(self, commit: str) -> Mapping[str, str]:
        """The blob of every picture of a commit, by path; what a blob holds, `read` gives to those who may see it."""
        seen, every = self.readership.now(), self._at(commit)
        return {path: blob for path, blob in every.items() if seen.path(path)} if seen else every

    def _blobs(self, commit: str) -> Mapping[str, str]:
        return {entry.path: entry.blob for entry in self.repository.pictures(commit)}

    def _ever_approved(self, head: str) -> Mapping[str, set[str]]:
        """Every blob that was a picture of main, with the paths it had."""
        found: dict[str, set[str]] = {}
        for edit in (edit for _, edits in self.repository.log(head) for edit in edits):
            if picture_files.is_picture(edit.path):
                found.setdefault(edit.blob, set()).add(edit.path)
        return found

    @use_case(EVERYBODY)
    def of(self, document: Document) -> tuple[ShownPicture, ...]:
        """The pictures that an approved document shows, and those that it names and that are missing."""
        seen, stored = self.readership.now(), self.repository.pictures(self.repository.head())
        there = {entry.path: entry for entry in stored if seen is None or seen.path(entry.path)}
        return tuple(
            ShownPicture(path, there[path].blob, there[path].size) if path in there else ShownPicture(path)
            for path in sorted(picture_paths(document))
        )

    @use_case("read documents", READS)
    def read(self, actor: Actor, blob: str, name: str) -> bytes:
        """A picture by its blob: an approved one for the readers of its document, another for those who see a change that has it."""
        raw, head = self.repository.blob(blob), self.repository.head()
        if raw is None or not picture_files.is_picture(name) or not picture_files.fits(name, raw):
            raise NotFound("There is no such picture.")
        known, seen = self._approved(head).get(blob, set()), self.readership.now()
        if not known:
            require(actor, "propose a change")
        if seen is not None and not any(map(seen.path, known)) and not self._of_draft(actor, blob, seen):
            raise NotFound("There is no such picture.")
        return picture_files.checked(name, raw) if picture_files.content_type(name) == "image/svg+xml" else raw

    def _of_draft(self, actor: Actor, blob: str, seen: Readable) -> bool:
        """Whether a picture that main never had waits in a draft of somebody's own, or is in a change that they see."""
        if self.drafts.rows.holds(actor.id, blob):
            return True
        return any(
            blob in self._changed(*self.readership.span(row)) and self.readership.sees_change(row, seen)
            for row in self.changes()
        )

    def _changed_blobs(self, start: str, head: str) -> frozenset[str]:
        return frozenset(edit.blob for edit in self.repository.changed(start, head))

    # ------------------------------------------------------------ in a draft

    @use_case("propose a change", OWN_DESK)
    def hold(self, actor: Actor, place: str, document: str, name: str, raw: bytes) -> HeldPicture:
        """Keep a picture for a text that is being written. `place` is that of its draft, `document` the path it has so far."""
        waiting = self.held(actor, place)
        taken = {*self.blobs(self.repository.head()), *waiting}
        path = picture_files.place(document, name, taken)
        content = picture_files.checked(path, raw)
        if len(waiting) >= size_limits.PICTURES_OF_DOCUMENT:
            raise BadInput(f"A document has at most {size_limits.PICTURES_OF_DOCUMENT} pictures. Split it.")
        blob = self.repository.stage(content)
        self.drafts.keep(actor, _pending(place), json.dumps({**waiting, path: blob}))
        folder = posixpath.basename(picture_files.folder_of(document))
        words = posixpath.splitext(posixpath.basename(path))[0].replace("-", " ")
        return HeldPicture(path, blob, f"![{words}]({folder}/{posixpath.basename(path)})")

    @use_case("propose a change", OWN_DESK)
    def held(self, actor: Actor, place: str) -> dict[str, str]:
        """The blobs of the pictures that wait in a draft, by path."""
        kept = self.drafts.find(actor, _pending(place))
        return dict(json.loads(kept[0])) if kept else {}

    @use_case("propose a change", OWN_DESK)
    def with_text(self, actor: Actor, place: str, path: str, text: str) -> dict[str, bytes | None]:
        """A draft as the files of a change: its text, and the pictures that it still shows, in the folder of its document."""
        files: dict[str, bytes | None] = {}
        here = picture_files.folder_of(path)
        for old, blob in self.held(actor, place).items():
            folder, name = old.rsplit("/", 1)
            written, now = posixpath.basename(folder), posixpath.basename(here)
            if written != now:
                text = text.replace(f"]({written}/{name})", f"]({now}/{name})")
            if f"{here}/{name}" in picture_paths(Document("", path, "", text)):
                files[f"{here}/{name}"] = self.repository.blob(blob)
        return {path: text.encode(), **files}

    @use_case("propose a change", OWN_DESK)
    def forget(self, actor: Actor, place: str) -> None:
        self.drafts.forget(actor, _pending(place))


def _pending(place: str) -> str:
    return f"pictures of {place}"
