"""One function per command: call the App, show what it says."""

from __future__ import annotations

import getpass
import textwrap
from argparse import Namespace
from dataclasses import replace
from typing import Any

from core import strict
from core.access import Actor, require
from core.bootstrap import App, beside, build, fetch_models, list_models
from core.entrypoints.terminal import Terminal, table
from core.errors import BadInput, NotFound, Unavailable
from core.evaluation import beir
from core.retrieval import config as configs
from core.services import evaluating, indexing, searching
from core.settings import PROJECT, Settings
from core.types import Document, Filters, Hit, Person

STARTER = Person("Concord", "concord@localhost")
DOOR = "command line"


def open_app(settings: Settings) -> App:
    """The App on a workspace that exists."""
    app = build(settings)
    if not (settings.home / "kb.git").is_dir():
        raise Unavailable(f"There is no workspace in {settings.home}. Make one with: python -m core init")
    app.create()
    return app


def introduce(settings: Settings, options: Namespace) -> None:
    """Refuse a --as that names nobody who may act, also for commands that everybody may use."""
    if options.user and (settings.home / "kb.git").is_dir():
        open_app(settings).accounts.actor(options.user)


def acting(app: App, options: Namespace) -> Actor:
    """The account named by --as. Without it an admin: whoever can run commands in the workspace owns its files."""
    if options.user:
        return replace(app.accounts.actor(options.user), door=DOOR)
    name = getpass.getuser()
    return Actor(f"{name}@localhost", name, f"{name}@localhost", "admin", DOOR)


# ---------------------------------------------------------------- workspace


def init(settings: Settings, options: Namespace, terminal: Terminal) -> int:
    """Make the workspace; bring in a first folder if there is nothing yet."""
    app = build(settings)
    app.create()
    source = options.source or PROJECT / "kb"
    imported = None
    if options.source and not source.is_dir():
        raise NotFound(f"There is no folder {str(source)!r}.")
    if not app.store.head():
        first = "Start with the starter knowledge base" if source == PROJECT / "kb" else f"Start with {source.name}"
        imported = app.documents.import_folder(source, STARTER, first, progress=terminal.progress)
        app.merging.repair()
    value = {"home": str(settings.home), "commit": app.store.head(), "documents": len(app.documents.all())}
    lines = [f"Workspace: {settings.home}", f"Documents: {value['documents']}"]
    if options.source and imported is None:
        lines.append(
            f"It holds documents already, so {source.name} was not brought in. Do that with: python -m core import"
        )
    return _imported(terminal, {**value, **(_import_json(imported) if imported else {})}, lines, imported)


def import_folder(settings: Settings, options: Namespace, terminal: Terminal) -> int:
    """Bring a folder in as one commit."""
    app = open_app(settings)
    actor = acting(app, options)
    require(actor, "import documents")
    imported = app.documents.import_folder(
        options.folder, actor.person, options.message, options.into, terminal.progress
    )
    if imported.added or imported.edited:
        app.auditing.note(actor, "import", options.folder.name, commit=imported.commit)
    return show_imported(terminal, imported)


def show_imported(terminal: Terminal, imported: Any) -> int:
    """What an import did, file by file."""
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
    problems = open_app(settings).verifying.problems(terminal.progress)
    terminal.show(
        {"ok": not problems, "problems": list(problems)}, list(problems) or ["Repository, database and index agree."]
    )
    return 1 if problems else 0


# ---------------------------------------------------------------- search


def search(settings: Settings, options: Namespace, terminal: Terminal) -> int:
    """Search and show hits."""
    app = open_app(settings)
    config = configs.parse(options.config) if options.config else None
    filters = Filters(
        types=tuple(options.type),
        statuses=tuple(options.status),
        tags=tuple(options.tag),
        owners=tuple(options.owner),
        folders=tuple(options.folder),
        docs=tuple(options.doc),
        history=options.history,
    )
    if options.k < 0 or options.k > 1000:
        raise BadInput("-k must be between 1 and 1000.")
    result = app.searching.search(options.query, profile=options.profile, config=config, filters=filters, k=options.k)
    lines = [line for hit in result.hits for line in _hit_lines(hit, options.explain)] or [
        "Nothing found. Try other words, or --history."
    ]
    lines += [f"! {warning}" for warning in result.warnings]
    if options.explain:
        lines += table(
            [(stage.name, f"{stage.ms:.2f}", stage.hits, stage.note) for stage in result.stages],
            ("stage", "ms", "hits", ""),
        )
    terminal.show(searching.as_json(result), lines)
    return 0


