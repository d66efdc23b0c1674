"""Disagreements on the command line: documents that say different things, and settling them."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from core import strict
from core.curation.document.frontmatter import decode
from core.entrypoints.session import acting, open_app
from core.entrypoints.terminal import Terminal
from core.errors import NotFound
from core.services.disagreements.finder import STATES, Disagreement, Statement
from core.settings import Settings


def register(add: Any) -> None:
    disagreements = add.group_of("disagreements")
    listing = disagreements("list", disagreements_list, "over the whole knowledge base, or of one change")
    listing.add_argument("--change", type=int, default=0, metavar="N", help="only what this change adds or edits")
    listing.add_argument("--state", choices=STATES, default="", help="only these")
    check = disagreements("check", disagreements_check, "a Markdown file against the knowledge base; 1 if it disagrees")
    check.add_argument("file", type=Path, metavar="FILE")
    check.add_argument("--path", dest="name", default="", metavar="PATH", help="the document that the file will become")
    settle = disagreements("settle", disagreements_settle, "both are right, and why")
    settle.add_argument("key", metavar="KEY")
    settle.add_argument("--reason", required=True)
    reopen = disagreements("reopen", disagreements_reopen, "it was not settled after all")
    reopen.add_argument("key", metavar="KEY")


def disagreements_list(settings: Settings, options: Namespace, terminal: Terminal) -> int:
    app = open_app(settings)
    service, actor = app.knowledge.disagreements, acting(app, options)
    every = service.of_change(actor, options.change) if options.change else service.everywhere(actor)
    _show(terminal, [found for found in every if options.state in ("", found.state)])
    return 0


def disagreements_check(settings: Settings, options: Namespace, terminal: Terminal) -> int:
    app = open_app(settings)
    actor = acting(app, options)
    try:
        text = decode(options.file.read_bytes())
    except OSError:
        raise NotFound(f"There is no file {str(options.file)!r}.") from None
    found = app.knowledge.disagreements.of_text(actor, options.name or options.file.name, text)
    _show(terminal, found)
    return int(any(one.state == "open" for one in found))


def disagreements_settle(settings: Settings, options: Namespace, terminal: Terminal) -> int:
    app = open_app(settings)
    found = app.knowledge.disagreements.settle(acting(app, options), options.key, options.reason)
    terminal.show(strict.plain(found), [f"{found.key} is settled: {found.reason}"])
    return 0


def disagreements_reopen(settings: Settings, options: Namespace, terminal: Terminal) -> int:
    app = open_app(settings)
    found = app.knowledge.disagreements.reopen(acting(app, options), options.key)
    terminal.show(strict.plain(found), [f"{found.key} is open again."])
    return 0


def _show(terminal: Terminal, found: Sequence[Disagreement]) -> None:
    lines = [line for one in found for line in _lines(one)]
    terminal.show([strict.plain(one) for one in found], lines or ["Nothing disagrees."])


def _lines(found: Disagreement) -> list[str]:
    settled = f", settled by {found.settled_by}: {found.reason}" if found.state == "settled" else ""
    return [f"{found.key}  {found.kind}{settled}", _place(found.mine), _place(found.theirs), ""]


def _place(statement: Statement) -> str:
    return f"  {statement.path}:{statement.line} ({statement.owner or 'no owner'})  {statement.text}"
