"""Freshness on the command line: what is due for review, and confirming that a document is still right."""

from __future__ import annotations

from argparse import Namespace
from datetime import date
from typing import TYPE_CHECKING, Any

from core.access import Actor
from core.entrypoints.session import acting, open_app
from core.entrypoints.terminal import Terminal
from core.errors import BadInput
from core.services.knowledge.freshness import Attention
from core.settings import Settings

if TYPE_CHECKING:
    from core.bootstrap import App


def register(add: Any) -> None:
    add("freshness", freshness)
    again = add("confirm", confirm)
    again.add_argument("document", metavar="ID_OR_PATH")
    again.add_argument("--until", default="", metavar="DATE", help="the next review (default: in a year)")


def freshness(settings: Settings, options: Namespace, terminal: Terminal) -> int:
    attention = open_app(settings).knowledge.freshness.attention()
    terminal.show(as_json(attention), lines(attention) or ["Every document is fresh and has an owner."])
    return 0


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


def confirm(settings: Settings, options: Namespace, terminal: Terminal) -> int:
    app = open_app(settings)
    value = confirmed(app, acting(app, options), options.document, options.until)
    title = app.knowledge.documents.show(options.document).title
    terminal.show(value, [f"{title}: next review {value['review_due']}."])
    return 0


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
