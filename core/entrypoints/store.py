"""The store on the command line: what is there, whether it can be relied on, and what it may forget."""

from __future__ import annotations

from argparse import Namespace
from typing import Any

from core import strict
from core.entrypoints.session import acting, open_app
from core.entrypoints.terminal import Terminal, table
from core.settings import Settings


def register(add: Any) -> None:
    store = add.group_of("store")
    store("status", status, "whether it answers, and what each node serves")
    store("check", check, "whether it honours conditions of writes")
    store("collect", collect, "delete generations and files that nothing needs any more")


def status(settings: Settings, options: Namespace, terminal: Terminal) -> int:
    """Exit 0 only if the store answers."""
    app = open_app(settings)
    nodes = app.index.following.nodes(acting(app, options))
    value = {**strict.plain(app.index.following.state), "nodes": [{**strict.plain(n), "alive": n.alive} for n in nodes]}
    rows = [(node.name, "yes" if node.alive else "gone", f"{node.age:.0f} s", node.summary) for node in nodes]
    lines = [f"{value['url']}: {'answers' if value['usable'] else value['error']}"]
    terminal.show(value, lines + table(rows, ("node", "alive", "said", "serves")))
    return 0 if value["usable"] else 1


def check(settings: Settings, options: Namespace, terminal: Terminal) -> int:
    app = open_app(settings)
    app.index.following.check(acting(app, options))
    terminal.show({"store": settings.store, "ok": True}, [f"{settings.store} honours conditions of writes."])
    return 0


def collect(settings: Settings, options: Namespace, terminal: Terminal) -> int:
    app = open_app(settings)
    gone = app.index.following.collect(acting(app, options))
    line = f"Deleted {gone.generations} generations and {gone.files} files, {gone.bytes / 1e6:.1f} MB."
    terminal.show(strict.plain(gone), [line])
    return 0
