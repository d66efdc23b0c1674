"""Access tokens on the command line: made, listed, revoked."""

from __future__ import annotations

from typing import Annotated

from core import strict
from core.entrypoints.record import Argument, CommandCall, Option, Shown, command, form
from core.entrypoints.terminal import table


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
    id: Annotated[int, Argument("ID")]


@command("token add", "make a token; it is shown once", "people.tokens.make")
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


@command("token revoke", "end a token at once", "people.tokens.revoke")
def token_revoke(call: CommandCall, form: TokenRevokeOptions) -> Shown:
    token = call.app.people.tokens.revoke(call.actor, form.id)
    return Shown(strict.plain(token), [f"{token.name} of {token.account} is revoked."])
