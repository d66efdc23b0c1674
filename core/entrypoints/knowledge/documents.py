"""Documents on the command line: list, show, history, diff, links, chunks, pictures, edit, export."""

from __future__ import annotations

import posixpath
from collections.abc import Sequence
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from core import strict
from core.access import require
from core.chunking import chunker
from core.curation.pictures.picture_files import place as new_place
from core.cures import DOCUMENTS, pictures_of
from core.entrypoints.contracts.document_json import (
    as_json,
    below,
    changed_json,
    day_of,
    diff_json,
    difference,
    links_json,
    version_json,
    whole_json,
)
from core.entrypoints.operation.index import params_of
from core.entrypoints.record import Argument, CommandCall, Option, Rows, Shown, UseCaseCall, command, form, operation
from core.entrypoints.terminal import table
from core.errors import BadInput, NotFound
from core.services.inbox.owners import ProposedOwners
from core.services.knowledge.exports import MEDIA_TYPES
from core.services.reviews.authoring import Target
from core.services.reviews.bulk_edit import BulkEdit, chosen, owner_files, planned, save_bulk, save_owners
from core.types import ChunkerSpec, Document, Filters

if TYPE_CHECKING:
    from core.services.knowledge.drafts import Pictures


AddTagInput = Annotated[tuple[str, ...], Option(None, metavar="TAG")]


@form
class DocumentsListOptions:
    folder: Annotated[str, Option("only below this folder")] = ""


@form
class DocumentsChangedOptions:
    since: Annotated[str, Option("a day such as 2026-03-31", metavar="DAY")]


@form
class DocumentsEditOptions:
    type: Annotated[tuple[str, ...], Option("those with this type; repeat for more")] = ()
    status: Annotated[tuple[str, ...], Option("those with this status; repeat for more")] = ()
    tag: Annotated[tuple[str, ...], Option("those with this tag; repeat for more")] = ()
    owner: Annotated[tuple[str, ...], Option("those with this owner; repeat for more")] = ()
    folder: Annotated[tuple[str, ...], Option("those with this folder; repeat for more")] = ()
    doc: Annotated[tuple[str, ...], Option("those with this doc; repeat for more")] = ()
    all: Annotated[bool, Option("every document")] = False
    set_owner: Annotated[str | None, Option('the new owner; "" for none', metavar="NAME")] = None
    set_type: Annotated[str, Option("the new type, such as sop", metavar="TYPE")] = ""
    set_status: Annotated[str, Option("draft, approved, superseded or retired", metavar="STATUS")] = ""
    set_review_due: Annotated[str, Option("the day of the next review", metavar="DATE")] = ""
    add_tag: AddTagInput = ()
    remove_tag: AddTagInput = ()
    move_to: Annotated[str | None, Option('the folder they move to; "" for the top level', metavar="FOLDER")] = None
    flat: Annotated[bool, Option("without the folders below the one they share")] = False
    title: Annotated[str, Option("the title of the change")] = ""
    message: Annotated[str, Option("why")] = ""
    change: Annotated[int, Option("an open change that it goes into", metavar="ID")] = 0
    dry_run: Annotated[bool, Option("only say what would happen")] = False


@form
class DocumentsOwnersOptions:
    history: Annotated[bool, Option("whoever wrote most of a document's commits", one_of="source")] = False
    csv: Annotated[
        Path | None,
        Option("a table: owners beside paths, ids, titles or folders", metavar="FILE", one_of="source"),
    ] = None
    folder: Annotated[
        tuple[str, ...], Option("the owner of what is in a folder; repeat for more", metavar="FOLDER=NAME")
    ] = ()
    column: Annotated[str, Option("the column of owners in the table")] = "owner"
    all: Annotated[bool, Option("also documents that have an owner already")] = False
    unknown: Annotated[bool, Option("also names that nobody here answers to")] = False
    title: Annotated[str, Option("the title of the change")] = ""
    message: Annotated[str, Option("why")] = ""
    change: Annotated[int, Option("an open change that it goes into", metavar="ID")] = 0
    dry_run: Annotated[bool, Option("only say what would happen")] = False


@form
class OneDocument:
    document: Annotated[str, Argument("ID_OR_PATH")]


@form
class DocumentsShowOptions(OneDocument):
    as_of: Annotated[
        str, Option("as it was at the end of a day, or at a commit", flags=("--as-of", "--at"), metavar="DAY")
    ] = ""


@form
class DocumentsDiffOptions(OneDocument):
    old: Annotated[int, Option("a version (default: the one before the newest)")] = 0
    new: Annotated[int, Option("a version (default: the newest)")] = 0


