"""Uploads on the command line: check files, submit them for review, import them."""

from __future__ import annotations

from argparse import Namespace
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from core import strict
from core.curation.document.statuses import COUNTS_AS, WORDS, spelled
from core.curation.upload.edits import fill_all, look_at
from core.curation.upload.uploads import MAX_UPLOAD, UploadItem
from core.entrypoints.session import acting, build_app, open_app
from core.entrypoints.terminal import Terminal
from core.entrypoints.workspace import import_folder, show_imported
from core.errors import BadInput, NotFound
from core.settings import Settings


def register(add: Any) -> None:
    bring = add("import", import_any)
    bring.add_argument("folder", type=Path, nargs="?", metavar="DIR_OR_FILE")
    bring.add_argument(
        "--git", default="", metavar="URL", help="a git repository with its history, for an empty knowledge base"
    )
    bring.add_argument("--branch", default="main", help="the branch of it (default: main)")
    bring.add_argument("--folder", default="", dest="inner", help="the folder of it that holds the documents")
    bring.add_argument("--into", default="", help="put everything below this folder")
    bring.add_argument("--message", default="", help="why")
    submit = add("upload", upload)
    submit.add_argument("files", nargs="+", type=Path, metavar="FILE")
    submit.add_argument("--into", default="", help="put everything below this folder")
    submit.add_argument("--title", required=True, help="what the change does")
    submit.add_argument("--message", default="", help="why")
    submit.add_argument("--owner", default="", help="the owner of all files")
    submit.add_argument("--type", default="", help="the type of all files")
    submit.add_argument("--looked", action="store_true", help="you compared converted files with their originals")
    submit.add_argument("--reviewer", action="append", default=[], metavar="WHO", help="ask this person to review")
    submit.add_argument("--draft", action="store_true", help="keep it as a draft")
    words = add("statuses", statuses)
    words.add_argument("--set", action="append", default=[], metavar="WORD=STATUS", help="a word and its status")
    words.add_argument("--remove", action="append", default=[], metavar="WORD", help="a word to take out")
    look = add("check", check)
    look.add_argument("files", nargs="+", type=Path, metavar="FILE")
    look.add_argument("--into", default="", help="the folder they would go to")


def statuses(settings: Settings, options: Namespace, terminal: Terminal) -> int:
    """The team's own words, after those that are named were set or taken out."""
    app = open_app(settings)
    own = dict(app.upload.statuses.all())
    if options.set or options.remove:
        given = dict(_word(pair) for pair in options.set)
        if unknown := [word for word in map(spelled, options.remove) if word not in own]:
            raise NotFound(f"There is no status word {unknown[0]!r}. Words: {', '.join(own) or 'none'}.")
        left = {word: status for word, status in own.items() if word not in map(spelled, options.remove)}
        own = dict(app.upload.statuses.decide(acting(app, options), {**left, **given}))
    built_in = {word: status for word, status in WORDS.items() if word not in own}
    lines = [f"{word} = {status}" for word, status in own.items()] or ["The team has no words of its own."]
    lines += [f"Built in for {status}: {', '.join(words)}." for status, words in COUNTS_AS.items()]
    terminal.show({"own": own, "built_in": built_in}, lines)
    return 0


def _word(pair: str) -> tuple[str, str]:
    word, mark, status = pair.partition("=")
    if not mark:
        raise BadInput(f"Write {pair!r} as WORD=STATUS, such as beta=draft.")
    return spelled(word), status.strip().lower()


def check(settings: Settings, options: Namespace, terminal: Terminal) -> int:
    """What the Upload page would say; exit 1 when a file would be refused. Nothing is written."""
    app = open_app(settings)
    batch = app.upload.uploads.read(
        acting(app, options), [_read(path) for path in options.files], options.into, terminal.progress
    )
    value = {
        "ready": sum(item.included for item in batch.items),
        "refused": sum(item.state == "refused" for item in batch.items),
        "items": [_json(item) for item in batch.items],
    }
    terminal.show(value, [line for item in batch.items for line in _lines(item)])
    return 1 if value["refused"] else 0