def _hit_lines(hit: Hit, explain: bool) -> list[str]:
    place = " › ".join((hit.title, *hit.heading))
    lines = [
        f"{hit.rank:>2}. {place}",
        f"    {hit.path}:{hit.start}-{hit.end}  v{hit.version}  {hit.status}  score {hit.score:.4f}",
    ]
    if explain:
        for name, leg in hit.legs.items():
            lines.append(
                f"    {name:<6} rank {leg.rank or '-':>3}  score {leg.score:8.4f}  normalised {leg.normalised:.4f}  weight {leg.weight:g}"
                + (f"  {leg.note}" if leg.note else "")
            )
    passage = " ".join(hit.text.split())
    return [
        *lines,
        *textwrap.wrap(
            passage[:300] + ("…" if len(passage) > 300 else ""), 100, initial_indent="    ", subsequent_indent="    "
        ),
        "",
    ]


def eval_beir(settings: Settings, options: Namespace, terminal: Terminal) -> int:
    """Score one configuration on a BEIR folder; the index is kept for the next one."""
    main = build(settings)
    collection = beir.read(options.folder, options.split, options.limit)
    app = beside(main, f"beir-{collection.name}-{collection.digest}")
    preferences = (main if (settings.home / "kb.git").is_dir() else app).preferences
    profile = preferences.profile(options.profile)
    if not app.store.head():
        app.documents.save(collection.files, [], evaluating.AUTHOR, f"Records of {collection.name}")
    built = app.indexing.build(profile, progress=terminal.progress)
    config = configs.parse(options.config) if options.config else preferences.production().config
    made = evaluating.run(app.searching, app.shelf.open(profile), collection, config, terminal.progress)
    value = {
        "dataset": collection.name,
        "split": options.split,
        "profile": profile.name,
        "config": configs.name(config),
        **evaluating.report(collection, made),
        "documents": built.generation.documents,
        "chunks": built.generation.chunks,
        "index": indexing.as_json(built) if built.fresh else None,
    }
    shown = [
        (key, value[key])
        for key in ("dataset", "profile", "config", "nDCG@10", "Recall@100", "MRR@10", "queries", "seconds")
    ]
    stages = [(f"  {name}", f"{seconds:.3f}") for name, seconds in made.stages.items()]
    terminal.show(value, table([*shown, *stages], ("measure", "value")))
    return 0


# ---------------------------------------------------------------- documents and models


def documents_list(settings: Settings, options: Namespace, terminal: Terminal) -> int:
    """Every document, by path."""
    found = [
        d
        for d in open_app(settings).documents.all()
        if d.path.startswith(options.folder.strip("/") + "/" if options.folder else "")
    ]
    lines = table(
        [(d.id, d.title, d.meta.doc_type, d.meta.status, f"v{d.version}", d.path) for d in found],
        ("id", "title", "type", "status", "version", "path"),
    )
    terminal.show([_document_json(d) for d in found], lines)
    return 0


def documents_show(settings: Settings, options: Namespace, terminal: Terminal) -> int:
    """One document, whole."""
    document = open_app(settings).documents.show(options.document, options.at)
    terminal.show({**_document_json(document), "text": document.text, "body": document.body}, [document.text])
    return 0


def _document_json(document: Document) -> dict[str, Any]:
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


def models_list(settings: Settings, options: Namespace, terminal: Terminal) -> int:
    """Bundled models, and which are here."""
    found = list_models(settings)
    rows = [(one["name"], one["kind"], "here" if one["present"] else "not fetched", one["about"]) for one in found]
    terminal.show(found, table(rows, ("name", "kind", "state", "about")))
    return 0


def models_fetch(settings: Settings, options: Namespace, terminal: Terminal) -> int:
    """Fetch what is missing."""
    fetched = fetch_models(settings, options.names, terminal.progress)
    terminal.show({"fetched": fetched}, [f"Fetched {', '.join(fetched)}." if fetched else "All models are here."])
    return 0
