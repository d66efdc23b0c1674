"""The Documents tab: each document's diff by line and as rendered, with the discussion beside it."""

from __future__ import annotations

from typing import Any

import streamlit as st

from core import strict
from core.access import Actor
from core.curation.diffs import Diff, body_diff, diff, field_changes
from core.curation.findings import Finding
from core.curation.rendered import rendered_diff
from core.services.reviews.changes import Change
from core.services.reviews.diff import DocumentDiff, compare, size
from core.services.reviews.discussion import Comment
from core.types import Document, Meta
from pages.ui import people, pictures, style
from pages.ui.components import component
from pages.ui.reviews import comments, labels
from pages.ui.workspace import app

AT_ONCE = 15  # documents drawn together
MAX_ROWS = 4000  # a longer diff leaves unchanged lines out
FIELDS = {"id": "Id", "title": "Title", "doc_type": "Type", "extra": "Other"}


def draw(change: Change, me: Actor) -> None:
    if not change.documents:
        st.info("This change has no documents left: they are the same as in the knowledge base.")
        return
    first = _page(len(change.documents))
    page = [_diff(change.start, change.head, n) for n in range(first, len(change.documents))[:AT_ONCE]]
    findings = tuple(finding for finding in change.findings if finding.severity != "note")
    remarks, key = app().reviews.discussion.comments(me, change.id), f"review_{change.id}_{first}"
    component("review", "nodes", "checks", "difftext", "talk")(
        key=key,
        data={
            "documents": [_document(diff, remarks, findings) for diff in page],
            "summary": f"{style.count(len(change.documents), 'document')} in this change",
            "may": comments.may(change, me),
            "head": change.head,
            "heard": comments.last_message(),
            "people": people.completions(),
        },
        on_act_change=lambda: None if comments.wants_edit(key) else comments.received(key, change.id),
    )
    if path := comments.wants_edit(key):
        comments.go_edit(change.id, path)


def _page(count: int) -> int:
    """The number of the first document shown."""
    if count <= AT_ONCE:
        return 0
    starts = list(range(0, count, AT_ONCE))
    chosen = st.selectbox(
        "Show documents",
        starts,
        format_func=lambda n: f"{n + 1} to {min(count, n + AT_ONCE)} of {count}",
        key="documents_from",
        width=260,
    )
    return int(chosen or 0)


@st.cache_data(max_entries=200, show_spinner=False)
def _diff(start: str, head: str, number: int) -> DocumentDiff:
    store = app().knowledge.store
    return compare(store, start, head, store.changed(start, head)[number])


def _document(document: DocumentDiff, remarks: tuple[Comment, ...], findings: tuple[Finding, ...]) -> dict[str, Any]:
    word, tone, sign = labels.KINDS[document.edit.kind]
    added, removed = size(document)
    return {
        "path": document.edit.path,
        "was": document.edit.old_path,
        "name": document.edit.path.split("/")[-1],
        "title": document.title,
        "kind": document.edit.kind,
        "word": word,
        "tone": tone,
        "sign": sign,
        "added": added,
        "removed": removed,
        "problem": document.problem,
        "checks": []
        if document.problem
        else [_check(finding) for finding in findings if finding.path == document.edit.path],
        "fields": fields(document),
        "rows": strict.plain(lines(document).rows),
        "rendered": blocks(document),
        "threads": comments.conversations(remarks, document.edit.path),
    }


def _check(finding: Finding) -> dict[str, object]:
    return {"line": finding.line, "severity": finding.severity, "message": finding.message}


def lines(document: DocumentDiff) -> Diff:
    """The diff by line: of the body alone, or of the whole file where its frontmatter cannot be read."""
    sides = [side for side, text in ((document.old, document.before), (document.new, document.after)) if text]
    if any(side is None for side in sides):
        return _whole(document.before, document.after)
    old, new = (side or Document("", "", "", "") for side in (document.old, document.new))
    full = body_diff(old, new, -1)
    return full if len(full.rows) <= MAX_ROWS else body_diff(old, new)


def _whole(before: str, after: str) -> Diff:
    full = diff(before, after, -1)
    return full if len(full.rows) <= MAX_ROWS else diff(before, after)


def fields(document: DocumentDiff) -> list[dict[str, str]]:
    """The fields of the frontmatter that differ."""
    if _unreadable(document):
        return []
    old, new = (side.meta if side else Meta(status="") for side in (document.old, document.new))
    return [
        {"name": FIELDS.get(field.name, field.name.replace("_", " ").capitalize()), "before": field.before, "after": field.after}
        for field in field_changes(old, new)
    ]  # fmt: skip


def blocks(document: DocumentDiff) -> list[list[Any]]:
    """The diff of the rendered document."""
    if _unreadable(document):
        return []
    if any(document.pictures):
        return _picture(document)
    empty = Document("", document.edit.path, "", "")
    sides = (pictures.at(document.start), pictures.at(document.head))
    return [
        [block.kind, block.node]
        for block in rendered_diff(document.old or empty, document.new or empty, app().upload.reader.render, sides)
    ]


def _picture(document: DocumentDiff) -> list[list[Any]]:
    """A picture before and after; the same one where it only moved."""
    path, (before, after) = document.edit.path, document.pictures
    kinds = [("equal", after)] if before == after else [("removed", before), ("added", after)]
    return [
        [kind, ["img", {"src": pictures.address(blob, path), "alt": path.rsplit("/", 1)[-1]}, []]]
        for kind, blob in kinds
        if blob
    ]


def _unreadable(document: DocumentDiff) -> bool:
    """Whether the frontmatter of either side cannot be read."""
    return bool((document.old is None and document.before) or (document.new is None and document.after))
