"""Documents in the knowledge base: read, list, history, import."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

from core.access import ALREADY_CHECKED, ANYONE, IMPORT, Actor, allowed, use_case
from core.curation.document.frontmatter import decode, read_document, says_status
from core.curation.document.names import free_name, safe_path
from core.curation.document.size_limits import check_limits
from core.curation.pictures.picture_files import blob_id
from core.curation.review.proposals import ONLY, check_pictures, trailers
from core.curation.review.readers import EVERYONE, said_by
from core.curation.text.excerpts import nearest, places
from core.curation.upload.foreign import MARKDOWN
from core.cures import DOCUMENTS
from core.errors import BadInput, ConcordError, NotFound, Refused
from core.ports import Progress, no_progress
from core.services.knowledge import folder_import
from core.services.people.readership import Readership
from core.services.platform.main_line import MainLine
from core.types import NOTHING, Commit, Document, Edit

if TYPE_CHECKING:
    from core.storage.git.repository import Repository


MOST_GONE = 200  # deleted documents that are looked at for a name, the last ones first
_RENAME_THERE = "Only .md is read from a repository. Rename it there, or bring the files in without their history."


@dataclass(frozen=True, slots=True)
class Version:
    """One version of a document: its commit and its file at that commit."""

    number: int
    commit: Commit


@dataclass(frozen=True, slots=True)
class Gone:
    """A document that was deleted: as it was, and the commit that deleted it."""

    document: Document
    commit: Commit


@dataclass(frozen=True, slots=True)
class CommitDocuments:
    """Every document of a commit, and the files that cannot be read, each with the reason."""

    commit: str
    documents: tuple[Document, ...] = ()
    unreadable: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Imported:
    """What an import did, with the reason for each file that was refused or is no Markdown."""

    commit: str
    added: tuple[str, ...]
    edited: tuple[str, ...]
    unchanged: tuple[str, ...]
    refused: tuple[tuple[str, str], ...]
    warnings: tuple[tuple[str, str], ...] = ()
    skipped: tuple[tuple[str, str], ...] = ()
    pictures: tuple[str, ...] = ()  # that were written


def fold_versions(versions: Mapping[str, int], steps: Iterable[tuple[Edit, ...]]) -> dict[str, int]:
    """Version numbers by path after more commits, oldest first.

    >>> fold_versions({"a.md": 1}, [(Edit("edited", "a.md"),), (Edit("renamed", "b.md", old_path="a.md"),)])
    {'b.md': 3}
    """
    numbers = dict(versions)
    for edits in steps:
        leaving = {edit.old_path or edit.path: numbers.get(edit.old_path or edit.path, 0) for edit in edits}
        for edit in edits:
            if edit.kind in ("deleted", "renamed"):
                numbers.pop(edit.old_path or edit.path, None)
        for edit in edits:
            if edit.kind != "deleted":
                numbers[edit.path] = (0 if edit.kind == "added" else leaving[edit.old_path or edit.path]) + 1
    return numbers


def fold_imported(steps: Iterable[tuple[Commit, tuple[Edit, ...]]]) -> set[str]:
    """Paths whose text no reviewed change and no confirmation stands for, after commits, oldest first.

    A change that only set owners or tags approves no text.

    >>> from core.types import Person
    >>> step = lambda said, *edits: (Commit("", Person("", ""), "", said), edits)
    >>> sorted(fold_imported([
    ...     step("Import", Edit("added", "a.md"), Edit("added", "b.md")),
    ...     step("Shorten\\n\\nChange: 3", Edit("edited", "a.md"))
    ... ]))
    ['b.md']
    """
    imported: set[str] = set()
    for commit, edits in steps:
        said = {name for name, _ in trailers(commit.message)}
        brought = {edit.path for edit in edits if edit.kind != "deleted" and (edit.old_path or edit.path) in imported}
        if not said & {"Change", "Verified-by"}:
            brought = {edit.path for edit in edits if edit.kind != "deleted"}
        elif ONLY not in said:
            brought = set()
        imported = imported.difference(path for edit in edits for path in (edit.path, edit.old_path)) | brought
    return imported


def _at(document: Document, identity: str, version: int, imported: bool) -> Document:
    """The document as it is in a commit; the same one where nothing about it is new."""
    if (document.id, document.version, document.imported) == (identity, version, imported):
        return document
    return replace(document, id=identity, version=version, imported=imported)


def assign_ids(declared: Mapping[str, str]) -> dict[str, str]:
    """Path to a unique id: of two documents that claim one id, the first by path keeps it.

    >>> assign_ids({"a.md": "X-1", "b.md": "X-1", "c.md": ""})
    {'a.md': 'X-1', 'b.md': 'b', 'c.md': 'c'}
    >>> assign_ids({"a.md": "b", "b.md": ""})
    {'a.md': 'b', 'b.md': 'b-2'}
    """
    owners: dict[str, str] = {}
    for path in sorted(declared):
        if declared[path]:
            owners.setdefault(declared[path], path)
    ids = {path: name for name, path in owners.items()}
    used = set(owners)
    for path in sorted(set(declared).difference(ids)):
        ids[path] = free_name(path.removesuffix(".md"), used)
        used.add(ids[path])
    return dict(sorted(ids.items()))


class Documents:
    """The approved documents and their history."""

    def __init__(
        self,
        repository: Repository,
        admit: Callable[[Document], None] = lambda document: None,
        words: Callable[[], Mapping[str, str]] = dict,
    ) -> None:
        self.repository, self.admit, self.line = repository, admit, MainLine(repository)
        self.words = words  # the team's own for statuses
        self.readership = Readership(repository, self.whole)
        self._touched: tuple[str, Mapping[str, Commit]] = ("", {})
        self._listed: tuple[CommitDocuments, ...] = ()  # of the last two commits: main, and a day or a change beside it
        self._unapproved: tuple[tuple[Document, ...], frozenset[str]] = ((), frozenset())

    def versions(self, commit: str, since: str = "", known: Mapping[str, int] | None = None) -> dict[str, int]:
        """How often each document was changed on the main line."""
        steps = self.repository.log(commit, since=since)
        if since and steps and since not in steps[-1][0].parents[:1]:  # main moved to where another line is the first
            steps, known = self.repository.log(commit), None
        return fold_versions(known or {}, (edits for _, edits in reversed(steps)))

    @use_case(ANYONE)
    def all(self, revision: str = "main") -> tuple[Document, ...]:
        """Every document of a revision that can be read, by path."""
        return self._shown(self.whole(revision))

    def whole(self, revision: str = "main") -> tuple[Document, ...]:
        """The same, whoever reads: for services that work on all of them."""
        return self._load(revision).documents

    def imported(self) -> frozenset[str]:
        """The ids of those that nobody here has approved, whoever reads: to mark what was found."""
        documents = self.whole()
        if self._unapproved[0] is not documents:
            self._unapproved = documents, frozenset(document.id for document in documents if document.imported)
        return self._unapproved[1]

    def _shown(self, documents: tuple[Document, ...]) -> tuple[Document, ...]:
        """Those that whoever reads now may read; by the policy of today, whichever day they are of."""
        seen = self.readership.now()
        if seen is None:
            return documents
        return tuple(
            document
            for document in documents
            if seen.document(document.id, document.path) and seen.path(document.path, said_by(document))
        )

    @use_case(ANYONE)
    def audience(self) -> str:
        """A part of the key of every cache: equal for those who may read the same, and "" for everything."""
        return self.readership.audience()

    @use_case(ALREADY_CHECKED)
    def readers(self, path: str, document: Document | None = None) -> tuple[str, ...]:
        """Whom the policy names as readers of a path, or of a document that may say it itself; () for everybody."""
        names = self.readership.policy().of(path, said_by(document) if document else None)
        return () if names is None or EVERYONE in names else tuple(names)

    @use_case(ANYONE)
    def unreadable(self, revision: str = "main") -> tuple[tuple[str, str], ...]:
        """Files that cannot be read as documents, with the reason."""
        seen = self.readership.now()
        return tuple(row for row in self._load(revision).unreadable if seen is None or seen.path(row[0]))

    def _load(self, revision: str) -> CommitDocuments:
        commit = self.repository.head() if revision == "main" else self.repository.resolve(revision)
        if not commit:
            return CommitDocuments("")
        before = self._listed
        listed = next((each for each in before if each.commit == commit), None) or self._read_all(commit)
        self._listed = (listed, *(each for each in before if each.commit != commit))[:2]
        return listed

    def _read_all(self, commit: str) -> CommitDocuments:
        entries, steps = self.repository.entries(commit), self.repository.log(commit)[::-1]
        versions, unseen = fold_versions({}, (edits for _, edits in steps)), fold_imported(steps)
        known = (document for listed in self._listed[::-1] for document in listed.documents)
        read = {(document.path, document.blob): document for document in known}  # as the last commits left them
        raws = self.repository.read_blobs([entry.blob for entry in entries if (entry.path, entry.blob) not in read])
        readable, broken = [], []
        for path, blob in ((entry.path, entry.blob) for entry in entries):
            try:
                document = read.get((path, blob)) or read_document(path, decode(next(raws)), blob=blob)
                unsaid = path in unseen and document.meta.status == "approved" and not says_status(document)
                readable.append((document, versions.get(path, 1), unsaid))
            except ConcordError as error:
                broken.append((path, str(error)))
        ids = assign_ids({document.path: document.meta.id for document, _, _ in readable})
        listed = (_at(document, ids[document.path], version, unsaid) for document, version, unsaid in readable)
        return CommitDocuments(commit, tuple(listed), tuple(broken))

    @use_case(ANYONE)
    def show(self, name: str) -> Document:
        """A document of the newest state, by id or path."""
        document = self._named(name, self.all())
        self.readership.note(document)
        return document

    @use_case(ANYONE)
    def show_at(self, actor: Actor, name: str, as_of: str) -> Document:
        """A document of any state of the main line, by day or commit; what is not merged is for those who see
        changes.
        """
        try:
            commit = self.line.moment(as_of).commit
        except (BadInput, Refused):
            commit = self.repository.resolve(as_of)
            if not allowed(actor, "propose a change") and all(commit != state for state, _ in self.line.states()):
                raise Refused(
                    f"{as_of!r} is no state of the main line, and only authors and above may read what is not merged."
                ) from None
        document = self._named(name, self.all(commit))
        self.readership.note(document)
        return document

    def _named(self, name: str, documents: Iterable[Document]) -> Document:
        for document in documents:
            if name in (document.id, document.path):
                return document
        raise NotFound(f"There is no document {name!r}.", DOCUMENTS)

    @use_case(ANYONE)
    def commits(self, limit: int | None = None) -> tuple[tuple[Commit, tuple[Edit, ...]], ...]:
        """The main line, newest first: each commit with the edits of files that can be read. One that has no other is
        left out.
        """
        head, seen = self.repository.head(), self.readership.now()
        if seen is None:
            return tuple(self.repository.log(head, limit=limit) if limit else self.repository.log(head))
        known = ((commit, seen.edits(edits)) for commit, edits in self.repository.log(head))
        return tuple(islice(((commit, edits) for commit, edits in known if edits), limit))

    @use_case(ANYONE)
    def touched(self) -> Mapping[str, Commit]:
        """The last commit of every document, by path."""
        head = self.repository.head()
        if self._touched[0] != head:
            last: dict[str, Commit] = {}
            for commit, edits in self.repository.log(head):
                for edit in edits:
                    last.setdefault(edit.path, commit)
            self._touched = (head, last)
        seen = self.readership.now()
        return {path: step for path, step in self._touched[1].items() if seen.path(path)} if seen else self._touched[1]

    @use_case(ANYONE)
    def authored(self) -> tuple[tuple[Commit, tuple[Edit, ...]], ...]:
        """Who wrote what, on whatever branch: every commit with the documents that it changed, newest first."""
        seen, steps = self.readership.now(), self.repository.authored(self.repository.head())
        if seen is None:
            return steps
        shown = ((commit, tuple(edit for edit in edits if seen.path(edit.path)), len(edits)) for commit, edits in steps)
        return tuple(
            (commit if len(kept) == whole else replace(commit, message=""), kept)
            for commit, kept, whole in shown
            if kept
        )

    @use_case(ANYONE)
    def at(self, step: Commit) -> Document:
        """A document as a step of its history holds it, at the path it had then."""
        document = read_document(step.path, decode(self.repository.read(step.id, step.path)))
        if not self._shown((replace(document, id=document.meta.id),)):
            raise NotFound(f"There is no version of {step.path!r} at {step.id[:12]}.")
        return document

    @use_case(ANYONE)
    def source(self, commit: str, path: str) -> str:
        """The text of a file at a commit that somebody was shown."""
        raw, seen = self.repository.read(commit, path), self.readership.now()
        if seen is not None and not seen.path(path):
            raise NotFound(f"There is no document {path!r} at {commit[:12]}.")  # as of one that never was
        return decode(raw)

    @use_case(ANYONE)
    def history(self, name: str) -> tuple[Version, ...]:
        """Versions, newest first."""
        document = self.show(name)
        steps, seen = self.repository.history(self.repository.head(), document.path), self.readership.now()
        return tuple(
            Version(len(steps) - n, step) for n, step in enumerate(steps) if seen is None or seen.path(step.path)
        )

    @use_case(ANYONE)
    def deleted(self, name: str) -> Gone | None:
        """The last state of a document that is gone, by id or path; None where there never was one."""
        looked = 0
        for commit, edits in self.repository.log(self.repository.head()):
            for edit in (edit for edit in edits if edit.kind == "deleted" and edit.path.endswith(".md")):
                looked += 1
                if looked > MOST_GONE or not commit.parents:
                    return None
                document = self._before(commit, edit.path)
                if document and name in (document.id, edit.path) and self._shown((document,)):
                    return Gone(document, commit)
        return None

    def _before(self, commit: Commit, path: str) -> Document | None:
        try:
            return read_document(path, decode(self.repository.read(commit.parents[0], path)))
        except ConcordError:
            return None

    @use_case(ANYONE)
    def passage(self, document: Document, start: int, end: int, version: int) -> tuple[int, int] | None:
        """Where a passage of one version is in another; None if it changed."""
        if version == document.version:
            return (start, end)
        steps, back = self.repository.history(self.repository.head(), document.path), document.version - version
        try:
            old = self.at(steps[back]) if 0 < back < len(steps) else None
        except ConcordError:
            return None
        return nearest(places(document.text, old.text[start:end], document.body), start) if old else None

    # ------------------------------------------------------------ bringing in

    @use_case(ANYONE)
    def inventory(self, progress: Progress = no_progress) -> Imported:
        """What the newest state holds, as an import would report it: files that cannot be used are named, and stay in
        the repository.
        """
        head, refused, good = self.repository.head(), list(self.unreadable()), list[str]()
        for n, document in enumerate(documents := self.all(), 1):
            try:
                check_limits(document.text)
                self.admit(document)
                good.append(safe_path(document.path))
            except ConcordError as error:
                refused.append((document.path, str(error)))
            progress(n, len(documents), "Reading")
        seen = self.readership.now()
        paths = [path for path in self.repository.paths(head) if seen is None or seen.path(path)]
        pictures = tuple(p.path for p in self.repository.pictures(head) if seen is None or seen.path(p.path))
        refused += [(path, _RENAME_THERE) for path in paths if _is_other_markdown(path)]
        skipped = tuple(folder_import.skipped(folder_import.of_paths(paths)))
        return Imported(head, tuple(good), (), (), tuple(sorted(refused)), skipped=skipped, pictures=pictures)

    @use_case("import documents", IMPORT, whole=True)
    def import_folder(
        self,
        actor: Actor,
        folder: Path,
        message: str = "",
        into: str = "",
        progress: Progress = no_progress,
        saving: Callable[[Callable[[], Imported]], Imported] = lambda save: save(),
    ) -> Imported:
        """Import a folder of Markdown as one commit, with its relative paths. Bad files are refused one by one.

        `saving` is called to save what was read, such as inside a transaction that also records it.
        """
        if not folder.is_dir():
            raise NotFound(f"There is no folder {str(folder)!r}.")
        stored = [entry.path for entry in self.repository.entries(self.repository.head())]
        listed = folder_import.listing(folder)
        read = folder_import.documents(listed, into, stored, self.admit, progress, self.words())
        text = message or f"Import {len(read.files)} documents from {folder.name}"
        images, left_out = folder_import.pictures(listed, into, read.files)
        skipped = (*left_out, *folder_import.skipped(listed))

        def save() -> Imported:
            saved = self.save(actor, read.files, read.refused, text, {**read.pictures, **images})
            return replace(saved, warnings=(*read.warnings, *saved.warnings), skipped=skipped)

        return saving(save)

    @use_case("import documents", IMPORT, whole=True)
    def save(
        self,
        actor: Actor,
        files: Mapping[str, bytes],
        refused: list[tuple[str, str]],
        message: str,
        images: Mapping[str, bytes] = NOTHING,
    ) -> Imported:
        """Commit documents and pictures to the main line, without those that are equal already."""
        head = self.repository.head()
        have = {entry.path: entry.blob for entry in self.repository.entries(head)}
        current = dict(zip(have, self.repository.read_blobs(list(have.values())), strict=True))
        fresh = {path: content for path, content in files.items() if current.get(path) != content}
        warnings = _duplicate_ids({**current, **files}, set(fresh))
        stored = {entry.path: entry for entry in self.repository.pictures(head)}
        pictures = {p: raw for p, raw in images.items() if p not in stored or stored[p].blob != blob_id(raw)}
        sizes = {path: entry.size for path, entry in stored.items()} | {
            path: len(raw) for path, raw in pictures.items()
        }
        check_pictures(files, sizes)
        written = {**fresh, **pictures}
        commit = self.repository.commit("main", written, actor.person, message, expected=head) if written else head
        return Imported(
            commit=commit,
            added=tuple(sorted(path for path in fresh if path not in have)),
            edited=tuple(sorted(path for path in fresh if path in have)),
            unchanged=tuple(sorted(path for path in files if path not in fresh)),
            refused=tuple(refused),
            warnings=warnings,
            pictures=tuple(sorted(pictures)),
        )


def _is_other_markdown(path: str) -> bool:
    """Whether a file is Markdown by another ending; hidden ones are named elsewhere.

    >>> _is_other_markdown("a.mdx"), _is_other_markdown("a.md"), _is_other_markdown(".github/a.MD")
    (True, False, False)
    """
    hidden = any(part.startswith(".") for part in path.split("/"))
    return not hidden and path.lower().endswith(MARKDOWN) and not path.endswith(".md")


def _duplicate_ids(files: Mapping[str, bytes], fresh: set[str]) -> tuple[tuple[str, str], ...]:
    """Documents whose id is taken; they are imported and found by path instead."""
    declared: dict[str, str] = {}
    for path, raw in files.items():
        try:
            declared[path] = read_document(path, decode(raw)).meta.id
        except ConcordError:
            continue
    ids = assign_ids(declared)
    owners = {identity: path for path, identity in ids.items()}
    return tuple(
        (
            path,
            f"The id {declared[path]!r} already belongs to {owners[declared[path]]}; this document is known by its "
            "path until one of them changes.",
        )
        for path in sorted(fresh)
        if path in ids and declared[path] and ids[path] != declared[path]
    )