def upload(settings: Settings, options: Namespace, terminal: Terminal) -> int:
    """What the Upload page does; exit 1 when a file stays behind."""
    app = open_app(settings)
    actor, uploads = acting(app, options), app.upload.uploads
    batch = uploads.read(actor, [_read(path) for path in options.files], options.into, terminal.progress)
    values = {"owner": options.owner, "doc_type": options.type}
    batch = fill_all(batch, {name: value for name, value in values.items() if value})
    for n, item in enumerate(batch.items):
        batch = look_at(batch, n, actor.name) if item.converted and options.looked else batch
    change, left = uploads.submit(actor, batch, options.title, options.message)
    if not options.draft:
        change = app.reviews.changes.submit(actor, change.id, options.reviewer)
    behind = [{"name": item.name, "why": _why(item)} for item in left.items]
    behind += [{"name": name, "why": why} for name, why in batch.left_out]
    value = {"change": change.id, "state": change.state, "left_out": behind}
    lines = [f"Change {change.id} is {change.state}.", *(f"  {one['name']}: {one['why']}" for one in behind)]
    terminal.show(value, lines)
    return 1 if left.items else 0


def _why(item: UploadItem) -> str:
    """Why a file stays behind."""
    if item.state == "refused":
        return item.findings[0].message
    duplicate = item.duplicates[0]
    return f"{duplicate.kind}: {duplicate.path}. Decide on the Upload page, or rename the file."


def import_any(settings: Settings, options: Namespace, terminal: Terminal) -> int:
    """A folder of Markdown, or one file of any known kind, as one commit; or a repository as it is."""
    if bool(options.git) == bool(options.folder):
        raise BadInput("Name one thing to bring in: a folder, a file, or a repository with --git URL.")
    if options.git:
        return import_repository(settings, options, terminal)
    if not options.folder.is_file():
        return import_folder(settings, options, terminal)
    app = open_app(settings)
    actor = acting(app, options)
    batch = app.upload.uploads.decided(
        app.upload.uploads.read(actor, [_read(options.folder)], options.into, terminal.progress)
    )
    files = {path: raw for path, raw in app.upload.uploads.files(batch).items() if raw is not None}
    files |= {item.path: item.text.encode() for item in batch.items if item.choice == "drop"}
    refused = [(item.path, item.findings[0].message) for item in batch.items if item.state == "refused"]
    message = options.message or f"Import {options.folder.name}"
    save = partial(app.knowledge.documents.save, actor, files, refused, message)
    imported = app.reviews.merger.importing(actor, options.folder.name, save)
    notes = [
        (item.path, note.message) for item in batch.items for note in item.findings if note.rule in ("file", "status")
    ]
    return show_imported(terminal, replace(imported, warnings=(*notes, *imported.warnings), skipped=batch.left_out))


def import_repository(settings: Settings, options: Namespace, terminal: Terminal) -> int:
    """A repository with its history, in a workspace that is made for it or is empty."""
    app = build_app(settings)
    app.platform.workspace.create()
    actor = acting(app, options)
    app.remote.remotes.bring_in(actor, options.git, options.branch, options.inner)
    app.platform.settings.start(actor.person)
    return show_imported(terminal, app.knowledge.documents.inventory(terminal.progress))


def _read(path: Path) -> tuple[str, bytes]:
    if not path.is_file():
        raise NotFound(f"There is no file {str(path)!r}.")
    if path.stat().st_size > MAX_UPLOAD:
        raise BadInput(f"{path.name} has {path.stat().st_size:,} bytes; the limit is {MAX_UPLOAD:,}. Split it.")
    return path.name, path.read_bytes()


def _json(item: UploadItem) -> dict[str, Any]:
    keep = ("name", "path", "converted", "to_check", "state", "findings", "duplicates", "choice", "text")
    return {name: strict.plain(getattr(item, name)) for name in keep}


def _lines(item: UploadItem) -> list[str]:
    lines = [f"{item.name} -> {item.place}: {item.state}"]
    lines += [f"  line {finding.line}  {finding.severity}  {finding.message}" for finding in item.findings]
    lines += [f"  {duplicate.kind}  {duplicate.path}  {duplicate.score:.0%}" for duplicate in item.duplicates]
    return lines
