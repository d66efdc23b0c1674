"""Accounts on the command line: who may do what, who is signed in, access tokens, and the audit."""

from __future__ import annotations

import getpass
import sys
from typing import Annotated

from core import strict
from core.cures import SESSIONS
from core.entrypoints.record import ANY, MAYBE, Argument, CommandCall, Option, Shown, command, form
from core.entrypoints.terminal import table
from core.errors import BadInput
from core.services.people.accounts import NewAccount
from core.services.people.audit import as_csv


@form
class OneAccount:
    account: Annotated[str, Argument("ACCOUNT", "the id of the account")]


@form
class AccountsAddOptions(OneAccount):
    name: Annotated[str, Option("the full name")] = ""
    email: Annotated[str, Option("the address")] = ""
    role: Annotated[str, Option("reader, author, reviewer or admin")] = "reader"
    kind: Annotated[str, Option("person, service or agent; the last two come with access tokens")] = "person"
    password: Annotated[bool, Option("ask for a password (read from standard input)")] = False


@form
class AccountsRoleOptions(OneAccount):
    role: Annotated[str, Argument("ROLE", "reader, author, reviewer or admin")]


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


@command(
    "accounts add",
    "let somebody new in",
    "people.accounts.add",
    example='accounts add zoe --name "Zoe Ma" --email zoe@example.org --role author',
)
def accounts_add(call: CommandCall, form: AccountsAddOptions) -> Shown:
    password = _password() if form.password else ""
    account = call.app.people.accounts.add(
        call.actor,
        NewAccount(
            form.account,
            form.name or form.account,
            form.email or f"{form.account}@localhost",
            form.role,
            kind=form.kind,
        ),
        password,
    )
    return Shown(strict.plain(account), [f"{account.name} ({account.id}) is {account.role}."])


def _password() -> str:
    """Read from standard input: the command line is visible to others."""
    return getpass.getpass("Password: ") if sys.stdin.isatty() else sys.stdin.readline().rstrip("\n")


@command(
    "accounts role", "give somebody another role", "people.accounts.set_role", example="accounts role author2 reviewer"
)
def accounts_role(call: CommandCall, form: AccountsRoleOptions) -> Shown:
    account = call.app.people.accounts.set_role(call.actor, form.account, form.role)
    return Shown(strict.plain(account), [f"{account.name} ({account.id}) is {account.role}."])


@command(
    "accounts groups",
    "the groups that somebody is in; folders name them as readers",
    "people.accounts.set_groups",
    example="accounts groups author2 hr finance",
)
def accounts_groups(call: CommandCall, form: AccountsGroupsOptions) -> Shown:
    account = call.app.people.accounts.set_groups(call.actor, form.account, form.groups)
    groups = ", ".join(account.groups) or "no group"
    return Shown(strict.plain(account), [f"{account.name} ({account.id}) is in {groups}."])


@command(
    "accounts password",
    "set a password (read from standard input)",
    "people.accounts.set_password",
    example="accounts password author2",
)
def accounts_password(call: CommandCall, form: OneAccount) -> Shown:
    call.app.people.accounts.set_password(call.actor, form.account, _password())
    return Shown({"account": form.account}, ["The password is set."])


@command(
    "accounts link",
    "a page on which somebody chooses a new password, once",
    "people.accounts.password_link",
    example="accounts link author2",
)
def accounts_link(call: CommandCall, form: OneAccount) -> Shown:
    link = call.app.people.accounts.password_link(call.actor, form.account)
    url = f"{call.settings.url.rstrip('/')}{link.page}"
    lines = [f"Give this to {link.account}; it works once, for a day. Their current password works until then:", url]
    lines += [] if call.settings.url else ["Put your server's address before it, or set CONCORD_URL."]
    return Shown({**strict.plain(link), "url": url}, lines)


@command("accounts on", "switch an account on", "people.accounts.set_active", example="accounts on author2")
def accounts_on(call: CommandCall, form: OneAccount) -> Shown:
    return _switched(call, form.account, active=True)


@command("accounts off", "switch an account off", "people.accounts.set_active", example="accounts off author2")
def accounts_off(call: CommandCall, form: OneAccount) -> Shown:
    return _switched(call, form.account, active=False)


def _switched(call: CommandCall, name: str, *, active: bool) -> Shown:
    account = call.app.people.accounts.set_active(call.actor, name, active)
    return Shown(strict.plain(account), [f"{account.name} ({account.id}) is {'on' if account.active else 'off'}."])


@command(
    "accounts unbind",
    "forget who an account is at the sign-in provider",
    "people.accounts.unbind",
    example="accounts unbind author2",
)
def accounts_unbind(call: CommandCall, form: OneAccount) -> Shown:
    account = call.app.people.accounts.unbind(call.actor, form.account)
    return Shown(strict.plain(account), [f"Whoever the provider reports as {account.email} next has {account.id}."])


