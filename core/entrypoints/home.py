"""Home on the command line: what the knowledge base holds, and what needs attention."""

from __future__ import annotations

from argparse import Namespace
from typing import Any

from core import strict
from core.entrypoints.session import open_app
from core.entrypoints.terminal import Terminal
from core.settings import Settings


def register(add: Any) -> None:
    """The command `overview`."""
    add("overview", overview, "what the knowledge base holds, and what needs attention")


def overview(settings: Settings, options: Namespace, terminal: Terminal) -> int:
    """What the Home page shows."""
    view = open_app(settings).knowledge.home.overview()
    value: dict[str, Any] = {
        "documents": view.documents,
        "types": dict(view.types),
        "folders": dict(view.folders),
        "overdue": [{"doc": d.id, "title": d.title, "owner": d.meta.owner, "days": -f.days} for d, f in view.overdue],
        "due_soon": [{"doc": d.id, "title": d.title, "owner": d.meta.owner, "days": f.days} for d, f in view.due_soon],
        "without_owner": [{"doc": d.id, "title": d.title} for d in view.without_owner],
        "unreadable": [{"path": path, "why": why} for path, why in view.unreadable],
        "index": strict.plain(view.index),
    }
    lines = [f"{view.documents} documents: " + ", ".join(f"{n} {name}" for name, n in view.types.items())]
    lines += [f"overdue by {one['days']} days  {one['doc']}  {one['title']}" for one in value["overdue"]]
    lines += [f"no owner  {one['doc']}  {one['title']}" for one in value["without_owner"]]
    lines += [f"unreadable  {one['path']}: {one['why']}" for one in value["unreadable"]]
    lines.append(f"index: {view.index.behind} changes behind" if view.index.serving else "index: not built")
    terminal.show(value, lines)
    return 0
