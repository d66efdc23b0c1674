"""Freshness on the command line: what is due for review, and confirming that a document is still right."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from core.entrypoints.contracts.documents import confirmed
from core.entrypoints.contracts.documents import freshness_json as as_json
from core.entrypoints.record import Argument, CommandCall, Option, Shown, command, form
from core.services.knowledge.freshness import Attention

if TYPE_CHECKING:
    pass


@form
class ConfirmOptions:
    document: Annotated[str, Argument("ID_OR_PATH")]
    until: Annotated[str, Option("the next review (default: in a year)", metavar="DATE")] = ""


@command("freshness", calls="knowledge.freshness.attention")
def freshness(call: CommandCall) -> Shown:
    attention = call.app.knowledge.freshness.attention()
    return Shown(as_json(attention), lines(attention) or ["Every document is fresh and has an owner."])


def lines(attention: Attention, *, soon: bool = True) -> list[str]:
    return [
        *(f"overdue by {-f.days} days  {d.id}  {d.title}" for d, f in attention.overdue),
        *(f"due in {f.days} days  {d.id}  {d.title}" for d, f in attention.due_soon if soon),
        *(f"no owner  {d.id}  {d.title}" for d in attention.without_owner),
    ]


@command("confirm", calls="knowledge.freshness.confirm")
def confirm(call: CommandCall, form: ConfirmOptions) -> Shown:
    value = confirmed(call.app, call.actor, form.document, form.until)
    title = call.app.knowledge.documents.show(form.document).title
    return Shown(value, [f"{title}: next review {value['review_due']}."])
