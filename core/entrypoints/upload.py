"""Uploads on the command line: check files, import them."""

from __future__ import annotations

from argparse import Namespace
from functools import partial
from pathlib import Path
from typing import Any

from core import strict
from core.curation.uploads import MAX_UPLOAD, UploadItem
from core.entrypoints.session import acting, open_app
from core.entrypoints.terminal import Terminal
from core.entrypoints.workspace import import_folder, show_imported
from core.errors import BadInput, NotFound
from core.settings import Settings


def register(add: Any) -> None:
    bring = add("import", import_any, "bring a folder of Markdown, a zip or one file in as one commit")
    bring.add_argument("folder", type=Path, metavar="DIR_OR_FILE")
    bring.add_argument("--into", default="", help="put everything below this folder")
    bring.add_argument("--message", default="", help="why")
    look = add("check", check, "check files and look for duplicates, without writing anything")
    look.add_argument("files", nargs="+", type=Path, metavar="FILE")
    look.add_argument("--into", default="", help="the folder they would go to")


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


def import_any(settings: Settings, options: Namespace, terminal: Terminal) -> int:
    """A folder of Markdown, or one file of any known kind, as one commit."""
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
    return show_imported(terminal, imported)


def _read(path: Path) -> tuple[str, bytes]:
    if not path.is_file():
        raise NotFound(f"There is no file {str(path)!r}.")
    if path.stat().st_size > MAX_UPLOAD:
        raise BadInput(f"{path.name} has {path.stat().st_size:,} bytes; the limit is {MAX_UPLOAD:,}. Split it.")
    return path.name, path.read_bytes()


def _json(item: UploadItem) -> dict[str, Any]:
    keep = ("name", "path", "converted", "state", "findings", "duplicates", "choice", "text")
    return {name: strict.plain(getattr(item, name)) for name in keep}


def _lines(item: UploadItem) -> list[str]:
    lines = [f"{item.name} -> {item.place}: {item.state}"]
    lines += [f"  line {finding.line}  {finding.severity}  {finding.message}" for finding in item.findings]
    lines += [f"  {duplicate.kind}  {duplicate.path}  {duplicate.score:.0%}" for duplicate in item.duplicates]
    return lines
