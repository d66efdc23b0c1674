"""Accounts on the command line: who may do what."""

from __future__ import annotations

import getpass
import sys
from argparse import Namespace
from typing import Any

from core import strict
from core.entrypoints.session import acting, open_app
from core.entrypoints.terminal import Terminal, table
from core.settings import Settings


def register(add: Any) -> None:
    accounts = add.group_of("accounts")
    accounts("list", accounts_list, "everybody")
    new = accounts("add", accounts_add, "let somebody new in")
    new.add_argument("account", metavar="ACCOUNT")
    new.add_argument("--name", default="", help="the full name")
    new.add_argument("--email", default="", help="the address")
    new.add_argument("--role", default="reader", help="reader, author, reviewer or admin")
    new.add_argument("--kind", default="person", help="person, service or agent; the last two come with access tokens")
    new.add_argument("--password", action="store_true", help="ask for a password (read from standard input)")
    role = accounts("role", accounts_role, "give somebody another role")
    role.add_argument("account", metavar="ACCOUNT")
    role.add_argument("role", metavar="ROLE")
    for name, run, about in (
        ("password", accounts_password, "set a password (read from standard input)"),
        ("on", accounts_active, "switch an account on"),
        ("off", accounts_active, "switch an account off"),
        ("unlock", accounts_unlock, "let somebody in whose password others guess at"),
        ("unbind", accounts_unbind, "forget who an account is at the sign-in provider"),
    ):
        accounts(name, run, about).add_argument("account", metavar="ACCOUNT")


def accounts_list(settings: Settings, options: Namespace, terminal: Terminal) -> int:
    app = open_app(settings)
    accounts = app.people.accounts.listed(acting(app, options))
    rows = [
        (account.id, account.kind, account.role, account.name, account.email, "" if account.active else "off")
        for account in accounts
    ]
    heads = ("id", "kind", "role", "name", "email", "")
    terminal.show([strict.plain(account) for account in accounts], table(rows, heads))
    return 0


def accounts_add(settings: Settings, options: Namespace, terminal: Terminal) -> int:
    app = open_app(settings)
    password = _password(options) if options.password else ""
    account = app.people.accounts.add(
        acting(app, options),
        options.account,
        options.name or options.account,
        options.email or f"{options.account}@localhost",
        options.role,
        password,
        options.kind,
    )
    terminal.show(strict.plain(account), [f"{account.name} ({account.id}) is {account.role}."])
    return 0


def _password(options: Namespace) -> str:
    """Read from standard input: the command line is visible to others."""
    return getpass.getpass("Password: ") if sys.stdin.isatty() else sys.stdin.readline().rstrip("\n")


def accounts_role(settings: Settings, options: Namespace, terminal: Terminal) -> int:
    app = open_app(settings)
    account = app.people.accounts.set_role(acting(app, options), options.account, options.role)
    terminal.show(strict.plain(account), [f"{account.name} ({account.id}) is {account.role}."])
    return 0


def accounts_password(settings: Settings, options: Namespace, terminal: Terminal) -> int:
    app = open_app(settings)
    app.people.accounts.set_password(acting(app, options), options.account, _password(options))
    terminal.show({"account": options.account}, ["The password is set."])
    return 0


def accounts_active(settings: Settings, options: Namespace, terminal: Terminal) -> int:
    app = open_app(settings)
    account = app.people.accounts.set_active(acting(app, options), options.account, options.subcommand == "on")
    terminal.show(strict.plain(account), [f"{account.name} ({account.id}) is {'on' if account.active else 'off'}."])
    return 0


def accounts_unbind(settings: Settings, options: Namespace, terminal: Terminal) -> int:
    app = open_app(settings)
    account = app.people.accounts.unbind(acting(app, options), options.account)
    terminal.show(strict.plain(account), [f"Whoever the provider reports as {account.email} next has {account.id}."])
    return 0


def accounts_unlock(settings: Settings, options: Namespace, terminal: Terminal) -> int:
    app = open_app(settings)
    unlocked = app.people.accounts.unlock(acting(app, options), options.account)
    lines = [
        f"{unlocked.account}: {unlocked.tries} tries are forgotten. Open this in the browser, then sign in with the password:",
        f"{settings.url.rstrip('/')}{unlocked.page}",
    ]
    terminal.show({**strict.plain(unlocked), "url": lines[1]}, lines)
    return 0
