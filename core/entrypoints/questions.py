"""Asked questions on the command line: what people looked for, and what is kept of it."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated

from core import strict
from core.entrypoints.record import MAYBE, Argument, CommandCall, Option, Shown, command, form
from core.entrypoints.terminal import table


@form
class QuestionsListOptions:
    limit: Annotated[int, Option(None, metavar="N")] = 100


@form
class QuestionsForgetOptions:
    question: Annotated[str, Argument("QUESTION", "default: all", nargs=MAYBE)] = ""


@form
class QuestionsSettingsOptions:
    keep: Annotated[str, Option("off removes what was kept", choices=("on", "off"))] = ""
    days: Annotated[int, Option("older ones are removed", metavar="N")] = 0
    first: Annotated[int, Option("documents among which an answer must stand", metavar="N")] = 0
    doubted: Annotated[int, Option("askings without anything good: a gap", metavar="N")] = 0
    often: Annotated[int, Option("askings without anything opened: a gap", metavar="N")] = 0


@form
class QuestionsMineOptions:
    keep: Annotated[str | None, Argument(nargs=MAYBE, choices=("on", "off"))] = None


@command("questions list", "the questions asked most", "search.queries.listed")
def questions_list(call: CommandCall, form: QuestionsListOptions) -> Shown:
    asked = call.app.search.queries.listed(call.actor, max(1, form.limit))
    rows = [(one.question, one.times, one.found, one.opened, one.last) for one in asked]
    return Shown([strict.plain(one) for one in asked], table(rows, ("question", "times", "found", "opened", "last")))


@command("questions forget", "remove a question from what is kept, or all of them", "search.queries.forget")
def questions_forget(call: CommandCall, form: QuestionsForgetOptions) -> Shown:
    gone = call.app.search.queries.forget(call.actor, form.question)
    return Shown({"forgotten": gone}, [f"{gone} removed."])


@command("questions settings", "what becomes of questions", "search.queries.decide")
def questions_settings(call: CommandCall, form: QuestionsSettingsOptions) -> Shown:
    now = call.app.platform.settings.questions()
    numbers = {name: value for name in ("days", "first", "doubted", "often") if (value := getattr(form, name))}
    wanted = replace(now, keep=form.keep != "off" if form.keep else now.keep, **numbers)
    if form.keep or numbers:
        call.app.search.queries.decide(call.actor, wanted)
    said = f"Questions are kept for {wanted.days} days, without names." if wanted.keep else "Questions are not kept."
    return Shown(strict.plain(wanted), [said, f"An answer must stand among the first {wanted.first} documents."])


@command("questions mine", "whether your own questions are kept", "search.queries.consents")
def questions_mine(call: CommandCall, form: QuestionsMineOptions) -> Shown:
    if form.keep:
        call.app.search.queries.consent(call.actor, form.keep == "on")
    kept = call.app.search.queries.consents(call.actor)
    return Shown({"kept": kept}, ["Yours are kept, without your name." if kept else "Yours are not kept."])
