"""The library: folders and a table of documents that sorts and filters in the browser."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import date
from typing import Any

from core.curation.document.statuses import freshness
from core.types import Commit, Document
from pages.ui import style
from pages.ui.components import component
from pages.ui.components.listing import filter_by

NOBODY = "-"  # in place of an owner, also in addresses


def library(
    documents: Sequence[Document],
    touched: Mapping[str, Commit],
    today: date,
    around: Mapping[str, Any],
    on_watch: Callable[[], None],
    on_edit: Callable[[], None],
) -> None:
    """Draw the library, `narrowed` to a folder, owner or status. A click on `watch` comes back as the trigger of that
    name: the
    folder, if it is not `watched`. Where documents can be selected, `edit` comes back with `docs`, the ids of those
    that are.
    """
    rows = [_row(document, touched.get(document.path), today) for document in documents]
    data = {"rows": rows, "filters": _filters(documents), **around}
    component("library", "rows")(key="library", data=data, on_watch_change=on_watch, on_edit_change=on_edit)


def _filters(documents: Sequence[Document]) -> list[dict[str, Any]]:
    types = {_type(document): style.type_name(document.meta.doc_type) for document in documents}
    return [
        filter_by("type", "Any type", types),
        filter_by("owner", "Any owner", {NOBODY: "No owner"}),
        filter_by("fresh", "Any freshness", style.FRESHNESS),
        filter_by("status", "Any status", style.STATUSES),
    ]


def _type(document: Document) -> str:
    return document.meta.doc_type or "document"


def _row(document: Document, last: Commit | None, today: date) -> dict[str, Any]:
    meta, folder = document.meta, "/".join(document.path.split("/")[:-1])
    state = freshness(meta.effective_date, meta.review_due, today)
    own_id = document.id if document.id != document.path.removesuffix(".md") else ""
    return {
        "doc": document.id,
        "title": document.title,
        "sub": " · ".join(part for part in (own_id, folder.replace("/", " / ")) if part),
        "folder": folder,
        "type": _type(document),
        "typeName": style.type_name(meta.doc_type),
        "status": document.status,
        "owner": meta.owner or NOBODY,
        "fresh": state.state,
        "badges": [
            *(style.standing("imported") if document.imported else []),
            *style.badges(meta.status, state, str(meta.effective_date or "")),
        ],
        "version": document.version,
        "updated": last.when if last else "",
        "updatedText": style.day(last.when[:10]) if last else "",
        "review": str(meta.review_due or ""),
        "reviewText": style.day(meta.review_due) if meta.review_due else "–",
        "search": " ".join((document.title, document.id, document.path, meta.owner, *meta.tags)).lower(),
    }
