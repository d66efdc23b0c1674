"""Answers on the command line: the questions that documents answer, and where a search finds them."""

from __future__ import annotations

from argparse import Namespace
from typing import Any

from core import strict
from core.entrypoints.session import acting, open_app
from core.entrypoints.terminal import Terminal, table
from core.services.answers.checks import AnswerState
from core.settings import Settings


def register(add: Any) -> None:
    answers = add.group_of("answers")
    listing = answers("list", answers_list, "every question with the place where its document was found")
    listing.add_argument("--document", default="", metavar="ID_OR_PATH", help="only of this one")
    listing.add_argument("--failing", action="store_true", help="only what is not found among the first")
    suggest = answers("suggest", answers_suggest, "questions that a document probably answers")
    suggest.add_argument("document", metavar="ID_OR_PATH")
    suggest.add_argument("--model", action="store_true", help="ask the language model instead of the headings")
    answers("check", answers_check, "ask every question now; exits 1 if one is not found among the first")


def as_json(state: AnswerState, first: int) -> dict[str, Any]:
    """A question with its place; null before it was asked."""
    place = state.place
    return {
        **{name: getattr(state, name) for name in ("doc", "path", "title", "owner", "question", "since")},
        "rank": place.rank if place else None,
        "note": place.note if place else "",
        "found": place.within(first) if place else None,
    }


def answers_list(settings: Settings, options: Namespace, terminal: Terminal) -> int:
    app = open_app(settings)
    first = app.answers.checks.first
    states = app.answers.checks.listed(options.document)
    shown = [state for state in states if state.fails(first)] if options.failing else states
    rows = [(state.doc, state.question, state.place.words if state.place else "not asked yet") for state in shown]
    terminal.show([as_json(state, first) for state in shown], table(rows, ("document", "question", "")))
    return 0


def answers_suggest(settings: Settings, options: Namespace, terminal: Terminal) -> int:
    app = open_app(settings)
    document = app.knowledge.documents.show(options.document)
    questions = app.answers.writing.suggest(acting(app, options), document, model=options.model)
    terminal.show(list(questions), list(questions) or ["Nothing to suggest."])
    return 0


def answers_check(settings: Settings, options: Namespace, terminal: Terminal) -> int:
    app = open_app(settings)
    point = app.answers.checks.check(acting(app, options), terminal.progress)
    failing = app.answers.checks.failing()
    lines = [f"{state.doc}  {state.question}  {state.place.words}" for state in failing if state.place]
    lines.append(f"{point.found} of {point.questions} found among the first {point.within}.")
    value = {**strict.plain(point), "failing": [as_json(state, point.within) for state in failing]}
    terminal.show(value, lines)
    return 1 if failing else 0
