"""Accounts on the command line: who may do what."""

from __future__ import annotations

import getpass
import sys
from typing import Annotated

from core import strict
from core.entrypoints.record import ANY, Argument, CommandCall, Option, Shown, command, form
from core.entrypoints.terminal import table


@form
class OneAccount:
    account: Annotated[str, Argument("ACCOUNT")]


@form
class AccountsAddOptions(OneAccount):
    name: Annotated[str, Option("the full name")] = ""
    email: Annotated[str, Option("the address")] = ""
    role: Annotated[str, Option("reader, author, reviewer or admin")] = "reader"
    kind: Annotated[str, Option("person, service or agent; the last two come with access tokens")] = "person"
    password: Annotated[bool, Option("ask for a password (read from standard input)")] = False


@form
class AccountsRoleOptions(OneAccount):
    role: Annotated[str, Argument("ROLE")]


@form
class AccountsGroupsOptions(OneAccount):
    groups: Annotated[
        tuple[str, ...], Argument("GROUP", "all of them; none takes somebody out of each", nargs=ANY)
    ] = ()


@command("accounts list", "everybody", "people.accounts.listed")
def accounts_list(call: CommandCall) -> Shown:
    accounts = call.app.people.accounts.listed(call.actor)
    rows = [
        (account.id, account.kind, account.role, account.name, account.email, "" if account.active else "off")
        for account in accounts
    ]
    heads = ("id", "kind", "role", "name", "email", "")
    return Shown([strict.plain(account) for account in accounts], table(rows, heads))


@command("accounts add", "let somebody new in", "people.accounts.add")
def accounts_add(call: CommandCall, form: AccountsAddOptions) -> Shown:
    password = _password() if form.password else ""
    account = call.app.people.accounts.add(
        call.actor,
        form.account,
        form.name or form.account,
        form.email or f"{form.account}@localhost",
        form.role,
        password,
        form.kind,
    )
    return Shown(strict.plain(account), [f"{account.name} ({account.id}) is {account.role}."])


def _password() -> str:
    """Read from standard input: the command line is visible to others."""
    return getpass.getpass("Password: ") if sys.stdin.isatty() else sys.stdin.readline().rstrip("\n")


@command("accounts role", "give somebody another role", "people.accounts.set_role")
def accounts_role(call: CommandCall, form: AccountsRoleOptions) -> Shown:
    account = call.app.people.accounts.set_role(call.actor, form.account, form.role)
    return Shown(strict.plain(account), [f"{account.name} ({account.id}) is {account.role}."])


@command(
    "accounts groups", "the groups that somebody is in; folders name them as readers", "people.accounts.set_groups"
)
def accounts_groups(call: CommandCall, form: AccountsGroupsOptions) -> Shown:
    account = call.app.people.accounts.set_groups(call.actor, form.account, form.groups)
    groups = ", ".join(account.groups) or "no group"
    return Shown(strict.plain(account), [f"{account.name} ({account.id}) is in {groups}."])


@command("accounts password", "set a password (read from standard input)", "people.accounts.set_password")
def accounts_password(call: CommandCall, form: OneAccount) -> Shown:
    call.app.people.accounts.set_password(call.actor, form.account, _password())
    return Shown({"account": form.account}, ["The password is set."])


@command("accounts link", "a page on which somebody chooses a new password, once", "people.accounts.password_link")
def accounts_link(call: CommandCall, form: OneAccount) -> Shown:
    link = call.app.people.accounts.password_link(call.actor, form.account)
    url = f"{call.settings.url.rstrip('/')}{link.page}"
    lines = [f"Give this to {link.account}; it works once, for a day. The password of now works until then:", url]
    return Shown({**strict.plain(link), "url": url}, lines)


@command("accounts on", "switch an account on", "people.accounts.set_active")
def accounts_on(call: CommandCall, form: OneAccount) -> Shown:
    return _switched(call, form.account, active=True)


@command("accounts off", "switch an account off", "people.accounts.set_active")
def accounts_off(call: CommandCall, form: OneAccount) -> Shown:
    return _switched(call, form.account, active=False)


def _switched(call: CommandCall, name: str, *, active: bool) -> Shown:
    account = call.app.people.accounts.set_active(call.actor, name, active)
    return Shown(strict.plain(account), [f"{account.name} ({account.id}) is {'on' if account.active else 'off'}."])


@command("accounts unbind", "forget who an account is at the sign-in provider", "people.accounts.unbind")
def accounts_unbind(call: CommandCall, form: OneAccount) -> Shown:
    account = call.app.people.accounts.unbind(call.actor, form.account)
    return Shown(strict.plain(account), [f"Whoever the provider reports as {account.email} next has {account.id}."])


@command("accounts unlock", "let somebody in whose password others guess at", "people.accounts.unlock")
def accounts_unlock(call: CommandCall, form: OneAccount) -> Shown:
    unlocked = call.app.people.accounts.unlock(call.actor, form.account)
    lines = [
        f"{unlocked.account}: {unlocked.tries} tries are forgotten. Open this in the browser, then sign in with the password:",
        f"{call.settings.url.rstrip('/')}{unlocked.page}",
    ]
    return Shown({**strict.plain(unlocked), "url": lines[1]}, lines)
