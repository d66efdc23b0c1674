"""Freshness: what is due for review, and confirming that a document is still right."""

from __future__ import annotations

from typing import Annotated

from core.entrypoints.contracts.document_json import confirmed, freshness_json
from core.entrypoints.record import Argument, Bounds, Option, Shown, UseCaseCall, form, operation


@form
class ConfirmationForm:
    """A document whose words are still right; the next review is in a year if not given."""

    document: Annotated[str, Argument("ID_OR_PATH", "a document by its id or path")]
    until: Annotated[
        str,
        Option("the next review (default: in a year)", metavar="DATE"),
        Bounds(longest=10, pattern=r"^(\d{4}-\d{2}-\d{2})?$"),
    ] = ""


@operation(
    "freshness",
    "GET /freshness",
    "FreshnessAnswer",
    state="day",
    calls="knowledge.freshness.attention",
    needs="read documents",
    example="GET /freshness",
)
def freshness(call: UseCaseCall) -> Shown:
    """Documents that are due for review, have no owner, or came in and were approved by nobody."""
    return Shown(freshness_json(call.app.knowledge.freshness.attention()))


@operation(
    "confirm_document",
    "POST /confirmations",
    "ConfirmationAnswer",
    status=201,
    calls="knowledge.freshness.confirm",
    example='POST /confirmations {"document": "BSA-SOP-002", "until": "2040-01-01"}',
)
def confirm(call: UseCaseCall, form: ConfirmationForm) -> Shown:
    """Say that a document is still right."""
    return Shown(confirmed(call.app, call.actor, form.document, form.until))
