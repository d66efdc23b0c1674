"""Nodes of one workspace on this machine: a database in common, a shared repository, and a clone for each."""

from __future__ import annotations

from pathlib import Path

from core.bootstrap import App
from tests.conftest import NoProcesses, demo, small_app

AUTHOR, REVIEWER = demo("author"), demo("reviewer")


def node(folder: Path, name: str, url: Path | str, database: str = "") -> App:
    """A node with a home of its own; without a server, the database and its lock are links to those of all nodes."""
    home = folder / name
    home.mkdir(parents=True, exist_ok=True)
    for file in () if database else ("app.db", "app.lock"):
        if not (home / file).is_symlink():
            (home / file).symlink_to(folder / file)
    return small_app(home, NoProcesses(), repository=str(url), remote_timeout=10, database=database)


def proposed(app: App, path: str, text: str) -> int:
    """A change that somebody approved; its number."""
    change = app.reviews.changes.propose(AUTHOR, f"Write {path}", {path: text.encode()})
    app.reviews.changes.submit(AUTHOR, change.id)
    app.reviews.discussion.approve(REVIEWER, change.id)
    return change.id


def merged(app: App, path: str, text: str) -> str:
    """One reviewed change, merged; its commit."""
    return app.reviews.merger.merge(AUTHOR, proposed(app, path, text)).merged
