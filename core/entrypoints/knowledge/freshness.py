"""Freshness on the command line: what is due for review, and confirming that a document is still right."""

from __future__ import annotations

from typing import Annotated

from core.entrypoints.contracts.document_json import confirmed
from core.entrypoints.contracts.document_json import freshness_json as as_json
from core.entrypoints.record import Argument, Bounds, Option, Shown, UseCaseCall, command, form, operation
from core.services.knowledge.freshness import Attention


@form
class ConfirmationForm:
    """A document whose words are still right; the next review is in a year if not given."""

    document: Annotated[str, Argument("ID_OR_PATH")]
    until: Annotated[
        str,
        Option("the next review (default: in a year)", metavar="DATE"),
        Bounds(longest=10, pattern=r"^(\d{4}-\d{2}-\d{2})?$"),
    ] = ""


@operation("freshness", "GET /freshness", "FreshnessAnswer", state="day")
@command("freshness", calls="knowledge.freshness.attention", needs="read documents")
def freshness(call: UseCaseCall) -> Shown:
    """Documents that are due for review, have no owner, or came in and were approved by nobody."""
    attention = call.app.knowledge.freshness.attention()
    return Shown(as_json(attention), lines(attention) or ["Every document is fresh, approved and has an owner."])


def lines(attention: Attention, *, soon: bool = True) -> list[str]:
    return [
        *(f"overdue by {-f.days} days  {d.id}  {d.title}" for d, f in attention.overdue),
        *(f"due in {f.days} days  {d.id}  {d.title}" for d, f in attention.due_soon if soon),
        *(f"no owner  {d.id}  {d.title}" for d in attention.without_owner),
        *(f"imported  {d.id}  {d.title}" for d in attention.imported),
    ]


@operation("confirm_document", "POST /confirmations", "ConfirmationAnswer", status=201)
@command("confirm", calls="knowledge.freshness.confirm")
def confirm(call: UseCaseCall, form: ConfirmationForm) -> Shown:
    """Say that a document is still right."""
    value = confirmed(call.app, call.actor, form.document, form.until)
    title = call.app.knowledge.documents.show(form.document).title
    return Shown(value, [f"{title}: next review {value['review_due']}."])
