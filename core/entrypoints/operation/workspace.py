"""The workspace on the command line: init, import, verify, doctor, backup, restore."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from core import __version__, strict
from core.access import SYSTEM, Actor, require
from core.curation.upload.items import MAX_UPLOAD
from core.cures import UPGRADE
from core.entrypoints.record import MAYBE, Argument, CommandCall, Option, Shown, command, form
from core.entrypoints.session import acting, build_app, existing
from core.errors import BadInput, NotFound
from core.ports import Progress
from core.services.knowledge.documents import Imported
from core.services.platform.backups import Backup, Upgrade, way_back
from core.settings import PROJECT

if TYPE_CHECKING:
    from core.bootstrap import App

STORE = "s3://"
MANY = 5  # files with the same note; more share a line
_ADDRESS = re.compile(r"://|^[^/\s]+:")  # https://host/path, or user@host:path


@form
class InitOptions:
    source: Annotated[
        str,
        Option(
            "a folder of Markdown, a zip or another file, or the address of a git repository, which comes with its "
            "history "
            "(default: the documents of the starter knowledge base)",
            flags=("--from",),
            metavar="DIR_FILE_OR_URL",
            one_of="first",
        ),
    ] = ""
    empty: Annotated[
        bool, Option("begin without documents; the sample, if it is there, is removed", one_of="first")
    ] = False
    sample: Annotated[
        bool,
        Option("the starter knowledge base with half a year of changes, questions and measurements", one_of="first"),
    ] = False
    new_database: Annotated[bool, Option("start a new database where the old one is lost beyond recovery")] = False
    accept_database: Annotated[bool, Option("take the rows of the database as they are, after a change by hand")] = (
        False
    )
    share: Annotated[
        bool, Option("fill the empty shared repository (CONCORD_REPOSITORY) with the documents of this workspace")
    ] = False


@form
class BackupOptions:
    folder: Annotated[
        str, Argument("DIR", "a folder that does not exist yet, outside the workspace; or s3://bucket/name on a store")
    ]
    with_index: Annotated[bool, Option("save the index too, so that a restore need not build it")] = False


@form
class DatabaseMoveOptions:
    url: Annotated[
        str, Argument("URL", "postgresql://user:password@host/name, or `sqlite` for the file of the workspace")
    ]


@form
class UpgradeOptions:
    folder: Annotated[
        str,
        Argument("DIR", "a folder that does not exist yet, outside the workspace, for the workspace as it is", MAYBE),
    ] = ""
    check: Annotated[bool, Option("say what it would do and how long it takes, and change nothing")] = False
    dumped: Annotated[bool, Option("the database is on a server, and was saved with pg_dump while nothing ran")] = False


@form
class RestoreOptions:
    folder: Annotated[str, Argument("DIR", "a folder that `backup` made, or its address on a store")]


@command(
    "init",
    "make the workspace and bring in a first folder of documents",
    "knowledge.documents.import_folder",
    example="init --from handbook",
)
def init(call: CommandCall, form: InitOptions) -> Shown:
    """Create the workspace; import a first folder if it is empty."""
    app = build_app(call.settings)
    app.platform.upgrades.begin()
    if form.new_database:
        app.platform.workspace.guard.new_database()
    if form.share:
        app.platform.workspace.guard.share()
    app.platform.workspace.create()
    actor = acting(app, call.user)
    require(actor, "import documents")
    if form.accept_database:
        app.platform.workspace.guard.database.accept()
    app.knowledge.repository.follow()
    bring_in = first_documents(app, actor, form.source, call.progress)  # refused before anything is removed
    removed = bool(form.source or form.empty) and app.platform.sample.here()
    if removed:
        app.platform.sample.remove(actor)
    if form.sample and not app.knowledge.repository.head() and call.settings.sign_in == "demo":
        app.platform.sample.begin(actor, call.progress)
    app.platform.settings.start(actor.person)
    imported = bring_in() if not app.knowledge.repository.head() and not form.empty else None
    value = {
        "home": str(call.settings.home),
        "commit": app.knowledge.repository.head(),
        "documents": len(app.knowledge.documents.all()),
    }
    lines = [f"Workspace: {call.settings.home}", f"Documents: {value['documents']}"]
    lines += ["The sample was removed."] if removed else []
    if form.source and imported is None:
        lines.append(
            f"It holds documents already, so {form.source} was not brought in. Do that with: python -m core import"
        )
    return _imported({**value, **(_import_json(imported) if imported else {})}, lines, imported)


def first_documents(app: App, actor: Actor, source: str, progress: Progress) -> Callable[[], Imported]:
    """How a new workspace gets its documents; BadInput or NotFound if it could not."""
    path = Path(source) if source else PROJECT / "kb"
    if path.is_dir() and not (path / "objects").is_dir():
        first = f"Start with {path.name}" if source else "Start with the starter knowledge base"
        saving = partial(app.reviews.merger.importing, actor, path.name)
        everything = partial(
            app.knowledge.documents.import_folder, SYSTEM, path, first, progress=progress, saving=saving
        )
        return everything if source else lambda: replace(everything(), skipped=())  # the script of the sample
    if path.is_file():
        files = [read_file(path)]
        app.upload.importer.check(actor, files)
        return partial(app.upload.importer.files, actor, files, "", f"Start with {path.name}", progress)
    if not path.exists() and not _ADDRESS.search(source):
        raise NotFound(
            f"There is no folder and no file {source!r}, and it is no address of a git repository. "
            "Such an address is https://HOST/PATH or ssh://USER@HOST/PATH."
        )
    app.upload.importer.check(actor, url=source)
    return partial(app.upload.importer.repository, actor, source, progress=progress)


def import_folder(call: CommandCall, folder: Path, message: str, into: str) -> Shown:
    saving = partial(call.app.reviews.merger.importing, call.actor, folder.name)
    documents = call.app.knowledge.documents
    return show_imported(documents.import_folder(call.actor, folder, message, into, call.progress, saving))


def read_file(path: Path) -> tuple[str, bytes]:
    """The name and the bytes of a file to upload."""
    if not path.is_file():
        raise NotFound(f"There is no file {str(path)!r}.")
    if path.stat().st_size > MAX_UPLOAD:
        raise BadInput(f"{path.name} has {path.stat().st_size:,} bytes; the limit is {MAX_UPLOAD:,}. Split it.")
    return path.name, path.read_bytes()


def show_imported(imported: Any) -> Shown:
    lines = [
        f"{len(imported.added)} added, {len(imported.edited)} edited, {len(imported.unchanged)} unchanged, "
        f"{len({path for path, _ in imported.warnings})} with a note, {len(imported.refused)} refused, "
        f"{len(imported.skipped)} left out."
    ]
    if imported.pictures:
        lines.append(f"{len(imported.pictures)} pictures came along.")
    if imported.added or imported.edited:
        lines.append("Make them searchable with: python -m core reindex")
    return _imported(_import_json(imported), lines, imported)


def _import_json(imported: Any) -> dict[str, Any]:
    pairs = {
        name: [{"path": path, "why": why} for path, why in getattr(imported, name)]
        for name in ("refused", "warnings", "skipped")
    }
    return {**strict.plain(imported), **pairs}


def _imported(value: dict[str, Any], lines: list[str], imported: Any) -> Shown:
    if imported:
        lines += [f"refused  {path}: {why}" for path, why in imported.refused]
        lines += _notes(imported.warnings)
        lines += [f"left out {path}: {why}" for path, why in imported.skipped]
    return Shown(value, lines)


def _notes(warnings: Sequence[tuple[str, str]]) -> Iterator[str]:
    """A line for each note; one that many files have is one line."""
    files: dict[str, list[str]] = {}
    for path, why in warnings:
        files.setdefault(why, []).append(path)
    for why, paths in files.items():
        named = f"{len(paths)} files, such as {paths[0]}" if len(paths) > MANY else ""
        yield from [f"note     {path}: {why}" for path in ([named] if named else paths)]


@command("verify", "check that repository, database and index agree", "index.jobs.verify")
def verify(call: CommandCall) -> Shown:
    """Exit 0 only if every file is whole, and repository, database and index agree."""
    app = existing(call.settings)
    verified = app.index.jobs.verify(acting(app, call.user), call.progress, app.platform.workspace.create)
    damaged = [{"file": each.file, "what": each.what, "cure": str(each.cure)} for each in verified.damaged]
    value = {"ok": not verified.problems, "problems": verified.problems, "damaged": damaged}
    return Shown(
        value,
        verified.problems or ["Every file is whole; repository, database and index agree."],
        1 if verified.problems else 0,
    )


@command(
    "doctor",
    "look at settings, permissions, disk, clock, mail, provider, models, store, database and backups, and say what "
    "to do",
    "platform.doctor.examine",
)
def doctor(call: CommandCall) -> Shown:
    """Exit 0 only if nothing is at fault. Nothing is changed, and no mail is sent."""
    app = existing(call.settings)
    checkups = app.platform.doctor.examine(acting(app, call.user))
    faults = sum(checkup.state == "fault" for checkup in checkups)
    lines = [f"{each.state:5}  {each.part}: {each.says}{f' {each.cure}' if each.cure else ''}" for each in checkups]
    return Shown({"ok": not faults, "checkups": strict.plain(checkups)}, lines, 1 if faults else 0)


@command(
    "backup", "save the workspace in a new folder, while people work", "platform.backups.take", example="backup saved"
)
def backup(call: CommandCall, form: BackupOptions) -> Shown:
    backups, actor, flags = call.app.platform.backups, call.actor, {"with_index": form.with_index}
    if form.folder.startswith(STORE):
        saved = backups.upload(actor, form.folder, **flags, progress=call.progress)
    else:
        saved = backups.take(actor, Path(form.folder), **flags, progress=call.progress)
    return Shown(strict.plain(saved), [f"Backed up to {saved.folder}: {_contents(saved)}."])


@command(
    "database move",
    "copy every row into another, empty database; stop the app first",
    "platform.backups.move",
    example="database move postgresql://concord:password@db.example.org/concord",
)
def database_move(call: CommandCall, form: DatabaseMoveOptions) -> Shown:
    url = "" if form.url == "sqlite" else form.url
    place = call.app.platform.backups.move(call.actor, url, call.progress)
    then = "Set CONCORD_DATABASE to its URL" if url else "Unset CONCORD_DATABASE"
    return Shown({"place": place}, [f"The database is in {place} now. {then}, then start the call.app again."])


@command("restore", "fill an empty workspace from a backup", "platform.backups.restore", example="restore saved")
def restore(call: CommandCall, form: RestoreOptions) -> Shown:
    """Exit 0 only if the restored workspace verifies."""
    if call.user:
        raise BadInput("An empty workspace has no accounts yet. Restore without --as.")
    app = build_app(call.settings)
    backups, actor = app.platform.backups, acting(app, call.user)
    if form.folder.startswith(STORE):
        saved = backups.download(actor, form.folder, call.progress)
    else:
        saved = backups.restore(actor, Path(form.folder), call.progress)
    lines = [f"Restored {call.settings.home} from {saved.folder}: {_contents(saved)}, as of {saved.created}."]
    serving = app.index.generations.current(app.platform.settings.production().profile)
    if serving and serving.pending:
        lines.append("Words can be searched. Vectors follow when the app starts, or with: python -m core reindex")
    return Shown({**strict.plain(saved), "home": str(call.settings.home)}, lines)


@command(
    "upgrade",
    "bring a workspace of an earlier version to this one: tried on a copy, saved first",
    "platform.upgrades.run",
    example="upgrade saved --check",
)
def upgrade(call: CommandCall, form: UpgradeOptions) -> Shown:
    """Stop the server first; --check works beside it. The way back is to restore DIR with the version before."""
    if call.user:
        raise BadInput("Accounts of an earlier version are not read before the upgrade. Upgrade without --as.")
    if not (form.check or form.dumped or form.folder):
        raise BadInput("Name a folder to save the workspace in, or look first with --check.", UPGRADE)
    app = existing(call.settings)
    upgrades, actor = app.platform.upgrades, acting(app, call.user)
    target = None if form.dumped else Path(form.folder)
    plan = upgrades.check(actor, call.progress) if form.check else upgrades.run(actor, target, call.progress)
    return Shown(
        {**strict.plain(plan), "needed": plan.database.needed}, _upgraded(plan, form.check, upgrades.database.on_server)
    )


def _upgraded(plan: Upgrade, check: bool, on_server: bool) -> list[str]:
    tried, saved = plan.database, plan.backup
    if not tried.needed and plan.index == "kept":
        return [f"Nothing to do: the database has seen revision {tried.have}, the newest of version {__version__}."]
    size = f"{tried.rows:,} rows in {tried.bytes / 1e6:.1f} MB"
    tests = (
        "a copy was not tried" if on_server else f"{size}; a copy took {tried.seconds:.1f} s of CPU and lost nothing"
    )
    lines = [
        f"Database: revision {tried.have} to {tried.newest}; {tests}.",
        f"Documents are kept. The index is {plan.index}.",
    ]
    if check:
        copy = "upgrade DIR saves the workspace in DIR first, and the version before restores it from there."
        return [*lines, f"The way back: {'a dump of the database that you make first.' if on_server else copy}"]
    kept = f" The workspace as it was: {saved.folder}, {_contents(saved)}." if saved else ""
    return [*lines, f"Upgraded.{kept}", way_back(saved)]


def _contents(saved: Backup) -> str:
    return f"{saved.files} files, {saved.bytes / 1e6:.1f} MB, commit {saved.commit[:12] or 'none'}"
