"""Gaps on the command line: what people looked for and did not find."""

from __future__ import annotations

from argparse import Namespace
from typing import Any

from core import strict
from core.entrypoints.session import acting, open_app
from core.entrypoints.terminal import Terminal, table
from core.settings import Settings


def register(add: Any) -> None:
    gaps = add.group_of("gaps")
    gaps("list", gaps_list, "questions without an answer")
    report = gaps("report", gaps_report, "keep a question for the owners")
    report.add_argument("query", metavar="QUERY")
    report.add_argument("--note", default="", help="what was expected")
    assign = gaps("assign", gaps_assign, "let somebody look after a question")
    assign.add_argument("gap", type=int, metavar="N")
    assign.add_argument("account", metavar="USER")
    gaps("look", gaps_look, "make gaps of questions that people asked in vain, as every night")
    close = gaps("close", gaps_close, "mark a question as answered")
    close.add_argument("gap", type=int, metavar="N")


def gaps_list(settings: Settings, options: Namespace, terminal: Terminal) -> int:
    app = open_app(settings)
    gaps = app.knowledge.gaps.open(acting(app, options))
    rows = [(gap.id, gap.query, gap.note, gap.who, gap.owner, gap.path, gap.created) for gap in gaps]
    heads = ("n", "question", "note", "who", "owner", "listed in", "when")
    terminal.show([strict.plain(gap) for gap in gaps], table(rows, heads))
    return 0


def gaps_assign(settings: Settings, options: Namespace, terminal: Terminal) -> int:
    app = open_app(settings)
    gap = app.knowledge.gaps.assign(acting(app, options), options.gap, options.account)
    terminal.show(strict.plain(gap), [f"{gap.owner} looks after gap {gap.id}."])
    return 0


def gaps_look(settings: Settings, options: Namespace, terminal: Terminal) -> int:
    app = open_app(settings)
    made = app.knowledge.gaps.look(acting(app, options))
    terminal.show({"made": made}, [f"{made} new."])
    return 0


def gaps_report(settings: Settings, options: Namespace, terminal: Terminal) -> int:
    app = open_app(settings)
    gap = app.knowledge.gaps.report(acting(app, options), options.query, options.note)
    terminal.show(strict.plain(gap), [f"Kept as gap {gap.id}."])
    return 0


def gaps_close(settings: Settings, options: Namespace, terminal: Terminal) -> int:
    app = open_app(settings)
    app.knowledge.gaps.close(acting(app, options), options.gap)
    terminal.show({"closed": options.gap}, [f"Gap {options.gap} is closed."])
    return 0