@form
class DocumentsChunksOptions(OneDocument):
    chunker: Annotated[str, Option("another chunker than the one in production")] = ""
    param: Annotated[tuple[str, ...], Option("a parameter of it", metavar="KEY=N")] = ()


@form
class DocumentsAttachOptions(OneDocument):
    file: Annotated[Path, Argument("FILE", "a png, jpg, gif, webp or svg")]
    alt: Annotated[str, Option("what it shows, in words; found by search and read out")] = ""
    replace: Annotated[str, Option("a picture that it takes the place of", metavar="PATH")] = ""
    change: Annotated[int, Option("an open change (default: a new one)", metavar="ID")] = 0


@form
class DocumentsExportOptions(OneDocument):
    format: Annotated[str, Option("md, or docx for Word", choices=tuple(MEDIA_TYPES))] = "md"
    out: Annotated[str, Option("where to write it (default: its own name, here)", metavar="FILE")] = ""


@command(
    "documents edit",
    "set owner, type, tags, review date, status or folder of many, as one change",
    "reviews.changes.propose",
)
def documents_edit(call: CommandCall, form: DocumentsEditOptions) -> Shown:
    app = call.app
    actor, edit = call.actor, _bulk_edit(form)
    require(actor, "propose a change")
    documents = _chosen(app.knowledge.documents.all(), form)
    made, number = planned(app.knowledge.documents, documents, edit), 0
    if not form.dry_run:
        names = [document.path for document in documents]
        word = f"Move {len(made.moves)}" if made.moves else f"Edit {len(made.files)}"
        target = Target(form.change, form.title or f"{word} documents", form.message)
        change, made = save_bulk(app.reviews.changes, app.knowledge.documents, actor, names, edit, target)
        number = change.id
    refused = [{"path": path, "why": why} for path, why in made.refused]
    value: dict[str, Any] = {"change": number or None, "edited": list(made.edited), "unchanged": list(made.unchanged)}
    value |= {"moved": dict(made.moves)} if made.moves else {}
    said = f"Change {number} edits" if number else "It would edit"
    lines = [f"{said} {len(made.edited)} documents; {len(made.unchanged)} stay as they are."]
    lines += [f"{old} -> {new}" for old, new in made.moves.items()]
    return Shown({**value, "refused": refused}, [*lines, *(f"left out {row['path']}: {row['why']}" for row in refused)])


@command("documents owners", "name the owners of many, as one change", "reviews.changes.propose")
def documents_owners(call: CommandCall, form: DocumentsOwnersOptions) -> Shown:
    app = call.app
    require(call.actor, "propose a change")
    found = _proposed_owners(call, form)
    wanted, number = found if form.unknown else found.known(), 0
    made = owner_files(app.knowledge.documents.all(), wanted.owners)
    if not form.dry_run:
        target = Target(form.change, form.title or f"Name the owners of {len(made.files)} documents", form.message)
        change, made = save_owners(app.reviews.changes, app.knowledge.documents, call.actor, wanted.owners, target)
        number = change.id
    said = f"Change {number} names" if number else "It would name"
    lines = [f"{said} the owners of {len(made.files)} documents."]
    lines += [f"{count:>6}  {owner}" for owner, count in wanted.shares.items()]
    kept = "reminders about them go to the admins" if form.unknown else "left out; --unknown writes them all the same"
    lines += [f"Nobody here is called {name} ({count} documents): {kept}." for name, count in found.unknown.items()]
    lines += [f"No document fits {name!r}." for name in found.missing]
    refused = [{"path": path, "why": why} for path, why in made.refused]
    lines += [f"left out {row['path']}: {row['why']}" for row in refused]
    value: dict[str, Any] = {
        "change": number or None,
        "edited": list(made.files),
        "owners": wanted.shares,
        "refused": refused,
    }
    return Shown({**value, "unknown": dict(found.unknown), "missing": list(found.missing)}, lines)


def _proposed_owners(call: CommandCall, form: DocumentsOwnersOptions) -> ProposedOwners:
    owners = call.app.inbox.owners
    documents = [d for d in call.app.knowledge.documents.all() if form.all or not d.meta.owner]
    if form.history:
        return owners.by_history(documents, call.app.knowledge.documents.authored())
    if form.csv:
        try:
            return owners.by_table(documents, form.csv.read_text("utf-8-sig"), form.column)
        except (OSError, UnicodeDecodeError):
            raise BadInput(f"{form.csv} cannot be read as a table: CSV in UTF-8.") from None
    folders = dict(part.partition("=")[::2] for part in form.folder)
    if not folders or not all(folders.values()):
        raise BadInput("Say whose they are: --history, --csv FILE, or --folder FOLDER=NAME.")
    return owners.by_folder(documents, folders)


