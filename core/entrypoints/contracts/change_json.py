"""Changes as JSON: the contract of `change --json` and of the API."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from core import strict
from core.access import Actor
from core.curation.review.conflicts import combined
from core.curation.review.diffs import diff as line_diff
from core.services.reviews.changes import Change
from core.services.reviews.diff import News, compare
from core.services.reviews.discussion import Comment
from core.services.reviews.merge import Collision

if TYPE_CHECKING:
    from core.bootstrap import App


def as_json(app: App, actor: Actor, change: Change) -> dict[str, Any]:
    """The contract of `change show --json`."""
    talk = [
        {**strict.plain(comment), "suggestion": comment.suggestion}
        for comment in app.reviews.discussion.comments(actor, change.id)
    ]
    return {**strict.plain(change), "comments": talk}


def comment_json(remark: Comment, change: int) -> dict[str, Any]:
    """The contract of `change comment --json`."""
    return {**strict.plain(remark), "suggestion": remark.suggestion, "change": change}


def line_json(change: Change, news: Mapping[int, News]) -> dict[str, Any]:
    """One line of a list of changes."""
    return {**strict.plain(change), "news": strict.plain(news.get(change.id, News()))}


def compared(app: App, actor: Actor, number: int, *, since_look: bool) -> dict[str, Any]:
    """What a change does, line by line."""
    change, look = app.reviews.changes.show(actor, number), app.reviews.looks.look(actor, number)
    since = since_look and bool(look.before)
    start, edits = (look.before, look.documents) if since else (change.start, change.documents)
    documents = [compare(app.knowledge.repository, start, change.head, edit) for edit in edits]
    diffs = {document.edit.path: line_diff(document.before, document.after) for document in documents}
    seen = {"last_look": look.at, "edits": look.edits, "since": start, "head": change.head}
    return {**seen, "documents": {path: strict.plain(rows) for path, rows in diffs.items()}}


def collision_json(collision: Collision) -> dict[str, Any]:
    """A collision as JSON; `both` is the text with both edits, where they do not touch."""
    value: dict[str, Any] = strict.plain(collision)
    for part, plain in zip(collision.parts, value["parts"], strict=True):
        plain["both"] = combined(part) if part.conflict else None
    return value
