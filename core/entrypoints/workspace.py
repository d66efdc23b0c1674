"""The workspace on the command line: init, import, verify, backup, restore."""

from __future__ import annotations

from argparse import Namespace
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from core import strict
from core.access import SYSTEM, require
from core.entrypoints.session import acting, build_app, existing, open_app
from core.entrypoints.terminal import Terminal
from core.errors import BadInput, NotFound
from core.services.platform.backups import Backup
from core.settings import PROJECT, Settings

STORE = "s3://"


def register(add: Any) -> None:
    new = add("init", init)
    first = new.add_mutually_exclusive_group()
    first.add_argument(
        "--from",
        dest="source",
        type=Path,
        help="a folder of Markdown (default: the documents of the starter knowledge base)",
    )
    first.add_argument("--empty", action="store_true", help="begin without documents")
    first.add_argument(
        "--sample",
        action="store_true",
        help="the starter knowledge base with half a year of changes, questions and measurements",
    )
    new.add_argument(
        "--new-database", action="store_true", help="start a new database where the old one is lost beyond recovery"
    )
    new.add_argument(
        "--accept-database",
        action="store_true",
        help="take the rows of the database as they are, after a change by hand",
    )
    new.add_argument(
        "--share",
        action="store_true",
        help="fill the empty shared repository (CONCORD_REPOSITORY) with the documents of this workspace",
    )
    add("verify", verify)
    save = add("backup", backup)
    save.add_argument(
        "folder",
        metavar="DIR",
        help="a folder that does not exist yet, outside the workspace; or s3://bucket/name on a store",
    )
    save.add_argument(
        "--with-index", action="store_true", help="save the index too, so that a restore need not build it"
    )
    database = add.group_of("database")
    database("move", database_move, "copy every row into another, empty database; stop the app first").add_argument(
        "url", metavar="URL", help="postgresql://user:password@host/name, or `sqlite` for the file of the workspace"
    )
    load = add("restore", restore)
    load.add_argument("folder", metavar="DIR", help="a folder that `backup` made, or its address on a store")


def init(settings: Settings, options: Namespace, terminal: Terminal) -> int:
    """Create the workspace; import a first folder if it is empty."""
    app = build_app(settings)
    if options.new_database:
        app.platform.workspace.guard.new_database()
    if options.share:
        app.platform.workspace.guard.share()
    app.platform.workspace.create()
    actor = acting(app, options)
    require(actor, "import documents")
    if options.accept_database:
        app.platform.workspace.guard.database.accept()
    source = options.source or PROJECT / "kb"
    imported = None
    if options.source and not source.is_dir():
        raise NotFound(f"There is no folder {str(source)!r}.")
    app.knowledge.repository.follow()
    if options.sample and not app.knowledge.repository.head() and settings.sign_in == "demo":
        app.platform.sample.begin(actor, terminal.progress)
    app.platform.settings.start(actor.person)
    if not app.knowledge.repository.head() and not options.empty:
        first = "Start with the starter knowledge base" if source == PROJECT / "kb" else f"Start with {source.name}"
        saving = partial(app.reviews.merger.importing, actor, source.name)
        imported = app.knowledge.documents.import_folder(
            SYSTEM, source, first, progress=terminal.progress, saving=saving
        )
        if not options.source:
            imported = replace(imported, skipped=())  # the script of the sample
    value = {
        "home": str(settings.home),
        "commit": app.knowledge.repository.head(),
        "documents": len(app.knowledge.documents.all()),
    }
    lines = [f"Workspace: {settings.home}", f"Documents: {value['documents']}"]
    if options.source and imported is None:
        lines.append(
            f"It holds documents already, so {source.name} was not brought in. Do that with: python -m core import"
        )
    return _imported(terminal, {**value, **(_import_json(imported) if imported else {})}, lines, imported)


def import_folder(settings: Settings, options: Namespace, terminal: Terminal) -> int:
    app = open_app(settings)
    actor = acting(app, options)
    saving = partial(app.reviews.merger.importing, actor, options.folder.name)
    imported = app.knowledge.documents.import_folder(
        actor, options.folder, options.message, options.into, terminal.progress, saving
    )
    return show_imported(terminal, imported)


