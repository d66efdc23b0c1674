"""The audit on the command line: who did what, when, and through which door."""

from __future__ import annotations

import sys
from argparse import Namespace
from typing import Any

from core import strict
from core.entrypoints.session import acting, open_app
from core.entrypoints.terminal import Terminal, table
from core.services.people.audit import as_csv
from core.settings import Settings


def register(add: Any) -> None:
    audit = add.group_of("audit")
    listing = audit("list", audit_list, "newest first")
    for name, about in (("who", "only this account"), ("action", "only this act"), ("since", "only since this time")):
        listing.add_argument(f"--{name}", default="", help=about)
    listing.add_argument("--change", type=int, default=0, help="only this change")
    listing.add_argument("--limit", type=int, default=500, help="how many lines")
    listing.add_argument("--csv", action="store_true", help="as a table for a spreadsheet")


def audit_list(settings: Settings, options: Namespace, terminal: Terminal) -> int:
    app = open_app(settings)
    entries = app.people.audit.entries(
        acting(app, options),
        who=options.who,
        action=options.action,
        change=options.change,
        since=options.since,
        limit=options.limit,
    )
    if options.csv:
        sys.stdout.write(as_csv(entries))
        return 0
    rows = [(entry.at, entry.name, entry.door, entry.token, entry.action, entry.what) for entry in entries]
    heads = ("when", "who", "door", "token", "action", "what")
    terminal.show([strict.plain(entry) for entry in entries], table(rows, heads))
    return 0
