"""Sessions on the command line: who is signed in, and ending it."""

from __future__ import annotations

from typing import Annotated

from core import strict
from core.entrypoints.record import MAYBE, Argument, CommandCall, Option, Shown, command, form
from core.entrypoints.terminal import table
from core.errors import BadInput


@form
class SessionsListOptions:
    account: Annotated[str, Option("only of this account", metavar="ACCOUNT")] = ""


@form
class SessionsEndOptions:
    id: Annotated[int | None, Argument("ID", nargs=MAYBE)] = None
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


@command("sessions end", "sign somebody out", "people.sessions.end_all")
def sessions_end(call: CommandCall, form: SessionsEndOptions) -> Shown:
    if form.all == (form.id is not None):
        raise BadInput("Name one session by its ID, or give --all. List them with: python -m core sessions list")
    if form.id is None:
        count = call.app.people.sessions.end_all(call.actor, form.account)
    else:
        call.app.people.sessions.end(call.actor, form.id)
        count = 1
    return Shown({"ended": count}, [f"Ended: {count}"])
