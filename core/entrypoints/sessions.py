"""Sessions on the command line: who is signed in, and ending it."""

from __future__ import annotations

from argparse import Namespace
from typing import Any

from core import strict
from core.entrypoints.session import acting, open_app
from core.entrypoints.terminal import Terminal, table
from core.errors import BadInput
from core.settings import Settings


def register(add: Any) -> None:
    sessions = add.group_of("sessions")
    listed = sessions("list", sessions_list, "who is signed in, on which device")
    listed.add_argument("--account", default="", metavar="ACCOUNT", help="only of this account")
    ended = sessions("end", sessions_end, "sign somebody out")
    ended.add_argument("id", nargs="?", type=int, metavar="ID")
    ended.add_argument("--account", default="", metavar="ACCOUNT", help="with --all: only of this account")
    ended.add_argument("--all", action="store_true", help="every session")


def sessions_list(settings: Settings, options: Namespace, terminal: Terminal) -> int:
    app = open_app(settings)
    found = app.people.sessions.all(acting(app, options), options.account)
    rows = [(one.id, one.account, one.device, one.seen, one.created, one.issuer or "password") for one in found]
    terminal.show(
        [strict.plain(one) for one in found],
        table(rows, ("id", "account", "device", "last seen", "since", "by")) if rows else ["Nobody is signed in."],
    )
    return 0


def sessions_end(settings: Settings, options: Namespace, terminal: Terminal) -> int:
    app = open_app(settings)
    if options.all == (options.id is not None):
        raise BadInput("Name one session by its ID, or give --all. List them with: python -m core sessions list")
    if options.all:
        count = app.people.sessions.end_all(acting(app, options), options.account)
    else:
        app.people.sessions.end(acting(app, options), options.id)
        count = 1
    terminal.show({"ended": count}, [f"Ended: {count}"])
    return 0
