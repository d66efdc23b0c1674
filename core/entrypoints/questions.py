"""Asked questions on the command line: what people looked for, and what is kept of it."""

from __future__ import annotations

from argparse import Namespace
from dataclasses import replace
from typing import Any

from core import strict
from core.entrypoints.session import acting, open_app
from core.entrypoints.terminal import Terminal, table
from core.settings import Settings


def register(add: Any) -> None:
    questions = add.group_of("questions")
    listing = questions("list", questions_list, "the questions asked most")
    listing.add_argument("--limit", type=int, default=100, metavar="N")
    forget = questions("forget", questions_forget, "remove a question from what is kept, or all of them")
    forget.add_argument("question", nargs="?", default="", metavar="QUESTION", help="default: all")
    decide = questions("settings", questions_settings, "what becomes of questions")
    decide.add_argument("--keep", choices=("on", "off"), default="", help="off removes what was kept")
    decide.add_argument("--days", type=int, default=0, metavar="N", help="older ones are removed")
    decide.add_argument("--first", type=int, default=0, metavar="N", help="documents among which an answer must stand")
    decide.add_argument("--doubted", type=int, default=0, metavar="N", help="askings without anything good: a gap")
    decide.add_argument("--often", type=int, default=0, metavar="N", help="askings without anything opened: a gap")
    mine = questions("mine", questions_mine, "whether your own questions are kept")
    mine.add_argument("keep", choices=("on", "off"), nargs="?", default=None)


def questions_list(settings: Settings, options: Namespace, terminal: Terminal) -> int:
    app = open_app(settings)
    asked = app.search.queries.listed(acting(app, options), max(1, options.limit))
    rows = [(one.question, one.times, one.found, one.opened, one.last) for one in asked]
    terminal.show([strict.plain(one) for one in asked], table(rows, ("question", "times", "found", "opened", "last")))
    return 0


def questions_forget(settings: Settings, options: Namespace, terminal: Terminal) -> int:
    app = open_app(settings)
    gone = app.search.queries.forget(acting(app, options), options.question)
    terminal.show({"forgotten": gone}, [f"{gone} removed."])
    return 0


def questions_settings(settings: Settings, options: Namespace, terminal: Terminal) -> int:
    app = open_app(settings)
    now = app.platform.settings.questions()
    numbers = {name: value for name in ("days", "first", "doubted", "often") if (value := getattr(options, name))}
    wanted = replace(now, keep=options.keep != "off" if options.keep else now.keep, **numbers)
    if options.keep or numbers:
        app.search.queries.decide(acting(app, options), wanted)
    said = f"Questions are kept for {wanted.days} days, without names." if wanted.keep else "Questions are not kept."
    terminal.show(strict.plain(wanted), [said, f"An answer must stand among the first {wanted.first} documents."])
    return 0


def questions_mine(settings: Settings, options: Namespace, terminal: Terminal) -> int:
    app = open_app(settings)
    actor = acting(app, options)
    if options.keep:
        app.search.queries.consent(actor, options.keep == "on")
    kept = app.search.queries.consents(actor)
    terminal.show({"kept": kept}, ["Yours are kept, without your name." if kept else "Yours are not kept."])
    return 0
