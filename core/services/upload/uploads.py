"""Uploads: files become items with a path, a text, checks and duplicates. Only `submit` writes."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from core.access import ALREADY_CHECKED, READS, Actor, use_case
from core.curation.checks import check_rules
from core.curation.checks.findings import Anchors, CheckContext, Finding, Read
from core.curation.document.frontmatter import decode
from core.curation.document.names import collision_key, free_path, safe_folder, safe_path
from core.curation.pictures.picture_files import is_picture
from core.curation.upload import conversions
from core.curation.upload.archives import HIDDEN, check_office
from core.curation.upload.conversions import Conversion, Picture
from core.curation.upload.edits import moves_into, origins
from core.curation.upload.foreign import brought
from core.curation.upload.items import (
    MAX_HELD,
    MAX_ITEMS,
    MAX_UPLOAD,
    TOO_MUCH,
    Batch,
    Raw,
    UploadItem,
    best_effort_text,
    brought_pictures,
    document_of,
    followed,
    path_findings,
    placed,
    places,
    plain_lines,
    proposed_path,
    relocated,
    shown,
    title_of,
    unzipped,
    usable,
)
from core.curation.upload.shingles import (
    CHOICES,
    CLOSE,
    Duplicate,
    MeaningMatches,
    ShingleIndex,
    body,
    pairs,
    replaceable,
)
from core.errors import BadInput, ConcordError, Unavailable
from core.ports import Progress, no_progress
from core.services.reviews.changes import ChangeBasis, Changes
from core.services.upload.duplicates import DuplicateFinder
from core.types import Document

if TYPE_CHECKING:
    from core.adapters.conversion.converter import Converters, Originals
    from core.services.platform.base import Base


class Uploads:
    """Reads and checks uploads, and submits them as a change."""

    def __init__(
        self,
        base: Base,
        duplicates: DuplicateFinder,
        converter: Converters,
        changes: Changes | None,
        originals: Originals | None,
    ) -> None:
        self.documents, self.reader, self.clock = base.documents, base.reader, base.clock
        self.duplicates = duplicates
        self.converter = converter
        self.changes = changes
        self.originals = originals
        self.words = base.team_settings.statuses  # the team's own for statuses

    # ------------------------------------------------------------ from bytes to items

    @use_case("propose a change", READS)
    def read(
        self,
        actor: Actor,
        files: Sequence[tuple[str, bytes]],
        into: str = "",
        progress: Progress = no_progress,
        keep: Callable[[str, bytes], None] = lambda digest, raw: None,
    ) -> Batch:
        """Files as items, with the pictures that they show. A bad file says why and does not hold up the others.

        `keep` is given what was converted, to be compared with.
        """
        folder, everything = safe_folder(into), list(unzipped(files))
        beside = [upload for upload in everything if is_picture(upload.name) or upload.refused == HIDDEN]
        uploads = [upload for upload in everything if upload not in beside]
        items, pictures, held = [], list[Picture](), 0
        for n, upload in enumerate(uploads, 1):
            if held > MAX_HELD:
                upload = replace(upload, raw=b"", refused=TOO_MUCH.format(MAX_HELD // 1024**2))
            item, brought = self._item(upload, folder)
            held += len(item.text.encode()) + sum(len(picture.raw) for picture in brought)
            items.append(_with_original(item, upload.raw, keep))
            pictures += brought
            progress(n, len(uploads), "Reading")
        linked = followed(items, folder)
        kept, left_out = brought_pictures(linked, beside, folder)
        return self.look(Batch(linked, (*pictures, *kept), left_out))

    @use_case("propose a change", READS)
    def paste(self, actor: Actor, name: str, text: str, into: str = "") -> Batch:
        """Typed or pasted text as a batch of one."""
        if not name.strip() or not text.strip():
            raise BadInput("A pasted document needs a name and some text.")
        path = f"{conversions.slug(name.strip().removesuffix('.md'))}.md"
        return self.read(actor, [(path, plain_lines(text).encode())], into)

    @use_case(ALREADY_CHECKED)
    def add(self, batch: Batch, more: Batch) -> Batch:
        if len(batch.items) + len(more.items) > MAX_ITEMS:
            raise BadInput(f"More than {MAX_ITEMS} documents at once cannot be reviewed. Submit these first.")
        kept = {picture.path: picture for picture in (*batch.pictures, *more.pictures)}
        return self.look(Batch(batch.items + more.items, tuple(kept.values()), batch.left_out + more.left_out))

    def _item(self, upload: Raw, folder: str) -> tuple[UploadItem, tuple[Picture, ...]]:
        path = proposed_path(upload.name, folder)
        try:
            if upload.refused:
                raise BadInput(upload.refused)
            found, converted, changed = self._text(upload)
            found = placed(usable(found), path)
            notes = _notes(path, upload.raw, converted, changed)
            item = UploadItem(upload.name, path, found.text, converted, notes=notes, to_check=found.to_check)
            return item, found.pictures
        except ConcordError as error:
            why = check_rules.refusal(path, "file", str(error))
            text = best_effort_text(upload.raw, upload.name)
            return UploadItem(upload.name, path, text, findings=(why,), readable=False), ()

    def _text(self, upload: Raw) -> tuple[Conversion, str, tuple[str, ...]]:
        """The Markdown of an upload, what it was converted from, and what was changed in it."""
        suffix = conversions.suffix_of(upload.name)
        if not suffix:
            raise BadInput(f"Files of this kind cannot be used. Bring {', '.join(conversions.SUFFIXES)}.")
        if not upload.raw.strip():
            raise BadInput("The file is empty.")
        if suffix in conversions.TEXT:
            made = brought(upload.name, upload.raw, self.words())
            return made.found, "", made.changed
        if len(upload.raw) > MAX_UPLOAD:
            raise BadInput(f"The file has {len(upload.raw):,} bytes; the limit is {MAX_UPLOAD:,}.")
        if suffix in (".docx", ".pptx", ".xlsx"):
            check_office(upload.raw, suffix)
        if suffix == ".pdf" and b"%PDF" not in upload.raw[:1024]:
            raise BadInput("The file is named .pdf and is none. Bring it in its own format.")
        found = conversions.tidied(self.converter.convert(suffix, upload.raw), suffix, title_of(upload.name))
        return replace(found, text=decode(plain_lines(found.text).encode())), conversions.CONVERTED[suffix], ()

    # ------------------------------------------------------------ looking at items

    @use_case(ALREADY_CHECKED)
    def look(self, batch: Batch) -> Batch:
        """Checks and duplicates of every item, each against all others."""
        there = {collision_key(document.path): document.path for document in self.documents.all()}
        compared = replace(batch, items=tuple(self._compared(batch.items, set(there.values()))))
        around, wanted, read = self._around(compared), places(compared.items), self._reading(compared)
        return replace(batch, items=tuple(self._checked(item, around, wanted, there, read) for item in compared.items))

    @use_case(ALREADY_CHECKED)
    def edit(self, batch: Batch, n: int, *, text: str | None = None, path: str | None = None) -> Batch:
        """An item with another text or path, checked again."""
        item = batch.at(n)
        if text is not None:
            item = replace(item, text=plain_lines(text), readable=True, findings=())
        batch = batch.with_item(n, replace(item, duplicates=(), compared=False))
        if path is not None and path.strip() != item.path:
            batch = relocated(batch, {item.path: path.strip()})
            batch = batch.with_item(n, replace(batch.at(n), choice="", target="", pinned=True))
        return self.look(batch)

    @use_case(ALREADY_CHECKED)
    def choose(self, batch: Batch, n: int, choice: str, target: str = "") -> Batch:
        """Decide about a duplicate: replace that document, keep both, or drop this one; "" is undecided."""
        item = batch.at(n)
        if choice and choice not in CHOICES:
            raise BadInput(f"There is no choice {choice!r}. Choices: {', '.join(CHOICES)}.")
        known = replaceable(item.duplicates)
        if choice == "replace" and (target or (known or [""])[0]) not in known:
            raise BadInput("Only a document of the knowledge base can be replaced. Keep both, or drop this one.")
        path = (
            free_path(item.path, [document.path for document in self.documents.all()])
            if choice == "keep"
            else item.path
        )
        batch = relocated(batch, {item.path: path}) if path != item.path else batch
        target = (target or known[0]) if choice == "replace" else ""
        return self.look(batch.with_item(n, replace(batch.at(n), choice=choice, target=target)))

    @use_case(ALREADY_CHECKED)
    def decided(self, batch: Batch) -> Batch:
        """Decide without asking: a document at its own path is a new version, all others are kept."""
        for n, item in enumerate(batch.items):
            if item.undecided:
                own = any(duplicate.path == item.path and not duplicate.batch for duplicate in item.duplicates)
                batch = self.choose(batch, n, "replace" if own else "keep", item.path if own else "")
        return batch

    @use_case(ALREADY_CHECKED)
    def move(self, batch: Batch, into: str) -> Batch:
        """All items whose path nobody typed, in another folder, with the pictures that came along."""
        moved = relocated(batch, moves_into(batch, safe_folder(into)))
        items = (
            after if before.path == after.path else replace(after, choice="", target="", compared=False)
            for before, after in zip(batch.items, moved.items, strict=True)
        )
        return self.look(replace(moved, items=tuple(items)))

    @use_case(ALREADY_CHECKED)
    def remove(self, batch: Batch, n: int) -> Batch:
        batch.at(n)
        return self.look(replace(batch, items=batch.items[:n] + batch.items[n + 1 :]))

    @use_case(ALREADY_CHECKED)
    def meaning(self, batch: Batch, n: int) -> Batch:
        """Compare one item by meaning with every passage, not a sample."""
        item = batch.at(n)
        others = tuple(duplicate for duplicate in item.duplicates if duplicate.kind not in ("same meaning", CLOSE))
        document = document_of(item)
        if document is None:
            return batch
        excluded = frozenset({item.place, *(duplicate.path for duplicate in others)})
        found = self.duplicates.meanings([document], [excluded], probes=200)[0]
        return batch.with_item(n, _compared(item, replace(found, duplicates=others + found.duplicates)))

    def _around(self, batch: Batch) -> CheckContext:
        """Link and id targets: the approved documents and the other items."""
        known = {document.path: document for document in self.documents.all()}
        ids = {document.meta.id: path for path, document in known.items() if document.meta.id}
        for item in batch.items:
            if item.choice != "drop" and (document := document_of(item)):
                known[document.path] = document
                if document.meta.id:
                    ids.setdefault(document.meta.id, document.path)
        stored = self.documents.repository.pictures(self.documents.repository.head())
        there = {entry.path for entry in stored} | {picture.path for picture in batch.pictures}
        return CheckContext(Anchors(known, known.get, self._reading(batch)), ids, self.clock.today(), there)

    def _reading(self, batch: Batch) -> Read:
        """Where texts are parsed: a few short ones in this process, all others outside."""
        weight = sum(len(item.text) for item in batch.items)
        return lambda document: self.reader.read(document, weight)

    def _checked(
        self, item: UploadItem, around: CheckContext, wanted: Counter[str], there: Mapping[str, str], read: Read
    ) -> UploadItem:
        if not item.readable:
            return item
        findings = [*item.notes, *path_findings(item, wanted, there)]
        if not item.text.strip():
            findings.append(Finding(item.path, 1, "error", "file", "The document is empty. Write something."))
        elif item.choice != "drop":
            findings += check_rules.check(item.place, item.text.encode(), around, read)
        return replace(item, findings=check_rules.ordered(findings))

    def _compared(self, items: Sequence[UploadItem], there: set[str]) -> Iterator[UploadItem]:
        """Duplicates of items that were not compared yet, or whose path was taken since."""
        documents = [self._admitted(document_of(item)) for item in items]
        marks = ShingleIndex(document for document in documents if document)
        new = {n: document for n, document in enumerate(documents) if document and _stale(items[n], there)}
        found = {n: _among(self.duplicates.duplicates(document), document, marks) for n, document in new.items()}
        comparisons = {n: MeaningMatches(duplicates) for n, duplicates in found.items()}
        open_ = [n for n in new if not found[n]]
        excluded = [frozenset({new[n].path}) for n in open_]
        comparisons |= dict(zip(open_, self.duplicates.meanings([new[n] for n in open_], excluded), strict=True))
        for n, item in enumerate(items):
            yield _decided(_compared(item, comparisons[n])) if n in comparisons else item

    def _admitted(self, document: Document | None) -> Document | None:
        """The document, unless it takes too long to read, which its checks say."""
        try:
            if document:
                self.reader.admit(document)
        except BadInput:
            return None
        return document

    @use_case("propose a change", READS)
    def original(self, actor: Actor, item: UploadItem, raw: bytes, page: int = 1) -> conversions.Original:
        """The file that an item was converted from, to be seen beside it."""
        suffix = conversions.suffix_of(item.name)
        return self.originals.draw(suffix, raw, page) if self.originals else conversions.Original()

    # ------------------------------------------------------------ handing on

    @use_case(ALREADY_CHECKED)
    def files(self, batch: Batch) -> dict[str, bytes | None]:
        """The files of the change: the documents, and the pictures that they show."""
        moved = relocated(batch, {item.path: item.place for item in batch.included if item.place != item.path})
        going = [after for before, after in zip(batch.items, moved.items, strict=True) if before.included]
        wanted = {path for item in going for path in shown(item)}
        files: dict[str, bytes | None] = {safe_path(item.path): item.text.encode() for item in going}
        return files | {picture.path: picture.raw for picture in moved.pictures if picture.path in wanted}

    @use_case("propose a change")
    def submit(self, actor: Actor, batch: Batch, title: str, message: str = "") -> tuple[Any, Batch]:
        """Propose what is ready as one change; returns it and the batch of what is left."""
        batch = self.look(batch)
        files = self.files(batch)
        if not files:
            raise BadInput("No document is ready. Fix what is refused, or decide about the duplicates, first.")
        if unseen := [item.place for item in batch.included if item.unseen]:
            raise BadInput(f"Compare {', '.join(unseen)} with the original first, and say that you looked at it.")
        if not title.strip():
            raise BadInput("The change needs a title, so that a reviewer knows what it is about.")
        if self.changes is None:
            raise Unavailable("This workspace has no change service, so nothing can be proposed.")
        change = self.changes.propose(
            actor, " ".join(title.split()), files, message.strip(), ChangeBasis(origin=origins(batch.included))
        )
        left = tuple(item for item in batch.items if not item.included and item.choice != "drop")
        return change, replace(batch, items=left)


def _with_original(item: UploadItem, raw: bytes, keep: Callable[[str, bytes], None]) -> UploadItem:
    """An item that names the file it was converted from, which is kept to be compared with."""
    if not item.converted:
        return item
    digest = hashlib.sha256(raw).hexdigest()
    keep(digest, raw)
    return replace(item, original=digest)


def _notes(path: str, raw: bytes, converted: str, changed: Sequence[str]) -> tuple[Finding, ...]:
    """What reading changed in a file that is text already."""
    said = tuple(Finding(path, 1, "warning", "file", sentence) for sentence in changed)
    return () if converted else (*check_rules.decoding_notes(path, raw), *said)


def _compared(item: UploadItem, found: MeaningMatches) -> UploadItem:
    compared = replace(item, duplicates=found.duplicates, compared=True)
    return replace(compared, probed=found.probed, passages=found.passages)


def _stale(item: UploadItem, there: set[str]) -> bool:
    """Whether an item must be compared: never done, or its path was taken since."""
    return not item.compared or (
        item.place in there and item.place not in {duplicate.path for duplicate in item.duplicates}
    )


def _decided(item: UploadItem) -> UploadItem:
    """An upload identical to the document at its path is dropped without asking."""
    unchanged = any(
        duplicate.kind == "same content" and duplicate.path == item.path and not duplicate.batch
        for duplicate in item.duplicates
    )
    return replace(item, choice="drop") if unchanged and not item.choice else item


def _among(known: tuple[Duplicate, ...], document: Document, marks: ShingleIndex) -> tuple[Duplicate, ...]:
    """Also duplicates within the same upload."""
    more = []
    for other, score in marks.near(body(document), frozenset({document.path})):
        kind = "same content" if other.text == document.text else "near copy"
        more.append(Duplicate(kind, other.path, other.id, other.title, score, pairs(document, other), batch=True))
    return known + tuple(more)
