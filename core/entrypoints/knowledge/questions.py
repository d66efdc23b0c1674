"""Questions on the command line: what people asked, what nobody could answer, and what documents say they answer."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated, Any

from core import strict
from core.entrypoints.record import (
    MAYBE,
    Argument,
    Bounds,
    CommandCall,
    Option,
    Rows,
    Shown,
    UseCaseCall,
    command,
    form,
    operation,
)
from core.entrypoints.terminal import table
from core.services.answers.answer_checks import AnswerState
from core.services.knowledge.gaps import MAX_NOTE


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


@form
class GapForm:
    """A question that found no answer."""

    query: Annotated[str, Argument("QUERY"), Bounds(shortest=1)]
    note: Annotated[str, Option("what was expected"), Bounds(longest=MAX_NOTE)] = ""


@form
class OneGap:
    gap: Annotated[int, Argument("N")]


@form
class AssignmentForm(OneGap):
    """Who looks after it."""

    account: Annotated[str, Argument("USER")]


@operation("list_gaps", "GET /gaps", "[Gap]", paged=True)
@command("gaps list", "questions without an answer", "knowledge.gaps.open")
def gaps_list(call: UseCaseCall) -> Shown:
    """Questions without an answer."""
    gaps = call.app.knowledge.gaps.open(call.actor)
    rows = [(gap.id, gap.query, gap.note, gap.who, gap.owner, gap.path, gap.created) for gap in gaps]
    heads = ("n", "question", "note", "who", "owner", "listed in", "when")
    return Shown(Rows(gaps), table(rows, heads))


@operation("assign_gap", "POST /gaps/{gap}/assign", "Gap")
@command("gaps assign", "let somebody look after a question", "knowledge.gaps.assign")
def gaps_assign(call: UseCaseCall, form: AssignmentForm) -> Shown:
    """Let somebody look after a question."""
    gap = call.app.knowledge.gaps.assign(call.actor, form.gap, form.account)
    return Shown(strict.plain(gap), [f"{gap.owner} looks after gap {gap.id}."])


@command("gaps look", "make gaps of questions that people asked in vain, as every night", "knowledge.gaps.look")
def gaps_look(call: CommandCall) -> Shown:
    made = call.app.knowledge.gaps.look(call.actor)
    return Shown({"made": made}, [f"{made} new."])


@operation("report_gap", "POST /gaps", "Gap", status=201)
@command("gaps report", "keep a question for the owners", "knowledge.gaps.report")
def gaps_report(call: UseCaseCall, form: GapForm) -> Shown:
    """Keep a question for the owners."""
    gap = call.app.knowledge.gaps.report(call.actor, form.query, form.note)
    return Shown(strict.plain(gap), [f"Kept as gap {gap.id}."])


@operation("close_gap", "POST /gaps/{gap}/close", "ClosedGap")
@command("gaps close", "mark a question as answered", "knowledge.gaps.close")
def gaps_close(call: UseCaseCall, form: OneGap) -> Shown:
    """Mark a question as answered."""
    call.app.knowledge.gaps.close(call.actor, form.gap)
    return Shown({"closed": form.gap}, [f"Gap {form.gap} is closed."])


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