def show_imported(terminal: Terminal, imported: Any) -> int:
    lines = [
        f"{len(imported.added)} added, {len(imported.edited)} edited, {len(imported.unchanged)} unchanged, {len({path for path, _ in imported.warnings})} with a note, {len(imported.refused)} refused, {len(imported.skipped)} left out."
    ]
    if imported.pictures:
        lines.append(f"{len(imported.pictures)} pictures came along.")
    if imported.added or imported.edited:
        lines.append("Make them searchable with: python -m core reindex")
    return _imported(terminal, _import_json(imported), lines, imported)


def _import_json(imported: Any) -> dict[str, Any]:
    pairs = {
        name: [{"path": path, "why": why} for path, why in getattr(imported, name)]
        for name in ("refused", "warnings", "skipped")
    }
    return {**strict.plain(imported), **pairs}


def _imported(terminal: Terminal, value: dict[str, Any], lines: list[str], imported: Any) -> int:
    if imported:
        lines += [f"refused  {path}: {why}" for path, why in imported.refused]
        lines += [f"note     {path}: {why}" for path, why in imported.warnings]
        lines += [f"left out {path}: {why}" for path, why in imported.skipped]
    terminal.show(value, lines)
    return 0


def verify(settings: Settings, options: Namespace, terminal: Terminal) -> int:
    """Exit 0 only if every file is whole, and repository, database and index agree."""
    app = existing(settings)
    verified = app.index.jobs.verify(acting(app, options), terminal.progress, app.platform.workspace.create)
    value = {"ok": not verified.problems, "problems": verified.problems, "damaged": verified.damaged}
    terminal.show(value, verified.problems or ["Every file is whole; repository, database and index agree."])
    return 1 if verified.problems else 0


def backup(settings: Settings, options: Namespace, terminal: Terminal) -> int:
    app = open_app(settings)
    backups, actor, flags = app.platform.backups, acting(app, options), {"with_index": options.with_index}
    if options.folder.startswith(STORE):
        saved = backups.upload(actor, options.folder, **flags, progress=terminal.progress)
    else:
        saved = backups.take(actor, Path(options.folder), **flags, progress=terminal.progress)
    terminal.show(strict.plain(saved), [f"Backed up to {saved.folder}: {_contents(saved)}."])
    return 0


def database_move(settings: Settings, options: Namespace, terminal: Terminal) -> int:
    app = open_app(settings)
    url = "" if options.url == "sqlite" else options.url
    place = app.platform.backups.move(acting(app, options), url, terminal.progress)
    then = "Set CONCORD_DATABASE to its URL" if url else "Unset CONCORD_DATABASE"
    terminal.show({"place": place}, [f"The database is in {place} now. {then}, then start the app again."])
    return 0


def restore(settings: Settings, options: Namespace, terminal: Terminal) -> int:
    """Exit 0 only if the restored workspace verifies."""
    if options.user:
        raise BadInput("An empty workspace has no accounts yet. Restore without --as.")
    app = build_app(settings)
    backups, actor = app.platform.backups, acting(app, options)
    if options.folder.startswith(STORE):
        saved = backups.download(actor, options.folder, terminal.progress)
    else:
        saved = backups.restore(actor, Path(options.folder), terminal.progress)
    lines = [f"Restored {settings.home} from {saved.folder}: {_contents(saved)}, as of {saved.created}."]
    serving = app.index.generations.current(app.platform.settings.production().profile)
    if serving and serving.pending:
        lines.append("Words can be searched. Vectors follow when the app starts, or with: python -m core reindex")
    terminal.show({**strict.plain(saved), "home": str(settings.home)}, lines)
    return 0


def _contents(saved: Backup) -> str:
    return f"{saved.files} files, {saved.bytes / 1e6:.1f} MB, commit {saved.commit[:12] or 'none'}"