@command(
    "accounts unlock",
    "let somebody in whose password others guess at",
    "people.accounts.unlock",
    example="accounts unlock author2",
)
def accounts_unlock(call: CommandCall, form: OneAccount) -> Shown:
    unlocked = call.app.people.accounts.unlock(call.actor, form.account)
    lines = [
        f"{unlocked.account}: {unlocked.tries} tries are forgotten. Open this in the browser, then sign in with the "
        "password:",
        f"{call.settings.url.rstrip('/')}{unlocked.page}",
    ]
    return Shown({**strict.plain(unlocked), "url": lines[1]}, lines)


@form
class TokenAddOptions:
    name: Annotated[str, Argument("NAME", "what uses it")]
    account: Annotated[str, Option("the service or agent it is for (default: the acting account)")] = ""
    scope: Annotated[str, Option("read, propose or review")] = "read"
    days: Annotated[int, Option("how long it lasts, 365 at most")] = 90
    folder: Annotated[tuple[str, ...], Option("read this folder alone; repeat for more", metavar="FOLDER")] = ()


@form
class TokenListOptions:
    account: Annotated[str, Option("only of this account")] = ""


@form
class TokenRevokeOptions:
    id: Annotated[int, Argument("ID", "the id of a token, as token list prints it")]


@command(
    "token add",
    "make a token; it is shown once",
    "people.tokens.make",
    example="token add nightly --scope read --days 30",
)
def token_add(call: CommandCall, form: TokenAddOptions) -> Shown:
    text, made = call.app.people.tokens.make(
        call.actor, form.name, form.scope, form.days, form.account, folders=form.folder
    )
    lines = [text, f"{made.name} of {made.account}: {made.scope}, until {made.expires[:10]}. It is not shown again."]
    return Shown({**strict.plain(made), "token": text}, lines)


@command(
    "token list",
    "one's own, or everybody's for admins of this machine",
    "people.tokens.listed",
    needs="manage their own account",
)
def token_list(call: CommandCall, form: TokenListOptions) -> Shown:
    tokens = call.app.people.tokens.listed(call.actor, form.account or (call.actor.id if call.user else ""))
    heads = ("id", "account", "name", "scope", "begins with", "expires", "last used", "")
    rows = [
        (
            *(token.id, token.account, token.name, token.scope, token.prefix),
            *(token.expires[:10], token.used or "never", "" if token.state == "active" else token.state),
        )
        for token in tokens
    ]
    return Shown([strict.plain(token) for token in tokens], table(rows, heads) if rows else ["No access tokens."])


@command("token revoke", "end a token at once", "people.tokens.revoke", example="token revoke 1")
def token_revoke(call: CommandCall, form: TokenRevokeOptions) -> Shown:
    token = call.app.people.tokens.revoke(call.actor, form.id)
    return Shown(strict.plain(token), [f"{token.name} of {token.account} is revoked."])


@form
class SessionsListOptions:
    account: Annotated[str, Option("only of this account", metavar="ACCOUNT")] = ""


@form
class SessionsEndOptions:
    id: Annotated[int | None, Argument("ID", "the id of a session, as sessions list prints it", nargs=MAYBE)] = None
    account: Annotated[str, Option("with --all: only of this account", metavar="ACCOUNT")] = ""
    all: Annotated[bool, Option("every session")] = False


@command("sessions list", "who is signed in, on which device", "people.sessions.all")
def sessions_list(call: CommandCall, form: SessionsListOptions) -> Shown:
    found = call.app.people.sessions.all(call.actor, form.account)
    rows = [(one.id, one.account, one.device, one.seen, one.created, one.issuer or "password") for one in found]
    return Shown(
        [strict.plain(one) for one in found],
        table(rows, ("id", "account", "device", "last seen", "since", "by")) if rows else ["Nobody is signed in."],
    )


@command("sessions end", "sign somebody out", "people.sessions.end_all", example="sessions end --all")
def sessions_end(call: CommandCall, form: SessionsEndOptions) -> Shown:
    if form.all == (form.id is not None):
        raise BadInput("Name one session by its ID, or give --all.", SESSIONS)
    if form.id is None:
        count = call.app.people.sessions.end_all(call.actor, form.account)
    else:
        call.app.people.sessions.end(call.actor, form.id)
        count = 1
    return Shown({"ended": count}, [f"Ended: {count}"])


@form
class AuditListOptions:
    who: Annotated[str, Option("only this account")] = ""
    action: Annotated[str, Option("only this act")] = ""
    since: Annotated[str, Option("only since this time")] = ""
    change: Annotated[int, Option("only this change")] = 0
    limit: Annotated[int, Option("how many lines")] = 500
    csv: Annotated[bool, Option("as a table for a spreadsheet")] = False


@command("audit list", "newest first", "people.audit.entries")
def audit_list(call: CommandCall, form: AuditListOptions) -> Shown | None:
    entries = call.app.people.audit.entries(
        call.actor,
        who=form.who,
        action=form.action,
        change=form.change,
        since=form.since,
        limit=form.limit,
    )
    if form.csv:
        sys.stdout.write(as_csv(entries))
        return None
    rows = [(entry.at, entry.name, entry.door, entry.token, entry.action, entry.what) for entry in entries]
    heads = ("when", "who", "door", "token", "action", "what")
    return Shown([strict.plain(entry) for entry in entries], table(rows, heads))
