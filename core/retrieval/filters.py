"""Which documents a search may return."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date

from core.curation.document.freshness import freshness, parse_date
from core.types import DocumentFacts, Filters


def admits(filters: Filters, facts: DocumentFacts, today: date) -> bool:
    """Whether a search may return a document: drafts never; retired, superseded and upcoming ones only on request."""
    upcoming = bool(facts.effective_date) and facts.effective_date > today.isoformat()
    if facts.status == "draft" or (
        not filters.history and (upcoming or (facts.status != "approved" and facts.status not in filters.statuses))
    ):
        return False
    return (
        _any(filters.statuses, facts.status)
        and _any([kind.lower() for kind in filters.types], facts.doc_type)
        and _any(filters.owners, facts.owner)
        and _any(filters.docs, facts.doc)
        and (not filters.freshness or state(facts, today) in filters.freshness)
        and (not filters.tags or bool(set(filters.tags) & set(facts.tags)))
        and (not filters.folders or any(facts.path.startswith(f"{folder.strip('/')}/") for folder in filters.folders))
    )


def state(facts: DocumentFacts, today: date) -> str:
    """The freshness of a document on a day."""
    return freshness(parse_date(facts.effective_date), parse_date(facts.review_due), today).state


def _any(choices: Sequence[str], value: str) -> bool:
    return not choices or value in choices
