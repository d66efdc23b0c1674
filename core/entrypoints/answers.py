"""Answers on the command line: the questions that documents answer, and where a search finds them."""

from __future__ import annotations

from typing import Annotated, Any

from core import strict
from core.entrypoints.record import Argument, CommandCall, Option, Shown, command, form
from core.entrypoints.terminal import table
from core.services.answers.answer_checks import AnswerState


@form
class AnswersListOptions:
    document: Annotated[str, Option("only of this one", metavar="ID_OR_PATH")] = ""
    failing: Annotated[bool, Option("only what is not found among the first")] = False


@form
class AnswersSuggestOptions:
    document: Annotated[str, Argument("ID_OR_PATH")]
    model: Annotated[bool, Option("ask the language model instead of the headings")] = False


def as_json(state: AnswerState, first: int) -> dict[str, Any]:
    """A question with its place; null before it was asked."""
    place = state.place
    return {
        **{name: getattr(state, name) for name in ("doc", "path", "title", "owner", "question", "since")},
        "rank": place.rank if place else None,
        "note": place.note if place else "",
        "found": place.within(first) if place else None,
    }


@command("answers list", "every question with the place where its document was found", "answers.checks.listed")
def answers_list(call: CommandCall, form: AnswersListOptions) -> Shown:
    app = call.app
    first = app.answers.checks.first
    states = app.answers.checks.listed(app.knowledge.documents.show(form.document).path if form.document else "")
    shown = [state for state in states if state.fails(first)] if form.failing else states
    rows = [(state.doc, state.question, state.place.words if state.place else "not asked yet") for state in shown]
    return Shown([as_json(state, first) for state in shown], table(rows, ("document", "question", "")))


@command("answers suggest", "questions that a document probably answers", "answers.writing.suggest")
def answers_suggest(call: CommandCall, form: AnswersSuggestOptions) -> Shown:
    document = call.app.knowledge.documents.show(form.document)
    questions = call.app.answers.writing.suggest(call.actor, document, model=form.model)
    return Shown(list(questions), list(questions) or ["Nothing to suggest."])


@command("answers check", "ask every question now; exits 1 if one is not found among the first", "answers.checks.check")
def answers_check(call: CommandCall) -> Shown:
    point = call.app.answers.checks.check(call.actor, call.progress)
    failing = call.app.answers.checks.failing()
    lines = [f"{state.doc}  {state.question}  {state.place.words}" for state in failing if state.place]
    lines.append(f"{point.found} of {point.questions} found among the first {point.within}.")
    value = {**strict.plain(point), "failing": [as_json(state, point.within) for state in failing]}
    return Shown(value, lines, 1 if failing else 0)