def _chosen(documents: tuple[Document, ...], form: DocumentsEditOptions) -> tuple[Document, ...]:
    filters = Filters(
        types=tuple(form.type),
        statuses=tuple(form.status),
        tags=tuple(form.tag),
        owners=tuple(form.owner),
        folders=tuple(form.folder),
        docs=tuple(form.doc),
    )
    if filters == Filters() and not form.all:
        raise BadInput("Say which documents: --folder, --type, --owner, --tag, --status, --doc, or --all.")
    found = chosen(documents, filters)
    if not found:
        raise NotFound("No document fits these filters.", DOCUMENTS)
    return found


def _bulk_edit(form: DocumentsEditOptions) -> BulkEdit:
    try:
        due = date.fromisoformat(form.set_review_due) if form.set_review_due else None
    except ValueError:
        raise BadInput(f"{form.set_review_due!r} is no date. Write it as YYYY-MM-DD.") from None
    tags = tuple(form.add_tag), tuple(form.remove_tag)
    return BulkEdit(form.set_owner, form.set_status, due, *tags, form.set_type, form.move_to, form.flat)


@operation("list_documents", "GET /documents", "[DocumentLine]", paged=True)
@command("documents list", "every document", "knowledge.documents.all", needs="read documents")
def documents_list(call: UseCaseCall, form: DocumentsListOptions) -> Shown:
    """Every document, by path."""
    listed = below(call.app.knowledge.documents.all(), form.folder)
    return Shown(Rows(listed, as_json), lambda: _list_lines(listed))


def _list_lines(listed: Sequence[Document]) -> list[str]:
    rows = [(d.id, d.title, d.meta.doc_type, d.status, f"v{d.version}", d.path) for d in listed]
    return table(rows, ("id", "title", "type", "status", "version", "path"))


@operation("read_document", "GET /documents/{document:path}", "WholeDocument", state="head")
@command("documents show", "one document", "knowledge.documents.show_at", needs="read documents")
def documents_show(call: UseCaseCall, form: DocumentsShowOptions) -> Shown:
    """One document with its text, as it is now or as it was."""
    document = (
        call.app.knowledge.documents.show_at(call.actor, form.document, form.as_of)
        if form.as_of
        else call.app.knowledge.documents.show(form.document)
    )
    return Shown(whole_json(document), [document.text])


@operation("document_history", "GET /history/{document:path}", "[DocumentVersion]", paged=True)
@command("documents history", "the versions of a document", "knowledge.documents.history", needs="read documents")
def documents_history(call: UseCaseCall, form: OneDocument) -> Shown:
    """The versions of a document, newest first."""
    versions = call.app.knowledge.documents.history(form.document)
    rows = [
        (f"v{v.number}", v.commit.id[:12], v.commit.when, v.commit.author.name, v.commit.message.partition("\n")[0])
        for v in versions
    ]
    return Shown(Rows(versions, version_json), table(rows, ("version", "commit", "when", "author", "why")))


@command("documents changed", "what was merged since a day", "knowledge.documents.touched")
def documents_changed(call: CommandCall, form: DocumentsChangedOptions) -> Shown:
    value = changed_json(call.app.knowledge.documents, day_of(form.since))
    rows = [
        (row["when"][:16], row["author"], each["kind"], each["path"], row["message"])
        for row in value
        for each in row["documents"]
    ]
    return Shown(value, table(rows, ("when", "author", "", "document", "why")) if rows else ["Nothing was merged."])


@operation("document_diff", "GET /diff/{document:path}", "DiffAnswer", state="head")
@command("documents diff", "what changed between two versions", "knowledge.documents.history", needs="read documents")
def documents_diff(call: UseCaseCall, form: DocumentsDiffOptions) -> Shown:
    """What changed between two versions of a document."""
    documents = call.app.knowledge.documents
    old, new, fields, body = difference(documents, form.document, form.old, form.new)
    lines = [f"{field.name}: {field.before or '-'} -> {field.after or '-'}" for field in fields]
    for row in body.rows:
        if row.kind in ("removed", "changed"):
            lines.append(f"- {row.left:>5}  {''.join(text for _, text in row.before)}")
        if row.kind in ("added", "changed"):
            lines.append(f"+ {row.right:>5}  {''.join(text for _, text in row.after)}")
    return Shown(diff_json(old, new, fields, body), lines or ["The two versions are the same."])


