"""The audit on the command line: who did what, when, and through which door."""

from __future__ import annotations

import sys
from typing import Annotated

from core import strict
from core.entrypoints.record import CommandCall, Option, Shown, command, form
from core.entrypoints.terminal import table
from core.services.people.audit import as_csv


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
