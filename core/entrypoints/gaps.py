"""Gaps on the command line: what people looked for and did not find."""

from __future__ import annotations

from typing import Annotated

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
from core.entrypoints.terminal import table
from core.services.knowledge.gaps import MAX_NOTE


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
