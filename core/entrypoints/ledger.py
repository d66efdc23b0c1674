"""The ledger on the command line: calls of paid models and what they cost."""

from __future__ import annotations

from argparse import Namespace
from typing import Any

from core import strict
from core.entrypoints.session import acting, open_app
from core.entrypoints.terminal import Terminal, table
from core.llm.bill import dollars_of
from core.settings import Settings


def register(add: Any) -> None:
    ledger = add.group_of("ledger")
    listing = ledger("list", ledger_list, "calls, newest first")
    listing.add_argument("--limit", type=int, default=100, help="at most so many (default: 100)")
    summary = ledger("summary", ledger_summary, "a month by purpose and model, and what is left of the budget")
    for command in (listing, summary):
        command.add_argument("--month", default="", metavar="YYYY-MM", help="another month than this one")


def ledger_list(settings: Settings, options: Namespace, terminal: Terminal) -> int:
    app = open_app(settings)
    calls = app.models.ledger.recent(acting(app, options), options.month, options.limit)
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
    terminal.show([strict.plain(call) for call in calls], table(rows, heads) if rows else ["No calls in this month."])
    return 0


def ledger_summary(settings: Settings, options: Namespace, terminal: Terminal) -> int:
    app = open_app(settings)
    spending = app.models.ledger.summary(acting(app, options), options.month)
    rows = [
        (
            row["purpose"],
            row["model"],
            row["calls"],
            row["cached"],
            row["failed"],
            row["input_tokens"],
            row["output_tokens"],
            dollars_of(row["dollars"]),
        )
        for row in spending.rows
    ]
    heads = ("purpose", "model", "calls", "cached", "failed", "input", "output", "dollars")
    total = f"{spending.month}: {dollars_of(spending.spent)} of {dollars_of(spending.budget)} spent, {dollars_of(spending.left)} left."
    terminal.show(strict.plain(spending), [*(table(rows, heads) if rows else []), total])
    return 0
