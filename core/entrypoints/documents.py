"""Documents on the command line: list, show, history, diff, links, chunks, pictures, edit, export."""

from __future__ import annotations

import posixpath
from argparse import Namespace
from collections.abc import Mapping, Sequence
from datetime import date, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from core import strict
from core.access import require
from core.chunking import chunker
from core.curation.document.links import backlinks, links
from core.curation.pictures.picture_files import place as new_place
from core.curation.review.diffs import Diff, FieldChange, body_diff, field_changes
from core.entrypoints.index import params_of
from core.entrypoints.session import acting, open_app
from core.entrypoints.terminal import Terminal, table
from core.errors import BadInput, NotFound
from core.services.knowledge.documents import Documents, Version
from core.services.knowledge.exports import MEDIA_TYPES
from core.services.reviews.authoring import Target
from core.services.reviews.bulk import BulkEdit, bulk_files, chosen, save_bulk
from core.settings import Settings
from core.types import ChunkerSpec, Document, Edit, Filters

if TYPE_CHECKING:
    from core.services.knowledge.documents import Documents
    from core.services.knowledge.pictures import Pictures


def register(add: Any) -> None:
    documents = add.group_of("documents")
    listing = documents("list", documents_list, "every document")
    listing.add_argument("--folder", default="", help="only below this folder")
    changed = documents("changed", documents_changed, "what was merged since a day")
    changed.add_argument("--since", required=True, metavar="DAY", help="a day such as 2026-03-31")
    _editing(documents("edit", documents_edit, "set owner, tags, review date or status of many, as one change"))
    for name, run, about in (
        ("show", documents_show, "one document"),
        ("history", documents_history, "the versions of a document"),
        ("diff", documents_diff, "what changed between two versions"),
        ("links", documents_links, "where a document leads, and what links to it"),
        ("chunks", documents_chunks, "the chunks a document becomes"),
        ("pictures", documents_pictures, "the pictures a document shows, and those that are missing"),
        ("attach", documents_attach, "add a picture to a document, in a change"),
        ("export", documents_export, "a document as a file"),
    ):
        command = documents(name, run, about)
        command.add_argument("document", metavar="ID_OR_PATH")
        if name == "show":
            command.add_argument(
                *("--as-of", "--at"), default="", metavar="DAY", help="as it was at the end of a day, or at a commit"
            )
        if name == "diff":
            command.add_argument("--old", type=int, default=0, help="a version (default: the one before the newest)")
            command.add_argument("--new", type=int, default=0, help="a version (default: the newest)")
        if name == "attach":
            _attaching(command)
        if name == "export":
            command.add_argument("--format", choices=tuple(MEDIA_TYPES), default="md", help="md, or docx for Word")
            command.add_argument(
                "--out", default="", metavar="FILE", help="where to write it (default: its own name, here)"
            )
        if name == "chunks":
            command.add_argument("--chunker", default="", help="another chunker than the one in production")
            command.add_argument("--param", action="append", default=[], metavar="KEY=N", help="a parameter of it")


def _editing(command: Any) -> None:
    for name in ("type", "status", "tag", "owner", "folder", "doc"):
        command.add_argument(f"--{name}", action="append", default=[], help=f"those with this {name}; repeat for more")
    command.add_argument("--all", action="store_true", help="every document")
    command.add_argument("--set-owner", default=None, metavar="NAME", help='the new owner; "" for none')
    command.add_argument("--set-status", default="", metavar="STATUS", help="draft, approved, superseded or retired")
    command.add_argument("--set-review-due", default="", metavar="DATE", help="the day of the next review")
    command.add_argument("--add-tag", action="append", default=[], metavar="TAG")
    command.add_argument("--remove-tag", action="append", default=[], metavar="TAG")
    command.add_argument("--title", default="", help="the title of the change")
    command.add_argument("--message", default="", help="why")
    command.add_argument("--change", type=int, default=0, metavar="ID", help="an open change that it goes into")
    command.add_argument("--dry-run", action="store_true", help="only say what would happen")


