"""The checks on a change's documents, together with everything they will be published with, and the pictures that go with them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import date
from functools import lru_cache
from typing import TYPE_CHECKING

from core.curation.checks import check_rules
from core.curation.checks.findings import Anchors, CheckContext, Finding, Read
from core.curation.document.frontmatter import decode, read_document
from core.curation.pictures import picture_files
from core.curation.review.proposals import check_pictures, shown_pictures
from core.curation.words import pins, synonyms
from core.curation.words.pins import Pin
from core.errors import ConcordError
from core.retrieval.query_rules import idle
from core.types import Document, Edit, LexicalOptions, TreeEntry

if TYPE_CHECKING:
    from core.storage.git.repository import Repository


class ChangeChecks:
    """The checks of uploads, on changes. The id that a blob declares is cached."""

    def __init__(self, repository: Repository, reader: Read = check_rules.read) -> None:
        self.repository, self.reader = repository, reader
        self._ids: dict[str, str] = {}  # blob to the id that it declares
        self._beside = lru_cache(maxsize=16)(self._entries)
        self._pictures = lru_cache(maxsize=16)(self._picture_paths)

    def findings(self, head: str, main: str, edits: Sequence[Edit], today: date | None = None) -> tuple[Finding, ...]:
        """Findings on what a change adds or edits, document by document, and on pins that it leaves without their document."""
        words = (*self._on_synonyms(head, edits), *self._on_pins(head, main, edits))
        return (*self._on_documents(head, main, edits, today), *words)

    def _on_documents(self, head: str, main: str, edits: Sequence[Edit], today: date | None) -> tuple[Finding, ...]:
        edited = [edit for edit in edits if edit.kind != "deleted" and edit.path.endswith(".md")]
        if not edited:
            return ()
        raw = {edit.path: self.repository.read(head, edit.path) for edit in edited}
        around = self._around(main, edits, raw, today)
        return tuple(
            finding
            for edit in edited
            for finding in _marked(
                check_rules.check(edit.path, raw[edit.path], around, self.reader), self._before(main, edit, today)
            )
        )

    def _before(self, main: str, edit: Edit, today: date | None) -> Counter[tuple[str, str]]:
        """What the knowledge base says about a document already, as rules with their messages."""
        path = edit.old_path or edit.path
        blobs = {entry.path: entry.blob for entry in self._beside(main)} if main else {}
        if path not in blobs:
            return Counter()
        owners = {name: at for at, name in self._declared(blobs).items() if name}
        around = CheckContext(self._anchors(blobs), owners, today, self._pictures(main))
        found = check_rules.check(path, next(self.repository.read_blobs([blobs[path]])), around, self.reader)
        return Counter((finding.rule, finding.message) for finding in found)

    def _on_synonyms(self, head: str, edits: Sequence[Edit]) -> Iterator[Finding]:
        """Phrases that would never be searched for; what cannot be read is said elsewhere."""
        if any(edit.path == synonyms.FILE and edit.kind != "deleted" for edit in edits):
            with suppress(ConcordError):
                for synonym in synonyms.read(self.repository.read(head, synonyms.FILE)):
                    if message := idle(synonym, LexicalOptions()):
                        yield Finding(synonyms.FILE, synonym.line, "error", "synonyms", message)

    def _on_pins(self, head: str, main: str, edits: Sequence[Edit]) -> Iterator[Finding]:
        """A pin that the change writes must lead somewhere; one that it leaves behind is a warning."""
        touched = {path for edit in edits for path in (edit.path, edit.old_path) if path}
        own, kept = pins.FILE in touched, {edit.path: edit.blob for edit in edits if edit.kind != "deleted"}
        listed = self._pins(head if own else main)
        if not own:
            listed = tuple(pin for pin in listed if pin.document in touched)
        approved = {entry.path: entry.blob for entry in self._beside(main)} if main and listed else {}
        blobs = {path: blob for path, blob in approved.items() if path not in touched} | kept
        for pin in listed:
            raw = self.repository.blob(blobs[pin.document]) if pin.document in blobs else None
            severity, message = pins.pin_problem(pin, read(pin.document, raw) if raw is not None else None)
            if severity:
                yield Finding(pins.FILE, pin.line, severity if own else "warning", "pins", message)

    def _pins(self, commit: str) -> tuple[Pin, ...]:
        """The pins of a commit; none where the file is missing or cannot be read, which is said elsewhere."""
        try:
            return pins.read(self.repository.read(commit, pins.FILE)) if commit else ()
        except ConcordError:
            return ()

    def typed(
        self, path: str, text: str, base: str, today: date | None = None, pictures: Collection[str] = ()
    ) -> tuple[Finding, ...]:
        """Findings on a text that is being written, against a commit and the pictures that its draft holds."""
        blobs = {entry.path: entry.blob for entry in self._beside(base)} if base else {}
        owners = {name: at for at, name in self._declared(blobs).items() if name and at != path}
        around = CheckContext(self._anchors(blobs), owners, today, self._pictures(base) | frozenset(pictures))
        return check_rules.check(path, text.encode("utf-8", "replace"), around, self.reader)

    def _anchors(self, blobs: Mapping[str, str]) -> Anchors:
        return Anchors(blobs, lambda path: read(path, next(self.repository.read_blobs([blobs[path]]))), self.reader)

    def _around(self, main: str, edits: Sequence[Edit], raw: Mapping[str, bytes], today: date | None) -> CheckContext:
        """Main without what the change removes, plus the change itself."""
        approved = {entry.path: entry.blob for entry in self._beside(main)} if main else {}
        proposed = {edit.path: edit.blob for edit in edits if edit.kind != "deleted"}
        gone = {path for edit in edits for path in (edit.path, edit.old_path) if path}
        blobs = {path: blob for path, blob in approved.items() if path not in gone}
        blobs |= {path: blob for path, blob in proposed.items() if path in raw}
        pictures = (self._pictures(main) - gone) | frozenset(proposed)
        return CheckContext(self._anchors(blobs), self._owners(approved, edits, raw, gone), today, pictures)

    def _owners(
        self, approved: Mapping[str, str], edits: Sequence[Edit], raw: Mapping[str, bytes], gone: set[str]
    ) -> dict[str, str]:
        """Id to path: a document keeps its id, then existing ones, then new ones."""
        declared, claims = self._declared(approved), {path: _id(path, content) for path, content in raw.items()}
        before = {edit.path: declared.get(edit.old_path or edit.path, "") for edit in edits}
        owners = {name: path for path, name in claims.items() if name and before.get(path) == name}
        for path, name in [*((path, name) for path, name in declared.items() if path not in gone), *claims.items()]:
            if name:
                owners.setdefault(name, path)
        return owners

    def _declared(self, blobs: Mapping[str, str]) -> dict[str, str]:
        new = {blob: path for path, blob in blobs.items() if blob not in self._ids}
        for (blob, path), raw in zip(new.items(), self.repository.read_blobs(list(new)), strict=True):
            self._ids[blob] = _id(path, raw)
        return {path: self._ids[blob] for path, blob in blobs.items()}

    def _picture_paths(self, commit: str) -> frozenset[str]:
        return frozenset(entry.path for entry in self.repository.pictures(commit))

    def _entries(self, commit: str) -> tuple[TreeEntry, ...]:
        return tuple(entry for entry in self.repository.entries(commit) if entry.path.endswith(".md"))


def _marked(findings: Iterable[Finding], before: Counter[tuple[str, str]]) -> Iterator[Finding]:
    """Findings, with those marked that were there before, as often as they were."""
    for finding in findings:
        known = before[(finding.rule, finding.message)] > 0
        before[(finding.rule, finding.message)] -= known
        yield replace(finding, known=True) if known else finding


def read(path: str, raw: bytes) -> Document | None:
    """A file as a document, if it is one."""
    try:
        return read_document(path, decode(raw))
    except ConcordError:
        return None


def _id(path: str, raw: bytes) -> str:
    document = read(path, raw)
    return document.meta.id if document else ""


Files = Mapping[str, bytes | None]


def complete(repository: Repository, commit: str, files: Files) -> dict[str, bytes | None]:
    """The files of an edit on a commit, with the pictures of deleted documents that no other one shows; too many are refused."""
    there = {entry.path: entry.size for entry in repository.pictures(commit)}
    gone = [path for path, raw in files.items() if raw is None and path.endswith(".md")]
    every = dict(files)
    if gone and there:
        every = {**dict.fromkeys(_orphans(repository, commit, files, gone, there)), **files}
    if there or any(map(picture_files.is_picture, files)):
        sizes = {**there, **{path: len(raw or b"") for path, raw in every.items() if picture_files.is_picture(path)}}
        check_pictures(every, {path: size for path, size in sizes.items() if every.get(path, b"") is not None})
    return every


def _orphans(repository: Repository, commit: str, files: Files, gone: Iterable[str], there: Iterable[str]) -> list[str]:
    """Pictures that only deleted documents show."""
    entries = {entry.path: entry.blob for entry in repository.entries(commit)}
    texts = dict(zip(entries, repository.read_blobs(list(entries.values())), strict=True))
    lost = {path for name in gone if name in texts for path in shown_pictures(name, texts[name])}
    kept = {**texts, **files}
    still = {
        path
        for name, raw in kept.items()
        if raw is not None and name.endswith(".md")
        for path in shown_pictures(name, raw)
    }
    return sorted((lost - still) & set(there))
