"""Questions: the gaps that nobody could answer, and the answers that documents list."""

from __future__ import annotations

from typing import Annotated, Any

from core import strict
from core.entrypoints.record import (
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
from core.services.answers.answer_checks import AnswerState
from core.services.knowledge.gaps import MAX_NOTE


@form
class GapForm:
    """A question that found no answer."""

    query: Annotated[str, Argument("QUERY", "a question or a few words"), Bounds(shortest=1)]
    note: Annotated[str, Option("what was expected"), Bounds(longest=MAX_NOTE)] = ""


@form
class OneGap:
    gap: Annotated[int, Argument("N", "the number of a gap")]


@form
class AssignmentForm(OneGap):
    """Who looks after it."""

    account: Annotated[str, Argument("USER", "the id of an account")]


@operation("list_gaps", "GET /gaps", "[Gap]", paged=True, calls="knowledge.gaps.open", example="GET /gaps")
def gaps_list(call: UseCaseCall) -> Shown:
    """Questions without an answer."""
    return Shown(Rows(call.app.knowledge.gaps.open(call.actor)))


@operation(
    "assign_gap",
    "POST /gaps/{gap}/assign",
    "Gap",
    calls="knowledge.gaps.assign",
    example='POST /gaps/1/assign {"account": "author2"}',
)
def gaps_assign(call: UseCaseCall, form: AssignmentForm) -> Shown:
    """Let somebody look after a question."""
    return Shown(strict.plain(call.app.knowledge.gaps.assign(call.actor, form.gap, form.account)))


@operation(
    "report_gap",
    "POST /gaps",
    "Gap",
    status=201,
    calls="knowledge.gaps.report",
    example='POST /gaps {"query": "Who feeds the giraffe?"}',
)
def gaps_report(call: UseCaseCall, form: GapForm) -> Shown:
    """Keep a question for the owners."""
    return Shown(strict.plain(call.app.knowledge.gaps.report(call.actor, form.query, form.note)))


@operation(
    "close_gap", "POST /gaps/{gap}/close", "ClosedGap", calls="knowledge.gaps.close", example="POST /gaps/1/close"
)
def gaps_close(call: UseCaseCall, form: OneGap) -> Shown:
    """Mark a question as answered."""
    call.app.knowledge.gaps.close(call.actor, form.gap)
    return Shown({"closed": form.gap})


def as_json(state: AnswerState, first: int) -> dict[str, Any]:
    """A question with its place; null before it was asked."""
    place = state.place
    return {
        **{name: getattr(state, name) for name in ("doc", "path", "title", "owner", "question", "since")},
        "rank": place.rank if place else None,
        "note": place.note if place else "",
        "found": place.within(first) if place else None,
    }


@command("answers check", "ask every question now; exits 1 if one is not found among the first", "answers.checks.check")
def answers_check(call: CommandCall) -> Shown:
    point = call.app.answers.checks.check(call.actor, call.progress)
    failing = call.app.answers.checks.failing()
    lines = [f"{state.doc}  {state.question}  {state.place.words}" for state in failing if state.place]
    lines.append(f"{point.found} of {point.questions} found among the first {point.within}.")
    value = {**strict.plain(point), "failing": [as_json(state, point.within) for state in failing]}
    return Shown(value, lines, 1 if failing else 0)
