"""Access tokens on the command line: made, listed, revoked."""

from __future__ import annotations

from argparse import Namespace
from typing import Any

from core import strict
from core.entrypoints.session import acting, open_app
from core.entrypoints.terminal import Terminal, table
from core.settings import Settings


def register(add: Any) -> None:
    tokens = add.group_of("token")
    new = tokens("add", token_add, "make a token; it is shown once")
    new.add_argument("name", metavar="NAME", help="what uses it")
    new.add_argument("--account", default="", help="the service or agent it is for (default: the acting account)")
    new.add_argument("--scope", default="read", help="read, propose or review")
    new.add_argument("--days", type=int, default=90, help="how long it lasts, 365 at most")
    listed = tokens("list", token_list, "one's own, or everybody's for admins of this machine")
    listed.add_argument("--account", default="", help="only of this account")
    tokens("revoke", token_revoke, "end a token at once").add_argument("id", type=int, metavar="ID")


def token_add(settings: Settings, options: Namespace, terminal: Terminal) -> int:
    app = open_app(settings)
    text, made = app.people.tokens.make(
        acting(app, options), options.name, options.scope, options.days, options.account
    )
    lines = [text, f"{made.name} of {made.account}: {made.scope}, until {made.expires[:10]}. It is not shown again."]
    terminal.show({**strict.plain(made), "token": text}, lines)
    return 0


def token_list(settings: Settings, options: Namespace, terminal: Terminal) -> int:
    app = open_app(settings)
    actor = acting(app, options)
    tokens = app.people.tokens.listed(actor, options.account or (actor.id if options.user else ""))
    heads = ("id", "account", "name", "scope", "begins with", "expires", "last used", "")
    rows = [
        (
            *(token.id, token.account, token.name, token.scope, token.prefix),
            *(token.expires[:10], token.used or "never", "" if token.state == "active" else token.state),
        )
        for token in tokens
    ]
    terminal.show([strict.plain(token) for token in tokens], table(rows, heads) if rows else ["No access tokens."])
    return 0


def token_revoke(settings: Settings, options: Namespace, terminal: Terminal) -> int:
    app = open_app(settings)
    token = app.people.tokens.revoke(acting(app, options), options.id)
    terminal.show(strict.plain(token), [f"{token.name} of {token.account} is revoked."])
    return 0
