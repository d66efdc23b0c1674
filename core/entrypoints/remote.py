"""The git remote on the command line: add, show, push, fetch, remove."""

from __future__ import annotations

from argparse import Namespace
from typing import Any

from core import strict
from core.entrypoints.session import acting, open_app
from core.entrypoints.terminal import Terminal
from core.services.remote.remotes import Remote
from core.settings import Settings


def register(add: Any) -> None:
    remote = add.group_of(
        "remote", "a git repository elsewhere: merges go there, commits made there come in as a change"
    )
    first = remote("add", remote_add, "name the repository; an empty knowledge base takes its history over")
    first.add_argument("url", metavar="URL", help="its address over https, ssh, git or file, without a password")
    first.add_argument("--branch", default="main", help="the branch of it (default: main)")
    first.add_argument(
        "--trust", action="store_true", help="take commits that another Concord made without a second review"
    )
    remote("show", remote_show, "where both sides stand, what waits, and the last error")
    remote("push", remote_push, "push now; exit 1 if that fails or must wait")
    look = remote("fetch", remote_fetch, "look for commits made elsewhere now")
    look.add_argument("--accept-rewritten", action="store_true", help="accept that the branch was rewritten there")
    remote("remove", remote_remove, "forget the repository; nothing changes there or here")


def remote_add(settings: Settings, options: Namespace, terminal: Terminal) -> int:
    app = open_app(settings)
    remotes = app.remote.remotes
    added = remotes.add(acting(app, options), options.url, options.branch, trust=options.trust)
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


def _show(remote: Remote, terminal: Terminal) -> int:
    place = f"{remote.url}, branch {remote.branch}" + (f", folder {remote.folder}" if remote.folder else "")
    lines = [place, f"{remote.state}: {remote.sentence}"]
    lines += [f"{remote.backlog} to push, {remote.incoming} to take over" + (f" by change {remote.change}" * bool(remote.change))]  # fmt: skip
    lines += [f"last push {remote.pushed or 'never'}, last fetch {remote.fetched or 'never'}"]
    terminal.show(strict.plain(remote), lines)
    return 0
