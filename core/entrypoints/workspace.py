"""The workspace on the command line: init, import, verify."""

from __future__ import annotations

from argparse import Namespace
from pathlib import Path
from typing import Any

from core import strict
from core.access import require
from core.bootstrap import build
from core.entrypoints.session import acting, open_app
from core.entrypoints.terminal import Terminal
from core.errors import NotFound
from core.settings import PROJECT, Settings
from core.types import Person

STARTER = Person("Concord", "concord@localhost")


def register(add: Any) -> None:
    new = add("init", init, "make the workspace and bring in a first folder of documents")
    new.add_argument(
        "--from", dest="source", type=Path, help="a folder of Markdown (default: the starter knowledge base)"
    )
    add("verify", verify, "check that repository, database and index agree")


def init(settings: Settings, options: Namespace, terminal: Terminal) -> int:
    """Create the workspace; import a first folder if it is empty."""
    app = build(settings)
    app.platform.workspace.create()
    source = options.source or PROJECT / "kb"
    imported = None
    if options.source and not source.is_dir():
        raise NotFound(f"There is no folder {str(source)!r}.")
    if not app.knowledge.store.head():
        first = "Start with the starter knowledge base" if source == PROJECT / "kb" else f"Start with {source.name}"
        imported = app.knowledge.documents.import_folder(source, STARTER, first, progress=terminal.progress)
        app.reviews.merger.repair()
    value = {
        "home": str(settings.home),
        "commit": app.knowledge.store.head(),
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
    require(actor, "import documents")
    imported = app.knowledge.documents.import_folder(
        options.folder, actor.person, options.message, options.into, terminal.progress
    )
    if imported.added or imported.edited:
        app.people.audit.note(actor, "import", options.folder.name, commit=imported.commit)
    return show_imported(terminal, imported)


def show_imported(terminal: Terminal, imported: Any) -> int:
    lines = [
        f"{len(imported.added)} added, {len(imported.edited)} edited, {len(imported.unchanged)} unchanged, {len(imported.refused)} refused."
    ]
    if imported.added or imported.edited:
        lines.append("Make them searchable with: python -m core reindex")
    return _imported(terminal, _import_json(imported), lines, imported)


def _import_json(imported: Any) -> dict[str, Any]:
    pairs = {
        name: [{"path": path, "why": why} for path, why in getattr(imported, name)] for name in ("refused", "warnings")
    }
    return {**strict.plain(imported), **pairs}


def _imported(terminal: Terminal, value: dict[str, Any], lines: list[str], imported: Any) -> int:
    if imported:
        lines += [f"refused  {path}: {why}" for path, why in imported.refused]
        lines += [f"note     {path}: {why}" for path, why in imported.warnings]
    terminal.show(value, lines)
    return 0


def verify(settings: Settings, options: Namespace, terminal: Terminal) -> int:
    """Exit 0 only if repository, database and index agree."""
    problems = open_app(settings).index.verifier.problems(terminal.progress)
    terminal.show(
        {"ok": not problems, "problems": list(problems)}, list(problems) or ["Repository, database and index agree."]
    )
    return 1 if problems else 0
