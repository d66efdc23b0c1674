"""Uploads on the command line: check files, submit them for review, import them."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

from core import strict
from core.curation.document.statuses import spelled
from core.curation.upload.edits import fill_all, look_at
from core.curation.upload.items import UploadItem
from core.curation.upload.shingles import CHOICES
from core.entrypoints.operation.workspace import import_folder, read_file, show_imported
from core.entrypoints.record import MAYBE, SOME, Argument, CommandCall, Option, Shown, command, form
from core.entrypoints.session import acting, build_app
from core.errors import BadInput

IntoInput = Annotated[str, Option("put everything below this folder")]
FILES = "files to read: Markdown, text, Word, PDF, HTML, PowerPoint, Excel or zip"
FilesInput = Annotated[tuple[Path, ...], Argument("FILE", FILES, nargs=SOME)]


@form
class ImportAnyOptions:
    folder: Annotated[Path | None, Argument("DIR_OR_FILE", "a folder of Markdown, a zip, or one file", nargs=MAYBE)] = (
        None
    )
    git: Annotated[str, Option("a git repository with its history, for an empty knowledge base", metavar="URL")] = ""
    branch: Annotated[str, Option("the branch of it (default: main)")] = "main"
    inner: Annotated[str, Option("the folder of it that holds the documents", flags=("--folder",))] = ""
    into: IntoInput = ""
    message: Annotated[str, Option("why")] = ""


@form
class UploadOptions:
    files: FilesInput
    into: IntoInput = ""
    title: Annotated[str, Option("what the change does")]
    message: Annotated[str, Option("why")] = ""
    owner: Annotated[str, Option("the owner of all files")] = ""
    type: Annotated[str, Option("the type of all files")] = ""
    looked: Annotated[bool, Option("you compared converted files with their originals")] = False
    duplicates: Annotated[str, Option("what to do with files that resemble others", choices=tuple(CHOICES))] = ""
    reviewer: Annotated[tuple[str, ...], Option("ask this person to review", metavar="WHO")] = ()
    draft: Annotated[bool, Option("keep it as a draft")] = False


@form
class CheckOptions:
    files: FilesInput
    into: Annotated[str, Option("the folder they would go to")] = ""


def _word(pair: str) -> tuple[str, str]:
    word, mark, status = pair.partition("=")
    if not mark:
        raise BadInput(f"Write {pair!r} as WORD=STATUS, such as beta=draft.")
    return spelled(word), status.strip().lower()


@command(
    "check",
    "check files and look for duplicates, without writing anything",
    "upload.uploads.read",
    example="check policy.md",
)
def check(call: CommandCall, form: CheckOptions) -> Shown:
    """What the Upload page would say; exit 1 when a file would be refused. Nothing is written."""
    batch = call.app.upload.uploads.read(call.actor, [read_file(path) for path in form.files], form.into, call.progress)
    value = {
        "ready": sum(item.included for item in batch.items),
        "refused": sum(item.state == "refused" for item in batch.items),
        "items": [_json(item) for item in batch.items],
    }
    return Shown(value, [line for item in batch.items for line in _lines(item)], 1 if value["refused"] else 0)


@command(
    "upload",
    "bring files in as a change and submit it for review",
    "reviews.changes.submit",
    example='upload policy.md --into finance --title "How cash is counted"',
)
def upload(call: CommandCall, form: UploadOptions) -> Shown:
    """What the Upload page does; exit 1 when a file stays behind."""
    actor, uploads = call.actor, call.app.upload.uploads
    batch = uploads.read(actor, [read_file(path) for path in form.files], form.into, call.progress)
    values = {"owner": form.owner, "doc_type": form.type}
    batch = fill_all(batch, {name: value for name, value in values.items() if value})
    for n, item in enumerate(batch.items):
        batch = look_at(batch, n, actor.name) if item.converted and form.looked else batch
        batch = uploads.choose(batch, n, form.duplicates) if item.undecided else batch
    if not any(item.included for item in batch.items):
        raise BadInput("No document is ready. " + " ".join(f"{item.name}: {_why(item)}" for item in batch.items))
    change, left = uploads.submit(actor, batch, form.title, form.message)
    if not form.draft:
        change = call.app.reviews.changes.submit(actor, change.id, form.reviewer)
    behind = [{"name": item.name, "why": _why(item)} for item in left.items]
    behind += [{"name": name, "why": why} for name, why in batch.left_out]
    value = {"change": change.id, "state": change.state, "left_out": behind}
    lines = [f"Change {change.id} is {change.state}.", *(f"  {one['name']}: {one['why']}" for one in behind)]
    return Shown(value, lines, 1 if left.items else 0)


def _why(item: UploadItem) -> str:
    """Why a file stays behind."""
    if item.state == "refused":
        return item.findings[0].message
    duplicate = item.duplicates[0]
    if item.choice == "drop":
        return f"left out; {duplicate.path} has the same content."
    return f"{duplicate.kind}: {duplicate.path}. Add --duplicates {'|'.join(CHOICES)}, or decide on the Upload page."


@command(
    "import",
    "bring a folder of Markdown, a zip or one file in as one commit",
    "reviews.merger.importing",
    example='import handbook --into imported --message "From the wiki"',
)
def import_any(call: CommandCall, form: ImportAnyOptions) -> Shown:
    """A folder of Markdown, or one file of any known kind, as one commit; or a repository as it is."""
    if bool(form.git) == bool(form.folder):
        raise BadInput("Name one thing to bring in: a folder, a file, or a repository with --git URL.")
    if form.git:
        app = build_app(call.settings)
        app.platform.workspace.create()
        actor = acting(app, call.user)
        bring_in = app.upload.importer.repository
        return show_imported(bring_in(actor, form.git, form.branch, form.inner, call.progress))
    folder = form.folder or Path()
    if not folder.is_file():
        return import_folder(call, folder, form.message, form.into)
    files = [read_file(folder)]
    return show_imported(call.app.upload.importer.files(call.actor, files, form.into, form.message, call.progress))


def _json(item: UploadItem) -> dict[str, Any]:
    keep = ("name", "path", "converted", "to_check", "state", "findings", "duplicates", "choice", "text")
    return {name: strict.plain(getattr(item, name)) for name in keep}


def _lines(item: UploadItem) -> list[str]:
    lines = [f"{item.name} -> {item.place}: {item.state}"]
    lines += [f"  line {finding.line}  {finding.severity}  {finding.message}" for finding in item.findings]
    lines += [f"  {duplicate.kind}  {duplicate.path}  {duplicate.score:.0%}" for duplicate in item.duplicates]
    return lines
