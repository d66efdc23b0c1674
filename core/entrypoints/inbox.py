"""The inbox on the command line: what reached an account, and marking it as read."""

from __future__ import annotations

from argparse import Namespace
from typing import Any

from core import strict
from core.entrypoints.session import acting, open_app
from core.entrypoints.terminal import Terminal, table
from core.services.inbox.messages import KINDS, Message
from core.settings import Settings


def register(add: Any) -> None:
    inbox = add.group_of("inbox", "what reached an account")
    listing = inbox("list", inbox_list, "messages, newest first")
    listing.add_argument("--unread", action="store_true", help="only new ones")
    listing.add_argument("--kind", default="", help=", ".join(KINDS))
    seen = inbox("read", inbox_read, "mark messages as read")
    seen.add_argument("message", type=int, nargs="*", metavar="N", help="which ones (default: all)")


def as_json(message: Message) -> dict[str, Any]:
    """A message with the page that it leads to."""
    return {**strict.plain(message), "address": message.address}


def inbox_list(settings: Settings, options: Namespace, terminal: Terminal) -> int:
    app = open_app(settings)
    messages = app.inbox.messages.listed(acting(app, options), unread=options.unread, kind=options.kind)
    rows = [(m.id, "" if m.read else "new", m.kind, m.title, m.actor_name, m.count, m.at, m.address) for m in messages]
    heads = ("n", "", "kind", "about", "by", "times", "when", "address")
    terminal.show([as_json(message) for message in messages], table(rows, heads))
    return 0


def inbox_read(settings: Settings, options: Namespace, terminal: Terminal) -> int:
    app = open_app(settings)
    count = app.inbox.messages.read(acting(app, options), options.message)
    terminal.show({"read": count}, [f"{count} marked as read."])
    return 0
