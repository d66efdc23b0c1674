"""The documents of a change: what differs, line by line and as a reader sees it, with the talk about it."""

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
from pages.ui import style
from pages.ui.components import component
from pages.ui.reviews import talk, words
from pages.ui.workspace import app

AT_ONCE = 15  # documents drawn together
MAX_ROWS = 4000  # rows of one document beyond which unchanged parts are left out for good
FIELDS = {"id": "Id", "title": "Title", "doc_type": "Type", "extra": "Other"}


def draw(change: Change, me: Actor) -> None:
    """A page of documents; more when asked for."""
    if not change.documents:
        st.info("This change has no documents left: they are the same as in the knowledge base.")
        return
    first = _page(len(change.documents))
    page = [_compared(change.start, change.head, n) for n in range(first, len(change.documents))[:AT_ONCE]]
    findings = tuple(one for one in change.findings if one.severity != "note")
    comments, key = app().reviews.discussion.comments(change.id), f"review_{change.id}_{first}"
    component("review", "nodes", "talk")(
        key=key,
        data={
            "documents": [_document(one, comments, findings) for one in page],
            "summary": f"{style.count(len(change.documents), 'document')} in this change",
            "may": talk.may(change, me),
            "head": change.head,
            "heard": talk.heard(),
        },
        on_act_change=lambda: None if talk.wants_edit(key) else talk.acted(key, change.id),
    )
    if path := talk.wants_edit(key):
        talk.go_edit(change.id, path)


def _page(count: int) -> int:
    """Which document comes first."""
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
def _compared(start: str, head: str, number: int) -> DocumentDiff:
    store = app().knowledge.store
    return compare(store, start, head, store.changed(start, head)[number])


def _document(one: DocumentDiff, comments: tuple[Comment, ...], findings: tuple[Finding, ...]) -> dict[str, Any]:
    word, tone, sign = words.KINDS[one.edit.kind]
    made, (added, removed) = lines(one), size(one)
    return {
        "path": one.edit.path,
        "was": one.edit.old_path,
        "name": one.edit.path.split("/")[-1],
        "title": one.title,
        "kind": one.edit.kind,
        "word": word,
        "tone": tone,
        "sign": sign,
        "added": added,
        "removed": removed,
        "problem": one.problem,
        "checks": [] if one.problem else [shown(made) for made in findings if made.path == one.edit.path],
        "fields": fields(one),
        "rows": strict.plain(made.rows),
        "rendered": blocks(one),
        "threads": talk.conversations(comments, one.edit.path),
    }


def shown(one: Finding) -> dict[str, object]:
    """What a check said, as the page draws it."""
    return {"line": one.line, "severity": one.severity, "message": one.message}


def lines(one: DocumentDiff) -> Diff:
    """The text line by line; frontmatter has a table of its own where it can be read."""
    sides = [side for side, text in ((one.old, one.before), (one.new, one.after)) if text]
    if any(side is None for side in sides):
        return _whole(one.before, one.after)
    old, new = (side or Document("", "", "", "") for side in (one.old, one.new))
    made = body_diff(old, new, -1)
    return made if len(made.rows) <= MAX_ROWS else body_diff(old, new)


def _whole(before: str, after: str) -> Diff:
    made = diff(before, after, -1)
    return made if len(made.rows) <= MAX_ROWS else diff(before, after)


def fields(one: DocumentDiff) -> list[dict[str, str]]:
    """Frontmatter that differs, with names as people say them."""
    if (one.old is None and one.before) or (one.new is None and one.after):
        return []
    old, new = (side.meta if side else Meta(status="") for side in (one.old, one.new))
    return [
        {"name": FIELDS.get(made.name, made.name.replace("_", " ").capitalize()), "before": made.before, "after": made.after}
        for made in field_changes(old, new)
    ]  # fmt: skip


def blocks(one: DocumentDiff) -> list[list[Any]]:
    """The same as a reader sees it."""
    if (one.old is None and one.before) or (one.new is None and one.after):
        return []
    empty = Document("", one.edit.path, "", "")
    return [[block.kind, block.node] for block in rendered_diff(one.old or empty, one.new or empty)]
