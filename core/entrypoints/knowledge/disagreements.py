"""Disagreements on the command line: documents that say different things, and settling them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

from core import strict
from core.curation.document.frontmatter import decode
from core.entrypoints.record import Argument, CommandCall, Option, Shown, command, form
from core.errors import NotFound
from core.services.disagreements.finder import STATES, Disagreement, Statement


@form
class DisagreementsListOptions:
    change: Annotated[int, Option("only what this change adds or edits", metavar="N")] = 0
    state: Annotated[str, Option("only these", choices=STATES)] = ""


@form
class DisagreementsCheckOptions:
    file: Annotated[Path, Argument("FILE")]
    name: Annotated[str, Option("the document that the file will become", flags=("--path",), metavar="PATH")] = ""


@form
class DisagreementsSettleOptions:
    key: Annotated[str, Argument("KEY")]
    reason: Annotated[str, Option(None)]


@form
class DisagreementsReopenOptions:
    key: Annotated[str, Argument("KEY")]


@command("disagreements list", "over the whole knowledge base, or of one change", "knowledge.disagreements.everywhere")
def disagreements_list(call: CommandCall, form: DisagreementsListOptions) -> Shown:
    service, actor = call.app.knowledge.disagreements, call.actor
    every = service.of_change(actor, form.change) if form.change else service.everywhere(actor)
    return _show([found for found in every if form.state in ("", found.state)])


@command(
    "disagreements check",
    "a Markdown file against the knowledge base; 1 if it disagrees",
    "knowledge.disagreements.of_text",
)
def disagreements_check(call: CommandCall, form: DisagreementsCheckOptions) -> Shown:
    try:
        text = decode(form.file.read_bytes())
    except OSError:
        raise NotFound(f"There is no file {str(form.file)!r}.") from None
    found = call.app.knowledge.disagreements.of_text(call.actor, form.name or form.file.name, text)
    return _show(found)._replace(code=int(any(one.state == "open" for one in found)))


@command("disagreements settle", "both are right, and why", "knowledge.disagreements.settle")
def disagreements_settle(call: CommandCall, form: DisagreementsSettleOptions) -> Shown:
    found = call.app.knowledge.disagreements.settle(call.actor, form.key, form.reason)
    return Shown(strict.plain(found), [f"{found.key} is settled: {found.reason}"])


@command("disagreements reopen", "it was not settled after all", "knowledge.disagreements.reopen")
def disagreements_reopen(call: CommandCall, form: DisagreementsReopenOptions) -> Shown:
    found = call.app.knowledge.disagreements.reopen(call.actor, form.key)
    return Shown(strict.plain(found), [f"{found.key} is open again."])


def _show(found: Sequence[Disagreement]) -> Shown:
    lines = [line for one in found for line in _lines(one)]
    return Shown([strict.plain(one) for one in found], lines or ["Nothing disagrees."])


def _lines(found: Disagreement) -> list[str]:
    settled = f", settled by {found.settled_by}: {found.reason}" if found.state == "settled" else ""
    return [f"{found.key}  {found.kind}{settled}", _place(found.mine), _place(found.theirs), ""]


def _place(statement: Statement) -> str:
    return f"  {statement.path}:{statement.line} ({statement.owner or 'no owner'})  {statement.text}"