def documents_edit(settings: Settings, options: Namespace, terminal: Terminal) -> int:
    app = open_app(settings)
    actor, edit = acting(app, options), _bulk_edit(options)
    require(actor, "propose a change")
    documents = _chosen(app.knowledge.documents.all(), options)
    made, number = bulk_files(documents, edit), 0
    if not options.dry_run:
        names = [document.path for document in documents]
        target = Target(options.change, options.title or f"Edit {len(made.files)} documents", options.message)
        change, made = save_bulk(app.reviews.changes, app.knowledge.documents, actor, names, edit, target)
        number = change.id
    refused = [{"path": path, "why": why} for path, why in made.refused]
    value = {"change": number or None, "edited": list(made.files), "unchanged": list(made.unchanged)}
    said = f"Change {number} edits" if number else "It would edit"
    lines = [f"{said} {len(made.files)} documents; {len(made.unchanged)} stay as they are."]
    terminal.show(
        {**value, "refused": refused}, [*lines, *(f"left out {row['path']}: {row['why']}" for row in refused)]
    )
    return 0


def _chosen(documents: tuple[Document, ...], options: Namespace) -> tuple[Document, ...]:
    filters = Filters(
        types=tuple(options.type),
        statuses=tuple(options.status),
        tags=tuple(options.tag),
        owners=tuple(options.owner),
        folders=tuple(options.folder),
        docs=tuple(options.doc),
    )
    if filters == Filters() and not options.all:
        raise BadInput("Say which documents: --folder, --type, --owner, --tag, --status, --doc, or --all.")
    found = chosen(documents, filters)
    if not found:
        raise NotFound("No document fits these filters. List them with: python -m core documents list")
    return found


def _bulk_edit(options: Namespace) -> BulkEdit:
    try:
        due = date.fromisoformat(options.set_review_due) if options.set_review_due else None
    except ValueError:
        raise BadInput(f"{options.set_review_due!r} is no date. Write it as YYYY-MM-DD.") from None
    return BulkEdit(options.set_owner, options.set_status, due, tuple(options.add_tag), tuple(options.remove_tag))


def _attaching(command: Any) -> None:
    command.add_argument("file", type=Path, metavar="FILE", help="a png, jpg, gif, webp or svg")
    command.add_argument("--alt", default="", help="what it shows, in words; found by search and read out")
    command.add_argument("--replace", default="", metavar="PATH", help="a picture that it takes the place of")
    command.add_argument("--change", type=int, default=0, metavar="ID", help="an open change (default: a new one)")


def documents_list(settings: Settings, options: Namespace, terminal: Terminal) -> int:
    listed = below(open_app(settings).knowledge.documents.all(), options.folder)
    lines = table(
        [(d.id, d.title, d.meta.doc_type, d.meta.status, f"v{d.version}", d.path) for d in listed],
        ("id", "title", "type", "status", "version", "path"),
    )
    terminal.show([as_json(d) for d in listed], lines)
    return 0


def below(documents: Sequence[Document], folder: str) -> list[Document]:
    """Those in a folder or deeper; all without one."""
    return [d for d in documents if d.path.startswith(folder.strip("/") + "/" if folder else "")]


def documents_show(settings: Settings, options: Namespace, terminal: Terminal) -> int:
    app = open_app(settings)
    document = (
        app.knowledge.documents.show_at(acting(app, options), options.document, options.as_of)
        if options.as_of
        else app.knowledge.documents.show(options.document)
    )
    terminal.show(whole_json(document), [document.text])
    return 0


def whole_json(document: Document) -> dict[str, Any]:
    """The contract of `documents show --json`."""
    return {**as_json(document), "text": document.text, "body": document.body}


def as_json(document: Document) -> dict[str, Any]:
    """One line of `documents list --json`."""
    meta = document.meta
    return {
        "doc": document.id,
        "path": document.path,
        "title": document.title,
        "doc_type": meta.doc_type,
        "status": meta.status,
        "owner": meta.owner,
        "tags": list(meta.tags),
        "effective_date": str(meta.effective_date or "") or None,
        "review_due": str(meta.review_due or "") or None,
        "supersedes": list(meta.supersedes),
        "answers": list(meta.answers),
        "version": document.version,
        "blob": document.blob,
    }


def documents_history(settings: Settings, options: Namespace, terminal: Terminal) -> int:
    value = history_json(open_app(settings).knowledge.documents.history(options.document))
    rows = [
        (f"v{row['version']}", row["commit"][:12], row["when"], row["author"], row["message"].partition("\n")[0])
        for row in value
    ]
    terminal.show(value, table(rows, ("version", "commit", "when", "author", "why")))
    return 0


