"""Freshness on the command line: what is due for review, and confirming that a document is still right."""

from __future__ import annotations

from datetime import date
from typing import TYPE_CHECKING, Annotated, Any

from core.access import Actor
from core.entrypoints.record import Argument, CommandCall, Option, Shown, command, form
from core.errors import BadInput
from core.services.knowledge.freshness import Attention

if TYPE_CHECKING:
    from core.bootstrap import App


@form
class ConfirmOptions:
    document: Annotated[str, Argument("ID_OR_PATH")]
    until: Annotated[str, Option("the next review (default: in a year)", metavar="DATE")] = ""


@command("freshness", calls="knowledge.freshness.attention")
def freshness(call: CommandCall) -> Shown:
    attention = call.app.knowledge.freshness.attention()
    return Shown(as_json(attention), lines(attention) or ["Every document is fresh and has an owner."])


def as_json(attention: Attention) -> dict[str, Any]:
    """The three lists of the page, as `overview` and `freshness` print them."""
    return {
        "overdue": [
            {"doc": d.id, "title": d.title, "owner": d.meta.owner, "days": -f.days} for d, f in attention.overdue
        ],
        "due_soon": [
            {"doc": d.id, "title": d.title, "owner": d.meta.owner, "days": f.days} for d, f in attention.due_soon
        ],
        "without_owner": [{"doc": d.id, "title": d.title} for d in attention.without_owner],
    }


def lines(attention: Attention, *, soon: bool = True) -> list[str]:
    return [
        *(f"overdue by {-f.days} days  {d.id}  {d.title}" for d, f in attention.overdue),
        *(f"due in {f.days} days  {d.id}  {d.title}" for d, f in attention.due_soon if soon),
        *(f"no owner  {d.id}  {d.title}" for d in attention.without_owner),
    ]


@command("confirm", calls="knowledge.freshness.confirm")
def confirm(call: CommandCall, form: ConfirmOptions) -> Shown:
    app = call.app
    value = confirmed(app, call.actor, form.document, form.until)
    title = app.knowledge.documents.show(form.document).title
    return Shown(value, [f"{title}: next review {value['review_due']}."])


def confirmed(app: App, actor: Actor, name: str, until: str) -> dict[str, Any]:
    """Confirm a document; the contract of `confirm --json`."""
    document = app.knowledge.documents.show(name)
    day = _date(until) if until else app.knowledge.freshness.next_review()
    commit = app.knowledge.freshness.confirm(actor, document.path, day)
    return {"document": document.id, "review_due": day.isoformat(), "commit": commit}


def _date(text: str) -> date:
    try:
        return date.fromisoformat(text)
    except ValueError:
        raise BadInput(f"The next review is {text!r}; write the date as YYYY-MM-DD.") from None
