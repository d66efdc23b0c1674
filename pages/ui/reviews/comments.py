"""Comments: what the browser sends when somebody writes one, and the threads that it draws."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import streamlit as st

from core import strict
from core.access import Actor, allowed
from core.curation.review import moves
from core.curation.review.diffs import diff
from core.errors import BadInput
from core.services.reviews.changes import Change
from core.services.reviews.discussion import Comment, CommentPlace
from pages.ui import actions, keys, style
from pages.ui.reviews import labels
from pages.ui.workspace import app

UNKNOWN = "The page sent something that cannot be done. Load it again."


def may(change: Change, me: Actor) -> dict[str, Any]:
    """Which buttons to draw, and the rule that counts applied suggestions; the services still decide."""
    can = change.open and allowed(me, "propose a change")
    own = can and not moves.not_theirs("edit", change, me)
    counting = moves.counting_suggestions(app().reviews.changes.rules(me), _paths(change)) if can else ""
    return {"comment": can, "apply": own, "edit": own, "counting": counting}


def _paths(change: Change) -> list[str]:
    return [path for edit in change.documents for path in (edit.path, edit.old_path) if path]


def received(key: str, number: int) -> None:
    """The callback of every component with comments: do what was clicked, as the signed-in person."""
    message = (st.session_state.get(key) or {}).get("act")
    if message:
        actions.do(lambda actor: answer(actor, number, message))


def answer(actor: Actor, number: int, message: Mapping[str, Any]) -> str:
    """Do it, and tell the browser which message succeeded: until then it keeps what was typed."""
    message_id = str(message.get("n", ""))[:40]
    st.session_state[keys.HEARD] = [message_id, False]
    reply = perform(actor, number, message)
    st.session_state[keys.HEARD] = [message_id, True]
    return reply


def last_message() -> list[Any]:
    """The id of the last message, and whether it succeeded."""
    return list(st.session_state.get(keys.HEARD, ("", False)))


def perform(actor: Actor, number: int, message: Mapping[str, Any]) -> str:
    """One action in a discussion. The browser is not trusted: every field is checked."""
    discussion, action = app().reviews.discussion, message.get("do")
    if action == "comment":
        path, line, last = _text(message, "path"), _number(message, "line"), _number(message, "last")
        head = _text(message, "head") if line else ""
        discussion.comment(
            actor,
            number,
            _text(message, "body"),
            CommentPlace(path, line, last, message.get("removed") is True),
            head=head,
        )
        return "Comment added."
    if action == "reply":
        discussion.comment(actor, number, _text(message, "body"), thread=_number(message, "thread"))
        return "Reply added."
    if action in ("resolve", "reopen"):
        discussion.resolve(actor, number, _number(message, "thread"), done=action == "resolve")
        return "Conversation resolved." if action == "resolve" else "Conversation opened again."
    if action == "edit comment":
        discussion.edit_comment(actor, number, _number(message, "comment"), _text(message, "body"))
        return "Comment changed."
    if action == "delete comment":
        discussion.delete_comment(actor, number, _number(message, "comment"))
        return "Comment deleted."
    if action == "apply":
        discussion.apply(actor, number, _number(message, "comment"))
        return "Suggestion applied, as an edit of yours. Earlier approvals are void."
    raise BadInput(UNKNOWN)


def _text(message: Mapping[str, Any], name: str) -> str:
    value = message.get(name, "")
    if not isinstance(value, str):
        raise BadInput(UNKNOWN)
    return value


def _number(message: Mapping[str, Any], name: str) -> int:
    value = message.get(name, 0)
    if not isinstance(value, (int, float)) or not 0 <= value < 2**31:
        raise BadInput(UNKNOWN)
    return int(value)


def wants_edit(key: str) -> str:
    """The path of the document that somebody clicked to edit; "" when nobody did."""
    message = (st.session_state.get(key) or {}).get("act") or {}
    return str(message.get("path", "")) if message.get("do") == "edit" else ""


def go_edit(number: int, path: str) -> None:
    """Open the editor on a document of a change."""
    st.switch_page("pages/documents.py", query_params={keys.DO: "edit", keys.CHANGE: str(number), keys.PATH: path})


# ---------------------------------------------------------------- threads


def conversations(comments: tuple[Comment, ...], me: Actor, path: str | None = None) -> list[dict[str, Any]]:
    """Comments with their replies; those of one document, or all of them.

    One whose comments are all deleted is gone.
    """
    roots = [comment for comment in comments if not comment.thread and (path is None or comment.path == path)]
    threads = [(root, *(comment for comment in comments if comment.thread == root.id)) for root in roots]
    alive = [thread for thread in threads if not all(comment.deleted for comment in thread)]
    return [_conversation(thread, me, path is None) for thread in alive]


def _conversation(thread: tuple[Comment, ...], me: Actor, with_path: bool) -> dict[str, Any]:
    root = thread[0]
    return {
        "id": root.id,
        "line": root.line,
        "last": root.last,
        "where": place(root) if with_path else "",
        "quote": root.quote,
        "removed": root.removed,
        "outdated": bool(root.quote and not root.line and not root.applied),
        "resolved": bool(root.resolved),
        "at": root.at,
        "remarks": [_comment(comment, root, me) for comment in thread],
    }


def place(comment: Comment) -> str:
    """The document and line of a comment, for people."""
    which = "removed line" if comment.removed else "line"
    return f"{comment.path}, {which} {comment.line}" if comment.line else comment.path


def open_conversations(change: Change, me: Actor) -> list[Comment]:
    """The first comment that is left of each conversation that nobody resolved."""
    comments = app().reviews.discussion.comments(me, change.id) if change.conversations else ()
    open_ids = [comment.id for comment in comments if not comment.thread and not comment.resolved]
    left = [comment for comment in comments if not comment.deleted]
    return [next(comment for comment in left if number in (comment.id, comment.thread)) for number in open_ids]


def address_of(number: int, comment: Comment) -> dict[str, str]:
    """Where a conversation stands: beside the lines of a document, or in the discussion."""
    tab = "Documents" if comment.path else "Discussion"
    return {keys.CHANGE: str(number), keys.SIDE: tab, keys.AT: f"c{comment.thread or comment.id}"}


def _comment(comment: Comment, root: Comment, me: Actor) -> dict[str, Any]:
    proposed = comment.suggestion if root.quote or root.line else None
    before = comment.body.split("```suggestion")[0] if proposed is not None else comment.body
    after = comment.body.split("```suggestion", 1)[1].split("```", 1)[-1] if proposed is not None else ""
    return {
        "id": comment.id,
        "name": comment.name,
        "initials": labels.initials(comment.name),
        "colour": labels.colour(comment.who),
        "when": style.moment(comment.at),
        "nodes": labels.nodes(f"{before}\n{after}", comment.path),
        "suggestion": strict.plain(diff(root.quote, proposed, -1).rows) if proposed is not None else None,
        "applied": bool(comment.applied),
        "place": bool(comment.line) and not comment.removed,
        "edited": bool(comment.edited),
        "deleted": bool(comment.deleted),
        "body": comment.body if comment.who == me.id and comment.suggestion is None else None,
        "mine": comment.who == me.id or me.role == "admin",
    }