def history_json(versions: Sequence[Version]) -> list[dict[str, Any]]:
    """The contract of `documents history --json`."""
    return [
        {
            "version": v.number,
            "commit": v.commit.id,
            "when": v.commit.when,
            "author": v.commit.author.name,
            "message": v.commit.message,
            "path": v.commit.path,
            "blob": v.commit.blob,
        }
        for v in versions
    ]


def documents_changed(settings: Settings, options: Namespace, terminal: Terminal) -> int:
    value = changed_json(open_app(settings).knowledge.documents, day_of(options.since))
    rows = [
        (row["when"][:16], row["author"], each["kind"], each["path"], row["message"])
        for row in value
        for each in row["documents"]
    ]
    terminal.show(value, table(rows, ("when", "author", "", "document", "why")) if rows else ["Nothing was merged."])
    return 0


def day_of(text: str) -> date:
    """A day that somebody wrote.

    >>> day_of("2026-03-31")
    datetime.date(2026, 3, 31)
    """
    try:
        return date.fromisoformat(text)
    except ValueError:
        raise BadInput(f"{text!r} is no day. Write it like 2026-03-31.") from None


def changed_json(documents: Documents, since: date) -> list[dict[str, Any]]:
    """The contract of `documents changed --json`: commits of the main line on a day and after it, newest first."""
    store, known = documents.repository, {document.path: document for document in documents.all()}
    steps = [step for step in store.log(store.head()) if datetime.fromisoformat(step[0].when).date() >= since]
    return [
        {
            "commit": commit.id,
            "when": commit.when,
            "author": commit.author.name,
            "message": commit.message.partition("\n")[0],
            "documents": [_changed(edit, known) for edit in edits if edit.path.endswith(".md")],
        }
        for commit, edits in steps
    ]


def _changed(edit: Edit, known: Mapping[str, Document]) -> dict[str, str]:
    document = known.get(edit.path)
    named = {"doc": document.id, "title": document.title} if document else {"doc": "", "title": ""}
    return {"kind": edit.kind, "path": edit.path, **named}


def documents_diff(settings: Settings, options: Namespace, terminal: Terminal) -> int:
    documents = open_app(settings).knowledge.documents
    old, new, fields, body = difference(documents, options.document, options.old, options.new)
    lines = [f"{field.name}: {field.before or '-'} -> {field.after or '-'}" for field in fields]
    for row in body.rows:
        if row.kind in ("removed", "changed"):
            lines.append(f"- {row.left:>5}  {''.join(text for _, text in row.before)}")
        if row.kind in ("added", "changed"):
            lines.append(f"+ {row.right:>5}  {''.join(text for _, text in row.after)}")
    terminal.show(diff_json(old, new, fields, body), lines or ["The two versions are the same."])
    return 0


def difference(documents: Documents, name: str, old: int, new: int) -> tuple[int, int, Sequence[FieldChange], Diff]:
    """Two versions of a document, what changed in its fields and in its body; by default the newest two."""
    versions = {version.number: version.commit for version in documents.history(name)}
    new = new or max(versions)
    old = old or max(1, new - 1)
    for number in (new, old):
        if number not in versions:
            raise NotFound(f"There is no version {number}. Versions: {', '.join(map(str, sorted(versions)))}.")
    before, after = (documents.at(versions[number]) for number in (old, new))
    return old, new, field_changes(before.meta, after.meta), body_diff(before, after)


def diff_json(old: int, new: int, fields: Sequence[FieldChange], body: Diff) -> dict[str, Any]:
    """The contract of `documents diff --json`."""
    value = {"old": old, "new": new, "fields": strict.plain(fields), "added": body.added, "removed": body.removed}
    return {**value, "rows": strict.plain(body.rows)}


def documents_links(settings: Settings, options: Namespace, terminal: Terminal) -> int:
    value = links_json(open_app(settings).knowledge.documents, options.document)
    rows = [("->", link["path"] or link["target"], link["text"]) for link in value["links"]]
    rows += [("<-", link["path"], link["text"]) for link in value["linked_from"]]
    terminal.show(value, table(rows, ("", "document", "text")))
    return 0


