"""The ledger on the command line: calls of paid models and what they cost."""

from __future__ import annotations

from typing import Annotated

from core import strict
from core.entrypoints.record import CommandCall, Option, Shown, command, form
from core.entrypoints.terminal import table
from core.llm.bill import dollars_of

MonthInput = Annotated[str, Option("another month than this one", metavar="YYYY-MM")]


@form
class LedgerListOptions:
    limit: Annotated[int, Option("at most so many (default: 100)")] = 100
    month: MonthInput = ""


@form
class LedgerSummaryOptions:
    month: MonthInput = ""


@command("ledger list", "calls, newest first", "models.ledger.recent")
def ledger_list(call: CommandCall, form: LedgerListOptions) -> Shown:
    calls = call.app.models.ledger.recent(call.actor, form.month, form.limit)
    rows = [
        (
            call.at,
            call.purpose,
            call.model,
            call.input_tokens,
            call.output_tokens,
            f"{call.seconds:.2f}",
            dollars_of(call.dollars),
            call.failed or ("cached" if call.cached else ""),
        )
        for call in calls
    ]
    heads = ("when", "purpose", "model", "input", "output", "seconds", "dollars", "")
    return Shown([strict.plain(call) for call in calls], table(rows, heads) if rows else ["No calls in this month."])


@command("ledger summary", "a month by purpose and model, and what is left of the budget", "models.ledger.summary")
def ledger_summary(call: CommandCall, form: LedgerSummaryOptions) -> Shown:
    spending = call.app.models.ledger.summary(call.actor, form.month)
    rows = [
        (
            row.purpose,
            row.model,
            row.calls,
            row.cached,
            row.failed,
            row.input_tokens,
            row.output_tokens,
            dollars_of(row.dollars),
        )
        for row in spending.rows
    ]
    heads = ("purpose", "model", "calls", "cached", "failed", "input", "output", "dollars")
    total = f"{spending.month}: {dollars_of(spending.spent)} of {dollars_of(spending.budget)} spent, {dollars_of(spending.left)} left."
    return Shown(strict.plain(spending), [*(table(rows, heads) if rows else []), total])
