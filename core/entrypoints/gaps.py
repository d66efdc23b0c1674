"""Gaps on the command line: what people looked for and did not find."""

from __future__ import annotations

from typing import Annotated

from core import strict
from core.entrypoints.record import Argument, CommandCall, Option, Shown, command, form
from core.entrypoints.terminal import table


@form
class GapsReportOptions:
    query: Annotated[str, Argument("QUERY")]
    note: Annotated[str, Option("what was expected")] = ""


@form
class OneGap:
    gap: Annotated[int, Argument("N")]


@form
class GapsAssignOptions(OneGap):
    account: Annotated[str, Argument("USER")]


@command("gaps list", "questions without an answer", "knowledge.gaps.open")
def gaps_list(call: CommandCall) -> Shown:
    gaps = call.app.knowledge.gaps.open(call.actor)
    rows = [(gap.id, gap.query, gap.note, gap.who, gap.owner, gap.path, gap.created) for gap in gaps]
    heads = ("n", "question", "note", "who", "owner", "listed in", "when")
    return Shown([strict.plain(gap) for gap in gaps], table(rows, heads))


@command("gaps assign", "let somebody look after a question", "knowledge.gaps.assign")
def gaps_assign(call: CommandCall, form: GapsAssignOptions) -> Shown:
    gap = call.app.knowledge.gaps.assign(call.actor, form.gap, form.account)
    return Shown(strict.plain(gap), [f"{gap.owner} looks after gap {gap.id}."])


@command("gaps look", "make gaps of questions that people asked in vain, as every night", "knowledge.gaps.look")
def gaps_look(call: CommandCall) -> Shown:
    made = call.app.knowledge.gaps.look(call.actor)
    return Shown({"made": made}, [f"{made} new."])


@command("gaps report", "keep a question for the owners", "knowledge.gaps.report")
def gaps_report(call: CommandCall, form: GapsReportOptions) -> Shown:
    gap = call.app.knowledge.gaps.report(call.actor, form.query, form.note)
    return Shown(strict.plain(gap), [f"Kept as gap {gap.id}."])


@command("gaps close", "mark a question as answered", "knowledge.gaps.close")
def gaps_close(call: CommandCall, form: OneGap) -> Shown:
    call.app.knowledge.gaps.close(call.actor, form.gap)
    return Shown({"closed": form.gap}, [f"Gap {form.gap} is closed."])