def links_json(documents: Documents, name: str) -> dict[str, list[dict[str, Any]]]:
    """The contract of `documents links --json`."""
    document, every = documents.show(name), documents.all()
    known = {other.path for other in every}
    out = [{**strict.plain(link), "found": link.path in known} for link in links(document)]
    into = [{"path": path, "text": text} for path, text in backlinks(every).get(document.path, ())]
    return {"links": out, "linked_from": into}


def documents_pictures(settings: Settings, options: Namespace, terminal: Terminal) -> int:
    app = open_app(settings)
    shown = app.knowledge.pictures.of(app.knowledge.documents.show(options.document))
    rows = [(picture.path, f"{picture.size:,} bytes" if picture.blob else "missing") for picture in shown]
    terminal.show(strict.plain(shown), table(rows, ("picture", "size")) if rows else ["It shows no pictures."])
    return 0


def documents_attach(settings: Settings, options: Namespace, terminal: Terminal) -> int:
    """A new picture is shown at the end of the text, from where an edit may move its line."""
    app = open_app(settings)
    actor = acting(app, options)
    require(actor, "propose a change")
    try:
        raw = options.file.read_bytes()
    except OSError as error:
        raise NotFound(f"{options.file} cannot be read: {error.strerror}.") from None
    change = app.reviews.changes.show(actor, options.change) if options.change else None
    path = app.knowledge.documents.show(options.document).path
    store = app.knowledge.repository
    base = change.head if change else store.head()
    files, place = attached(app.knowledge.pictures, store.read(base, path), base, path, options, raw)
    title = f"{'Replace' if options.replace else 'Add'} a picture of {path}"
    if change:
        change = app.reviews.changes.edit(actor, change.id, files, title)
    else:
        change = app.reviews.changes.propose(actor, title[:200], files)
    terminal.show({"change": change.id, "path": place}, [f"Change {change.id} has {place}."])
    return 0


def attached(
    pictures: Pictures, text: bytes, base: str, path: str, options: Namespace, raw: bytes
) -> tuple[dict[str, bytes | None], str]:
    """The files of a change that adds or replaces a picture, and where it lies."""
    taken = pictures.blobs(base)
    if options.replace:
        if options.replace not in taken:
            raise NotFound(
                f"There is no picture {options.replace!r}. Look with: python -m core documents pictures {path}"
            )
        return {options.replace: raw}, options.replace
    place = new_place(path, options.file.name, taken)
    words = " ".join(options.alt.translate(str.maketrans("[]", "()")).split())
    line = f"\n![{words}]({posixpath.relpath(place, posixpath.dirname(path) or '.').replace(' ', '%20')})\n"
    return {path: text.rstrip(b"\n") + b"\n" + line.encode(), place: raw}, place


def documents_chunks(settings: Settings, options: Namespace, terminal: Terminal) -> int:
    app = open_app(settings)
    profile = app.platform.settings.production().profile
    spec = ChunkerSpec(options.chunker, params_of(options.param)) if options.chunker else profile.chunker
    notes: list[str] = []
    tools = app.index.builder.tools(profile, lambda path, what: notes.append(f"{path}: {what}"))
    chunks = chunker(spec, tools, profile.context)(app.knowledge.documents.show(options.document))
    rows = [(n, chunk.start, chunk.end, chunk.tokens, " › ".join(chunk.heading)) for n, chunk in enumerate(chunks, 1)]
    heads = ("n", "start", "end", "tokens", "heading")
    terminal.show([strict.plain(chunk) for chunk in chunks], [*table(rows, heads), *notes])
    return 0


def documents_export(settings: Settings, options: Namespace, terminal: Terminal) -> int:
    app = open_app(settings)
    file = app.knowledge.exports.export(acting(app, options), options.document, options.format)
    path = Path(options.out or file.name)
    try:
        path.write_bytes(file.content)
    except OSError as error:
        raise BadInput(f"{path} cannot be written: {error.strerror}. Name another file with --out.") from None
    value = {"file": str(path), "bytes": len(file.content), "media_type": file.media_type}
    terminal.show(value, [f"Wrote {path}, {len(file.content):,} bytes."])
    return 0
