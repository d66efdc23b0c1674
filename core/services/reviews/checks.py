"""The checks on a change's documents, together with everything they will be published with, and the pictures that go
with them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import date
from functools import lru_cache, partial
from pathlib import Path
from typing import TYPE_CHECKING

from core.curation.checks import check_rules
from core.curation.checks.findings import CheckContext, File, Finding, Read, Reading
from core.curation.document.frontmatter import decode, read_document
from core.curation.pictures import picture_files
from core.curation.review.proposals import check_pictures, shown_pictures
from core.curation.words import pins, synonyms
from core.curation.words.pins import Pin
from core.errors import ConcordError
from core.lru import LruCache
from core.retrieval.query_rules import idle
from core.storage.cache.readings import KeptReadings, Place
from core.types import NOTHING, Document, Edit, LexicalOptions

if TYPE_CHECKING:
    from core.storage.git.repository import Repository

FILES, ANCHORS = 48 << 20, 6000  # bytes of parsed documents, and how many have their anchors known


@dataclass(frozen=True, slots=True)
class CommitContents:
    """What a commit holds, as far as checks ask."""

    blobs: Mapping[str, str]  # of documents, by path
    ids: Mapping[str, str]  # that documents declare, by path
    owners: Mapping[str, tuple[str, ...]]  # the paths that declare an id
    pictures: frozenset[str]


class Overlaid(Mapping[str, str]):
    """A mapping with some keys set anew and others gone, without a copy: there is one for each change of a list."""

    def __init__(self, base: Mapping[str, str], new: Mapping[str, str], gone: Collection[str]) -> None:
        self.base, self.new, self.gone = base, new, gone

    def __getitem__(self, key: str) -> str:
        if key in self.new:
            return self.new[key]
        if key in self.gone:
            raise KeyError(key)
        return self.base[key]

    def __iter__(self) -> Iterator[str]:
        return iter({**dict.fromkeys(key for key in self.base if key not in self.gone), **self.new})

    def __len__(self) -> int:
        return sum(1 for _ in self)


class IdOwners(Mapping[str, str]):
    """Id to path: a document keeps its id, then existing ones, then new ones."""

    def __init__(
        self,
        owners: Mapping[str, tuple[str, ...]],
        gone: Collection[str] = (),
        kept: Mapping[str, str] = NOTHING,
        claims: Mapping[str, str] = NOTHING,
    ) -> None:
        self.owners = owners
        self.gone = gone
        self.kept = kept
        self.claims = claims

    def __getitem__(self, name: str) -> str:
        if name in self.kept:
            return self.kept[name]
        there = next((path for path in self.owners.get(name, ()) if path not in self.gone), "")
        return there or self.claims[name]

    def __iter__(self) -> Iterator[str]:
        return (name for name in {**self.kept, **dict.fromkeys(self.owners), **self.claims} if self.get(name))

    def __len__(self) -> int:
        return sum(1 for _ in self)


class AnchorsOf(Mapping[str, frozenset[str]]):
    """Anchors by path; a document is read only when a link leads to it."""

    def __init__(self, blobs: Mapping[str, str], anchors: Callable[[str, str], frozenset[str]]) -> None:
        self.blobs, self.anchors = blobs, anchors

    def __getitem__(self, path: str) -> frozenset[str]:
        return self.anchors(path, self.blobs[path])

    def __contains__(self, path: object) -> bool:
        return path in self.blobs

    def __iter__(self) -> Iterator[str]:
        return iter(self.blobs)

    def __len__(self) -> int:
        return len(self.blobs)


class ChangeChecks:
    """The checks of uploads, on changes. What was parsed is kept by path and blob: a merge leaves most of it as it
    is.
    """

    def __init__(self, repository: Repository, reader: Read, caches: Path) -> None:
        self.repository, self.reader = repository, reader
        self.readings = KeptReadings[Reading](caches, "readings", Reading, ("curation/**/*.py",))
        self._ids: dict[str, str] = {}  # blob to the id that it declares
        self._files = LruCache[Place, File](FILES, lambda file: 4 * len(file.raw))
        self._known_anchors = LruCache[Place, frozenset[str]](ANCHORS)
        self._around = lru_cache(maxsize=8)(self._read_around)
        self._pins = lru_cache(maxsize=16)(self._read_pins)

    def prefetch(self, main: str, changes: Iterable[Sequence[Edit]]) -> None:
        """Read what the findings on many changes need at once, instead of file by file."""
        there = self._around(main).blobs
        edited = [edit for edits in changes for edit in _documents(edits)]
        after = [(edit.path, edit.blob) for edit in edited]
        before = [(path, there[path]) for edit in edited if (path := edit.old_path or edit.path) in there]
        self._keep(self._parsed(place for place in (*after, *before) if place not in self._files))
        files = [file for place in (*after, *before) if (file := self._files.get(place))]
        targets = {(link.path, there[link.path]) for file in files for link in file.links if link.path in there}
        new = {place for place in targets if place not in self._known_anchors}
        known = self.readings.get(new)
        for place, reading in known.items():
            self._known_anchors[place] = frozenset(reading.anchors)
        self._parsed(new - known.keys())

    def findings(self, head: str, main: str, edits: Sequence[Edit], today: date | None = None) -> tuple[Finding, ...]:
        """Findings on what a change adds or edits, document by document, and on pins that it leaves without their
        document.
        """
        words = (*self._on_synonyms(head, edits), *self._on_pins(head, main, edits))
        return (*self._on_documents(main, edits, today), *words)

    def _on_documents(self, main: str, edits: Sequence[Edit], today: date | None) -> Iterator[Finding]:
        files = {edit.path: self._file(edit.path, edit.blob) for edit in _documents(edits)}
        context = self._context(main, edits, files, today) if files else CheckContext()
        for edit in _documents(edits):
            yield from _marked(_judged(files[edit.path], context), self._before(main, edit, today))

    def _before(self, main: str, edit: Edit, today: date | None) -> Counter[tuple[str, str]]:
        """What the knowledge base says about a document already, as rules with their messages."""
        path, there = edit.old_path or edit.path, self._around(main)
        if path not in there.blobs:
            return Counter()
        context = CheckContext(self._anchors(there.blobs), IdOwners(there.owners), today, there.pictures)
        found = _judged(self._file(path, there.blobs[path]), context)
        return Counter((finding.rule, finding.message) for finding in found)

    def _file(self, path: str, blob: str) -> File | Finding:
        """A document as the checks need it."""
        return self._files.get((path, blob)) or self._keep(self._parsed([(path, blob)]))[path, blob]

    def _keep(self, files: dict[Place, File | Finding]) -> dict[Place, File | Finding]:
        for place, file in files.items():
            if isinstance(file, File):
                self._files[place] = file
        return files

    def _parsed(self, places: Iterable[Place]) -> dict[Place, File | Finding]:
        """Documents, parsed where nobody did so before. A refusal is not kept, which may be due to a busy machine."""
        asked = list(dict.fromkeys(places))
        texts, known = self.repository.texts(blob for _, blob in asked), self.readings.get(asked)
        found: dict[Place, File | Finding] = {}
        for path, blob in asked:
            read = partial(_kept, known.get((path, blob)), self.reader)
            file = found[path, blob] = check_rules.parsed(path, texts[blob], read)
            self._known_anchors[path, blob] = frozenset(file.anchors if isinstance(file, File) else ())
        new = {place: file.reading for place, file in found.items() if place not in known and isinstance(file, File)}
        self.readings.put({place: reading for place, reading in new.items() if reading})
        return found

    def _anchors_of(self, path: str, blob: str) -> frozenset[str]:
        """None for a file that cannot be read; it has a finding of its own."""
        anchors = self._known_anchors.get((path, blob))
        if anchors is None:
            self._parsed([(path, blob)])
            anchors = self._known_anchors.get((path, blob))
        return anchors or frozenset()

    def _anchors(self, blobs: Mapping[str, str]) -> AnchorsOf:
        return AnchorsOf(blobs, self._anchors_of)

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
        blobs = Overlaid(self._around(main).blobs, kept, touched)
        for pin in listed:
            raw = self.repository.blob(blobs[pin.document]) if pin.document in blobs else None
            severity, message = pins.pin_problem(pin, read(pin.document, raw) if raw is not None else None)
            if severity:
                yield Finding(pins.FILE, pin.line, severity if own else "warning", "pins", message)

    def _read_pins(self, commit: str) -> tuple[Pin, ...]:
        """The pins of a commit; none where the file is missing or cannot be read, which is said elsewhere."""
        try:
            return pins.read(self.repository.read(commit, pins.FILE)) if commit else ()
        except ConcordError:
            return ()

    def typed(
        self, path: str, text: str, base: str, today: date | None = None, pictures: Collection[str] = ()
    ) -> tuple[Finding, ...]:
        """Findings on a text that is being written, against a commit and the pictures that its draft holds."""
        there = self._around(base)
        attachments = there.pictures | frozenset(pictures)
        context = CheckContext(self._anchors(there.blobs), IdOwners(there.owners, (path,)), today, attachments)
        return check_rules.check(path, text.encode("utf-8", "replace"), context, self.reader)

    def _context(
        self, main: str, edits: Sequence[Edit], files: Mapping[str, File | Finding], today: date | None
    ) -> CheckContext:
        """Main without what the change removes, plus the change itself."""
        there = self._around(main)
        proposed = {edit.path: edit.blob for edit in edits if edit.kind != "deleted"}
        gone = {path for edit in edits for path in (edit.path, edit.old_path) if path}
        blobs = Overlaid(there.blobs, {path: proposed[path] for path in files}, gone)
        claims = {path: file.document.meta.id for path, file in files.items() if isinstance(file, File)}
        before = {edit.path: there.ids.get(edit.old_path or edit.path, "") for edit in edits}
        kept = {name: path for path, name in claims.items() if name and before.get(path) == name}
        new = {name: path for path, name in reversed(claims.items()) if name}
        pictures = (there.pictures - gone) | frozenset(proposed)
        return CheckContext(self._anchors(blobs), IdOwners(there.owners, gone, kept, new), today, pictures)

    def _read_around(self, commit: str) -> CommitContents:
        if not commit:
            return CommitContents({}, {}, {}, frozenset())
        blobs = self.repository.blobs(commit)
        ids = self._declared(blobs)
        owners: dict[str, tuple[str, ...]] = {}
        for path, name in ids.items():
            if name:
                owners[name] = (*owners.get(name, ()), path)
        pictures = frozenset(entry.path for entry in self.repository.pictures(commit))
        return CommitContents(blobs, ids, owners, pictures)

    def _declared(self, blobs: Mapping[str, str]) -> dict[str, str]:
        new = {blob: path for path, blob in blobs.items() if blob not in self._ids}
        for (blob, path), raw in zip(new.items(), self.repository.read_blobs(list(new)), strict=True):
            self._ids[blob] = _id(path, raw)
        return {path: self._ids[blob] for path, blob in blobs.items()}


def _documents(edits: Iterable[Edit]) -> list[Edit]:
    """Those that leave a document behind."""
    return [edit for edit in edits if edit.kind != "deleted" and edit.path.endswith(".md")]


def _kept(known: Reading | None, read: Read, document: Document) -> Reading:
    return known or read(document)


def _judged(file: File | Finding, context: CheckContext) -> tuple[Finding, ...]:
    return check_rules.in_context(file, context) if isinstance(file, File) else (file,)


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
    """The files of an edit on a commit, with the pictures of deleted documents that no other one shows; too many are
    refused.
    """
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
