"""Unsaved text and pictures of editors, kept per person and place, so that leaving a page loses nothing; and the
pictures of documents.
"""

from __future__ import annotations

import json
import posixpath
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import lru_cache
from typing import TYPE_CHECKING

from core import strict
from core.access import ANYONE, OWN_DATA, READS, Actor, require, use_case
from core.curation.document import size_limits
from core.curation.document.frontmatter import MAX_BYTES
from core.curation.document.links import picture_paths
from core.curation.pictures import picture_files
from core.errors import BadInput, NotFound, Stale
from core.ports import Clock
from core.types import Document

if TYPE_CHECKING:
    from core.curation.review.readers import Readable
    from core.services.knowledge.documents import Documents
    from core.storage.state.database import Database
    from core.storage.state.records import ChangeRow, DraftPlace, DraftRow


RECENT = timedelta(hours=12)  # who typed within them may still be at it
BESIDE = "\n"  # in the place of a text that could not be saved as the draft: after the name of its tab
ELSEWHERE = "You also typed in another tab or on another device. Nothing was overwritten: compare both texts."


@dataclass(frozen=True, slots=True)
class Typing:
    """A person with unsaved text of a document, in a change or (0) in the approved one."""

    name: str
    change: int
    at: str


class Drafts:
    """Drafts; each is visible to its writer alone. Others learn only that there is one.

    A save names the version that its text was typed on: two tabs or devices of one person are two writers.
    """

    def __init__(self, database: Database, clock: Clock) -> None:
        self.database, self.rows, self.clock = database, database.drafts, clock

    @use_case("propose a change", OWN_DATA)
    def keep(self, actor: Actor, place: str, text: str, since: str, most: int = MAX_BYTES) -> str:
        """Save a text that was typed on the version `since`, "" where there was none; returns its own version."""
        if len(text.encode("utf-8", "replace")) > most:
            raise BadInput(f"The text is longer than {most:,} bytes, so it was not kept. Split the document.")
        with self.database.transaction() as state:
            draft = state.drafts.get(actor.id, place)
            if draft is None or draft.text != text:
                if version(draft) != since:
                    raise Stale(ELSEWHERE)
                state.drafts.keep(actor.id, place, text, self.clock.stamp())
        return strict.digest(text)

    @use_case("propose a change", OWN_DATA)
    def find(self, actor: Actor, place: str) -> DraftRow | None:
        """The text and when it was kept; None when there is none."""
        return self.rows.get(actor.id, place)

    @use_case("propose a change", OWN_DATA)
    def beside(self, actor: Actor, place: str) -> list[DraftRow]:
        """Texts of the same place that other tabs typed on an older version, last typed first."""
        return self.rows.ending(actor.id, f"{BESIDE}{place}")

    @use_case("propose a change", OWN_DATA)
    def others(self, actor: Actor, path: str) -> tuple[Typing, ...]:
        """Who else has been typing at a document today, last typed first."""
        since = datetime.fromisoformat(self.clock.stamp()) - RECENT
        found = _typing(path, [row for row in self.rows.at(path) if row.who != actor.id])
        return tuple(typing for typing in found if datetime.fromisoformat(typing.at) >= since)

    @use_case("propose a change", OWN_DATA)
    def mine(self, actor: Actor, path: str) -> tuple[Typing, ...]:
        """Where the actor has unsaved text of a document, last typed first."""
        return _typing(path, [row for row in self.rows.at(path) if row.who == actor.id])

    @use_case("propose a change", OWN_DATA)
    def forget(self, actor: Actor, place: str, since: str) -> None:
        """Drop a draft that is still at this version: what was typed later elsewhere stays."""
        with self.database.transaction() as state:
            if version(state.drafts.get(actor.id, place)) == since:
                state.drafts.drop(actor.id, place)


def version(draft: DraftRow | None) -> str:
    """What names the text of a draft; "" where there is none."""
    return strict.digest(draft.text) if draft else ""


def _typing(path: str, rows: Iterable[DraftPlace]) -> tuple[Typing, ...]:
    """Each person and change once."""
    found: dict[tuple[str, int], Typing] = {}
    for row in rows:
        change, _, where = row.place.rpartition(BESIDE)[2].partition(":")
        if where == path and change.isdecimal():
            found.setdefault((row.who, int(change)), Typing(row.name, int(change), row.at))
    return tuple(found.values())


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

    @use_case(ANYONE)
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

    @use_case(ANYONE)
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
        """A picture by its blob: an approved one for the readers of its document, another for those who see a change
        that has it.
        """
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

    @use_case("propose a change", OWN_DATA)
    def hold(self, actor: Actor, place: str, document: str, name: str, raw: bytes) -> HeldPicture:
        """Keep a picture for a text that is being written. `place` is that of its draft, `document` the path it has so
        far.
        """
        draft = self.drafts.find(actor, _pending(place))
        waiting = _blobs_of(draft)
        taken = {*self.blobs(self.repository.head()), *waiting}
        path = picture_files.place(document, name, taken)
        content = picture_files.checked(path, raw)
        if len(waiting) >= size_limits.PICTURES_OF_DOCUMENT:
            raise BadInput(f"A document has at most {size_limits.PICTURES_OF_DOCUMENT} pictures. Split it.")
        blob = self.repository.stage(content)
        try:
            self.drafts.keep(actor, _pending(place), json.dumps({**waiting, path: blob}), version(draft))
        except Stale:  # another tab kept one meanwhile: this one goes beside it
            return self.hold(actor, place, document, name, raw)
        folder = posixpath.basename(picture_files.folder_of(document))
        words = posixpath.splitext(posixpath.basename(path))[0].replace("-", " ")
        return HeldPicture(path, blob, f"![{words}]({folder}/{posixpath.basename(path)})")

    @use_case("propose a change", OWN_DATA)
    def held(self, actor: Actor, place: str) -> dict[str, str]:
        """The blobs of the pictures that wait in a draft, by path."""
        return _blobs_of(self.drafts.find(actor, _pending(place)))

    @use_case("propose a change", OWN_DATA)
    def with_text(self, actor: Actor, place: str, path: str, text: str) -> dict[str, bytes | None]:
        """A draft as the files of a change: its text, and the pictures that it still shows, in the folder of its
        document.
        """
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

    @use_case("propose a change", OWN_DATA)
    def forget(self, actor: Actor, place: str) -> None:
        """Drop the pictures of a draft, unless a text of it that another tab typed still waits."""
        if not self.drafts.find(actor, place) and not self.drafts.beside(actor, place):
            self.drafts.rows.drop(actor.id, _pending(place))


def _pending(place: str) -> str:
    return f"pictures of {place}"


def _blobs_of(draft: DraftRow | None) -> dict[str, str]:
    return dict(json.loads(draft.text)) if draft else {}
