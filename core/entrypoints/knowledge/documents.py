"""Documents: list, show, edit and export them; their versions, differences and links for programs."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date
from pathlib import Path
from typing import Annotated, Any

from core.access import require
from core.cures import DOCUMENTS
from core.entrypoints.contracts.document_json import (
    as_json,
    below,
    diff_json,
    difference,
    links_json,
    version_json,
    whole_json,
)
from core.entrypoints.record import Argument, CommandCall, Option, Rows, Shown, UseCaseCall, command, form, operation
from core.entrypoints.terminal import table
from core.errors import BadInput, NotFound
from core.services.knowledge.exports import MEDIA_TYPES
from core.services.reviews.authoring import Target
from core.services.reviews.bulk_edit import BulkEdit, chosen, planned, save_bulk
from core.types import Document, Filters


@form
class DocumentsListOptions:
    folder: Annotated[str, Option("only below this folder")] = ""


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
    add_tag: Annotated[tuple[str, ...], Option("a tag that they get; may be repeated", metavar="TAG")] = ()
    remove_tag: Annotated[tuple[str, ...], Option("a tag that they lose; may be repeated", metavar="TAG")] = ()
    move_to: Annotated[str | None, Option('the folder they move to; "" for the top level', metavar="FOLDER")] = None
    flat: Annotated[bool, Option("without the folders below the one they share")] = False
    title: Annotated[str, Option("the title of the change")] = ""
    message: Annotated[str, Option("why")] = ""
    change: Annotated[int, Option("an open change that it goes into", metavar="ID")] = 0
    dry_run: Annotated[bool, Option("only say what would happen")] = False


@form
class OneDocument:
    document: Annotated[str, Argument("ID_OR_PATH", "a document by its id or path")]


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
class DocumentsExportOptions(OneDocument):
    format: Annotated[str, Option("md, or docx for Word", choices=tuple(MEDIA_TYPES))] = "md"
    out: Annotated[str, Option("where to write it (default: its own name, here)", metavar="FILE")] = ""


@command(
    "documents edit",
    "set owner, type, tags, review date, status or folder of many, as one change",
    "reviews.changes.propose",
    example='documents edit --folder finance --set-owner "Petra Voss" --title "Finance is Petra\'s"',
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


@operation("list_documents", "GET /documents", "[DocumentLine]", paged=True, example="GET /documents?folder=finance")
@command("documents list", "every document", "knowledge.documents.all", needs="read documents")
def documents_list(call: UseCaseCall, form: DocumentsListOptions) -> Shown:
    """Every document, by path."""
    listed = below(call.app.knowledge.documents.all(), form.folder)
    return Shown(Rows(listed, as_json), lambda: _list_lines(listed))


def _list_lines(listed: Sequence[Document]) -> list[str]:
    rows = [(d.id, d.title, d.meta.doc_type, d.status, f"v{d.version}", d.path) for d in listed]
    return table(rows, ("id", "title", "type", "status", "version", "path"))


@operation(
    "read_document",
    "GET /documents/{document:path}",
    "WholeDocument",
    state="head",
    example="GET /documents/BSA-SOP-002",
)
@command(
    "documents show",
    "one document",
    "knowledge.documents.show_at",
    needs="read documents",
    example="documents show BSA-SOP-002",
)
def documents_show(call: UseCaseCall, form: DocumentsShowOptions) -> Shown:
    """One document with its text, as it is now or as it was."""
    document = (
        call.app.knowledge.documents.show_at(call.actor, form.document, form.as_of)
        if form.as_of
        else call.app.knowledge.documents.show(form.document)
    )
    return Shown(whole_json(document), [document.text])


@operation(
    "document_history",
    "GET /history/{document:path}",
    "[DocumentVersion]",
    paged=True,
    calls="knowledge.documents.history",
    needs="read documents",
    example="GET /history/BSA-SOP-002",
)
def documents_history(call: UseCaseCall, form: OneDocument) -> Shown:
    """The versions of a document, newest first."""
    versions = call.app.knowledge.documents.history(form.document)
    return Shown(Rows(versions, version_json))


@operation(
    "document_diff",
    "GET /diff/{document:path}",
    "DiffAnswer",
    state="head",
    calls="knowledge.documents.history",
    needs="read documents",
    example="GET /diff/BSA-SOP-002",
)
def documents_diff(call: UseCaseCall, form: DocumentsDiffOptions) -> Shown:
    """What changed between two versions of a document."""
    documents = call.app.knowledge.documents
    old, new, fields, body = difference(documents, form.document, form.old, form.new)
    return Shown(diff_json(old, new, fields, body))


@operation(
    "document_links",
    "GET /links/{document:path}",
    "LinksAnswer",
    state="head",
    calls="knowledge.documents.show",
    needs="read documents",
    example="GET /links/BSA-SOP-002",
)
def documents_links(call: UseCaseCall, form: OneDocument) -> Shown:
    """Where a document leads, and what links to it."""
    return Shown(links_json(call.app.knowledge.documents, form.document))


@command(
    "documents export",
    "a document as a file",
    "knowledge.exports.export",
    example="documents export BSA-SOP-002 --format docx",
)
def documents_export(call: CommandCall, form: DocumentsExportOptions) -> Shown:
    file = call.app.knowledge.exports.export(call.actor, form.document, form.format)
    path = Path(form.out or file.name)
    try:
        path.write_bytes(file.content)
    except OSError as error:
        raise BadInput(f"{path} cannot be written: {error.strerror}. Name another file with --out.") from None
    value = {"file": str(path), "bytes": len(file.content), "media_type": file.media_type}
    return Shown(value, [f"Wrote {path}, {len(file.content):,} bytes."])
