"""Comments: what the browser sends when somebody writes one, and the threads that it draws."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import streamlit as st

from core import strict
from core.access import Actor, allowed
from core.curation.diffs import diff
from core.errors import BadInput
from core.services.reviews.changes import Change
from core.services.reviews.discussion import Comment
from pages.ui import actions, keys, style
from pages.ui.reviews import labels
from pages.ui.workspace import app

UNKNOWN = "The page sent something that cannot be done. Load it again."


def may(change: Change, me: Actor) -> dict[str, bool]:
    """Which buttons to draw; the services still decide."""
    can = change.open and allowed(me, "propose a change")
    return {"comment": can, "apply": can, "edit": can}


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
        discussion.comment(actor, number, _text(message, "body"), path=path, line=line, last=last, head=head)
        return "Comment added."
    if action == "reply":
        discussion.comment(actor, number, _text(message, "body"), thread=_number(message, "thread"))
        return "Reply added."
    if action in ("resolve", "reopen"):
        discussion.resolve(actor, number, _number(message, "thread"), done=action == "resolve")
        return "Conversation resolved." if action == "resolve" else "Conversation opened again."
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


def conversations(comments: tuple[Comment, ...], path: str | None = None) -> list[dict[str, Any]]:
    """Comments with their replies; those of one document, or all of them."""
    roots = [comment for comment in comments if not comment.thread and (path is None or comment.path == path)]
    replies = {root.id: [comment for comment in comments if comment.thread == root.id] for root in roots}
    return [_conversation(root, replies[root.id], path is None) for root in roots]


def _conversation(root: Comment, replies: list[Comment], with_path: bool) -> dict[str, Any]:
    where = f"{root.path}, line {root.line}" if root.line else root.path
    return {
        "id": root.id,
        "line": root.line,
        "last": root.last,
        "where": where if with_path else "",
        "quote": root.quote,
        "outdated": bool(root.quote and not root.line and not root.applied),
        "resolved": bool(root.resolved),
        "at": root.at,
        "remarks": [_comment(comment, root) for comment in (root, *replies)],
    }


def _comment(comment: Comment, root: Comment) -> dict[str, Any]:
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
        "place": bool(comment.line),
    }