@operation("document_links", "GET /links/{document:path}", "LinksAnswer", state="head")
@command(
    "documents links",
    "where a document leads, and what links to it",
    "knowledge.documents.show",
    needs="read documents",
)
def documents_links(call: UseCaseCall, form: OneDocument) -> Shown:
    """Where a document leads, and what links to it."""
    value = links_json(call.app.knowledge.documents, form.document)
    rows = [("->", link["path"] or link["target"], link["text"]) for link in value["links"]]
    rows += [("<-", link["path"], link["text"]) for link in value["linked_from"]]
    return Shown(value, table(rows, ("", "document", "text")))


@command("documents pictures", "the pictures a document shows, and those that are missing", "knowledge.pictures.of")
def documents_pictures(call: CommandCall, form: OneDocument) -> Shown:
    shown = call.app.knowledge.pictures.of(call.app.knowledge.documents.show(form.document))
    rows = [(picture.path, f"{picture.size:,} bytes" if picture.blob else "missing") for picture in shown]
    return Shown(strict.plain(shown), table(rows, ("picture", "size")) if rows else ["It shows no pictures."])


@command("documents attach", "add a picture to a document, in a change", "reviews.changes.show")
def documents_attach(call: CommandCall, form: DocumentsAttachOptions) -> Shown:
    """A new picture is shown at the end of the text, from where an edit may move its line."""
    app = call.app
    actor = call.actor
    require(actor, "propose a change")
    try:
        raw = form.file.read_bytes()
    except OSError as error:
        raise NotFound(f"{form.file} cannot be read: {error.strerror}.") from None
    change = app.reviews.changes.show(actor, form.change) if form.change else None
    path = app.knowledge.documents.show(form.document).path
    store = app.knowledge.repository
    base = change.head if change else store.head()
    files, place = attached(app.knowledge.pictures, store.read(base, path), base, path, form, raw)
    title = f"{'Replace' if form.replace else 'Add'} a picture of {path}"
    if change:
        change = app.reviews.changes.edit(actor, change.id, files, title)
    else:
        change = app.reviews.changes.propose(actor, title[:200], files)
    return Shown({"change": change.id, "path": place}, [f"Change {change.id} has {place}."])


def attached(
    pictures: Pictures, text: bytes, base: str, path: str, form: DocumentsAttachOptions, raw: bytes
) -> tuple[dict[str, bytes | None], str]:
    """The files of a change that adds or replaces a picture, and where it lies."""
    taken = pictures.blobs(base)
    if form.replace:
        if form.replace not in taken:
            raise NotFound(f"There is no picture {form.replace!r}.", pictures_of(path))
        return {form.replace: raw}, form.replace
    place = new_place(path, form.file.name, taken)
    words = " ".join(form.alt.translate(str.maketrans("[]", "()")).split())
    line = f"\n![{words}]({posixpath.relpath(place, posixpath.dirname(path) or '.').replace(' ', '%20')})\n"
    return {path: text.rstrip(b"\n") + b"\n" + line.encode(), place: raw}, place


@command("documents chunks", "the chunks a document becomes", "platform.settings.production")
def documents_chunks(call: CommandCall, form: DocumentsChunksOptions) -> Shown:
    if form.param and not form.chunker:
        raise BadInput("--param is about a chunker. Name one with --chunker.")
    app = call.app
    profile = app.platform.settings.production().profile
    spec = ChunkerSpec(form.chunker, params_of(form.param)) if form.chunker else profile.chunker
    notes: list[str] = []
    tools = app.index.builder.tools(profile, lambda path, what: notes.append(f"{path}: {what}"))
    chunks = chunker(spec, tools, profile.context, profile.questions)(app.knowledge.documents.show(form.document))
    rows = [(n, chunk.start, chunk.end, chunk.tokens, " › ".join(chunk.heading)) for n, chunk in enumerate(chunks, 1)]
    heads = ("n", "start", "end", "tokens", "heading")
    return Shown([strict.plain(chunk) for chunk in chunks], [*table(rows, heads), *notes])


@command("documents export", "a document as a file", "knowledge.exports.export")
def documents_export(call: CommandCall, form: DocumentsExportOptions) -> Shown:
    file = call.app.knowledge.exports.export(call.actor, form.document, form.format)
    path = Path(form.out or file.name)
    try:
        path.write_bytes(file.content)
    except OSError as error:
        raise BadInput(f"{path} cannot be written: {error.strerror}. Name another file with --out.") from None
    value = {"file": str(path), "bytes": len(file.content), "media_type": file.media_type}
    return Shown(value, [f"Wrote {path}, {len(file.content):,} bytes."])
