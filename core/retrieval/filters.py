"""Which documents a search may return."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import date
from difflib import get_close_matches

from core.curation.document.statuses import STATUSES, freshness, parse_date
from core.types import Document, DocumentFacts, Filters


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


def unknown(filters: Filters, documents: Iterable[Document]) -> str:
    """What of the filters no document has, as a sentence; "" where each value is one that some document has.

    >>> unknown(Filters(statuses=("aproved",)), [])
    "No document has the status 'aproved'. Known: approved."
    """
    metas = [(document, document.meta) for document in documents]
    known: dict[str, tuple[tuple[str, ...], set[str]]] = {
        "type": (filters.types, {meta.doc_type for _, meta in metas}),
        "status": (filters.statuses, set(STATUSES)),
        "tag": (filters.tags, {tag for _, meta in metas for tag in meta.tags}),
        "owner": (filters.owners, {meta.owner for _, meta in metas}),
        "id": (filters.docs, {document.id for document, _ in metas}),
    }
    for kind, (asked, values) in known.items():
        folded = {value.casefold() for value in values}
        for value in asked:
            if value.casefold() not in folded:
                shown = sorted(get_close_matches(value, sorted(values)) or sorted(values - {""})[:12])
                return f"No document has the {kind} {value!r}. Known: {', '.join(shown)}."
    return ""
