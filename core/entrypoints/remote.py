"""The git remote on the command line: add, show, push, fetch, remove."""

from __future__ import annotations

import tempfile
from argparse import Namespace
from dataclasses import replace
from pathlib import Path
from typing import Any

from core import strict
from core.curation.checks.annotations import github, gitlab
from core.entrypoints.session import acting, build_app, open_app
from core.entrypoints.terminal import Terminal
from core.evaluation.impact import as_json
from core.services.remote.pull_requests import markdown
from core.services.remote.remotes import Remote
from core.settings import PROJECT, Settings


def register(add: Any) -> None:
    remote = add.group_of("remote")
    first = remote("add", remote_add, "name the repository; an empty knowledge base takes its history over")
    first.add_argument("url", metavar="URL", help="its address over https, ssh, git or file, without a password")
    first.add_argument("--branch", default="main", help="the branch of it (default: main)")
    first.add_argument("--folder", default="", help="the folder of it that holds the documents (default: all of it)")
    first.add_argument(
        "--trust", action="store_true", help="take commits that another Concord made without a second review"
    )
    remote("show", remote_show, "where both sides stand, what waits, and the last error")
    remote("push", remote_push, "push now; exit 1 if that fails or must wait")
    look = remote("fetch", remote_fetch, "look for commits made elsewhere now")
    look.add_argument("--accept-rewritten", action="store_true", help="accept that the branch was rewritten there")
    request = add("pull-request", pull_request)
    request.add_argument("--base", required=True, metavar="COMMIT", help="what it would be merged into")
    request.add_argument("--head", default="HEAD", metavar="COMMIT", help="its newest commit (default: HEAD)")
    request.add_argument(
        "--repository", type=Path, default=Path(), metavar="DIR", help="the repository (default: here)"
    )
    request.add_argument("--folder", default="", help="the folder of it that holds the documents (default: all of it)")
    request.add_argument("--no-impact", action="store_true", help="only check the documents; needs no model")
    request.add_argument("--summary", type=Path, metavar="FILE", help="add a summary in Markdown to this file")
    request.add_argument(
        "--annotations", choices=("github",), help="print findings as GitHub shows them beside the lines"
    )
    request.add_argument("--code-quality", type=Path, metavar="FILE", help="write findings as GitLab shows them")
    remote("remove", remote_remove, "forget the repository; nothing changes there or here")


def remote_add(settings: Settings, options: Namespace, terminal: Terminal) -> int:
    app = open_app(settings)
    remotes = app.remote.remotes
    added = remotes.add(acting(app, options), options.url, options.branch, options.folder, trust=options.trust)
    return _show(added, terminal)


def remote_show(settings: Settings, options: Namespace, terminal: Terminal) -> int:
    app = open_app(settings)
    remote = app.remote.remotes.show(acting(app, options))
    if remote is None:
        terminal.show(None, ["There is no remote. Name one with: python -m core remote add URL"])
        return 0
    return _show(remote, terminal)


def remote_push(settings: Settings, options: Namespace, terminal: Terminal) -> int:
    app = open_app(settings)
    remote = app.remote.remotes.push(acting(app, options))
    _show(remote, terminal)
    return 1 if remote.backlog else 0


def remote_fetch(settings: Settings, options: Namespace, terminal: Terminal) -> int:
    app = open_app(settings)
    return _show(app.remote.remotes.fetch(acting(app, options), accept=options.accept_rewritten), terminal)


def remote_remove(settings: Settings, options: Namespace, terminal: Terminal) -> int:
    app = open_app(settings)
    removed = app.remote.remotes.remove(acting(app, options))
    terminal.show(strict.plain(removed), [f"{removed.url} is forgotten. Nothing changed there or here."])
    return 0


def pull_request(settings: Settings, options: Namespace, terminal: Terminal) -> int:
    """Exit 1 when the documents could not be merged. Without --home, in a workspace that is gone afterwards."""
    with tempfile.TemporaryDirectory(prefix="concord-pull-request-") as folder:
        home = settings.home if options.home else Path(folder) / "home"
        database = settings.database if options.home else ""
        cache = settings.cache or PROJECT / ".cache" / "pull-requests"
        app = build_app(replace(settings, home=home, cache=cache, database=database, store=""))
        app.platform.workspace.create()
        actor = acting(app, options)
        look = app.remote.pull_requests.look
        request = look(
            actor,
            options.repository.resolve(),
            options.base,
            options.head,
            options.folder,
            impact=not options.no_impact,
            progress=terminal.progress,
        )
    for file, text in (
        (options.summary, markdown(request)),
        (options.code_quality, gitlab(request.findings, request.folder)),
    ):
        if file:
            with file.open("a" if file == options.summary else "w", encoding="utf-8") as out:
                out.write(text)
    lines = github(request.findings, request.folder) if options.annotations else markdown(request).splitlines()
    value = {**strict.plain(request), "ok": request.ok, "impact": as_json(request.impact) if request.impact else None}
    terminal.show(value, lines)
    return 0 if request.ok else 1


def _show(remote: Remote, terminal: Terminal) -> int:
    place = f"{remote.url}, branch {remote.branch}" + (f", folder {remote.folder}" if remote.folder else "")
    lines = [place, f"{remote.state}: {remote.sentence}"]
    lines += [f"{remote.backlog} to push, {remote.incoming} to take over" + (f" by change {remote.change}" * bool(remote.change))]  # fmt: skip
    lines += [f"last push {remote.pushed or 'never'}, last fetch {remote.fetched or 'never'}"]
    terminal.show(strict.plain(remote), lines)
    return 0
