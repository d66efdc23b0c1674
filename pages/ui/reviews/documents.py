"""The Documents tab: each document's diff by line and as rendered, with the discussion beside it."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import Any

import streamlit as st

from core import strict
from core.access import Actor, allowed
from core.curation.checks.findings import Finding
from core.curation.review.diffs import Diff, body_diff, diff, field_changes, rendered_diff
from core.services.reviews.changes import Change
from core.services.reviews.diff import DocumentDiff, Look, compare, size
from core.services.reviews.discussion import Comment
from core.types import Document, Edit, Meta
from pages.ui import actions, address, disagreements, keys, people, pictures, style
from pages.ui.components import component
from pages.ui.reviews import comments, labels
from pages.ui.workspace import app

AT_ONCE = 12  # documents whose text is sent at first; the others follow when somebody comes to them
MAX_ROWS = 4000  # a longer diff leaves unchanged lines out
FIELDS = {"id": "Id", "title": "Title", "doc_type": "Type", "extra": "Other"}
SCOPES = {"since": "Since your last look", "whole": "Whole change"}


def draw(change: Change, me: Actor) -> None:
    if not change.documents:
        st.info("This change has no documents left: they are the same as in the knowledge base.")
        return
    remarks, viewed = app().reviews.discussion.comments(me, change.id), app().reviews.looks.viewed(me, change.id)
    at = st.query_params.get(keys.AT, "")
    wanted = _path_of(at, remarks)
    start, edits = _scope(change, app().reviews.looks.look(me, change.id), wanted, at)
    # where another text is on the left, what was said about removed lines comes first, with its quote
    shown = tuple(replace(each, line=0) if each.removed and start != change.start else each for each in remarks)
    key, loaded = f"review_{change.id}_{start[:8]}", _loaded(change, edits, viewed, wanted)
    findings = tuple(finding for finding in change.findings if finding.severity != "note") if change.open else ()
    differs = disagreements.notes(me, change.id) if change.open else []
    heads = [_head(start, change.head, edit.kind, edit.path, edit.old_path) for edit in edits]
    by_path = {
        edit.path: [] if head["problem"] else [each for each in findings if each.path == edit.path]
        for head, edit in zip(heads, edits, strict=True)
    }
    documents = [
        {
            **head,
            **(_body(start, change.head, edit.kind, edit.path, edit.old_path) if edit.path in loaded else {}),
            "checks": [_check(finding) for finding in by_path[edit.path]],
            "badges": labels.check_badges(by_path[edit.path]),
            "differs": [note for note in differs if note["path"] == edit.path],
            "threads": comments.conversations(shown, me, edit.path),
            "viewed": edit.path in viewed,
        }
        for head, edit in zip(heads, edits, strict=True)
    ]
    component("review", "nodes", "checks", "difftext", "talk", "tree")(
        key=key,
        data={
            "documents": documents,
            "may": {**comments.may(change, me), "settle": allowed(me, "settle a disagreement")},
            "head": change.head,
            "heard": comments.last_message(),
            "people": people.completions(),
            "whole": start == change.start,
            "at": at,
        },
        on_act_change=lambda: _heard(key, change.id),
    )
    if path := comments.wants_edit(key):
        comments.go_edit(change.id, path)
    if settling := _wants_settled(key):
        disagreements.ask_to_settle(settling)


def _scope(change: Change, look: Look, wanted: str, at: str) -> tuple[str, tuple[Edit, ...]]:
    """The commit to compare with, and the documents that differ from it: since the last look, or of the whole change.

    A link to a document that did not change since shows the whole.
    """
    if not look.before or not change.open:
        return change.start, change.documents
    edits = style.count(look.edits, "edit") if look.edits else "Nothing by others"
    usual = "whole" if wanted and wanted not in {edit.path for edit in look.documents} else "since"
    address.first_tab(keys.LOOK, f"{change.id} {change.head} {at}")
    with st.container(horizontal=True, vertical_alignment="center", key="since"):
        chosen = st.segmented_control(
            "Compare",
            list(SCOPES),
            format_func=lambda name: SCOPES[name],
            key=keys.LOOK,
            default=usual,
            required=True,
            bind="query-params",
            label_visibility="collapsed",
        )
        st.caption(f"{edits} since you looked on {style.moment(look.at)}")
    if chosen == "whole":
        return change.start, change.documents
    if not look.documents:
        st.info("The text is the same as when you looked: what was edited came back to it.")
    return look.before, look.documents


def _loaded(change: Change, edits: Sequence[Edit], viewed: Collection[str], wanted: str) -> set[str]:
    """Documents whose text is sent: the first ones that are not viewed yet, and those that were asked for."""
    asked = st.session_state.get(keys.LOADED, {})
    first = [edit.path for edit in edits if edit.path not in viewed][:AT_ONCE]
    return {*first, wanted, *(asked.get("paths", ()) if asked.get("change") == change.id else ())}


def _path_of(at: str, remarks: Sequence[Comment]) -> str:
    """The document that a link leads to: a line (`l12:path`) or a conversation (`c7`)."""
    if at.startswith("l"):
        return at.partition(":")[2]
    return next((remark.path for remark in remarks if at == f"c{remark.id}"), "")


def _heard(key: str, number: int) -> None:
    """What was clicked beside a document; opening the editor is done by the page itself."""
    message = (st.session_state.get(key) or {}).get("act") or {}
    if message.get("do") == "load":
        paths = [str(path) for path in message.get("paths", ())][:1000]
        asked = st.session_state.get(keys.LOADED, {})
        before = asked.get("paths", []) if asked.get("change") == number else []
        st.session_state[keys.LOADED] = {"change": number, "paths": [*dict.fromkeys((*before, *paths))]}
    elif message.get("do") == "viewed":
        path, on = str(message.get("path", "")), bool(message.get("on"))
        actions.do_quietly(lambda actor: app().reviews.looks.mark(actor, number, path, viewed=on))
    elif not comments.wants_edit(key) and not _wants_settled(key):
        comments.received(key, number)


def _wants_settled(key: str) -> str:
    """The disagreement that somebody wants to settle."""
    message = (st.session_state.get(key) or {}).get("act") or {}
    return str(message.get("key", "")) if message.get("do") == "settle" else ""


@st.cache_data(max_entries=500, show_spinner=False)
def _diff(start: str, head: str, kind: str, path: str, old_path: str) -> DocumentDiff:
    return compare(app().knowledge.repository, start, head, Edit(kind, path, old_path))


@st.cache_data(max_entries=4000, show_spinner=False)
def _head(start: str, head: str, kind: str, path: str, old_path: str) -> dict[str, Any]:
    """What the tree and the heading of a document need."""
    document = _diff(start, head, kind, path, old_path)
    word, tone, sign = labels.KINDS[kind]
    added, removed = size(document)
    texts = {"title": document.title, "word": word, "tone": tone, "sign": sign, "problem": document.problem}
    return {"path": path, "was": old_path, "kind": kind, "added": added, "removed": removed, **texts}


@st.cache_data(max_entries=200, show_spinner=False)
def _body(start: str, head: str, kind: str, path: str, old_path: str) -> dict[str, Any]:
    """The text of a document: fields, lines and blocks that differ."""
    document = _diff(start, head, kind, path, old_path)
    rows = strict.plain(lines(document).rows)
    return {"fields": fields(document), "rows": rows, "rendered": blocks(document)}


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
        {
            "name": FIELDS.get(field.name, field.name.replace("_", " ").capitalize()),
            "before": field.before,
            "after": field.after,
        }
        for field in field_changes(old, new)
    ]


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
