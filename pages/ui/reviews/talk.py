"""Conversations: what the browser sends, and what it draws."""

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
from pages.ui import acts, keys, style
from pages.ui.components import component
from pages.ui.reviews import words
from pages.ui.workspace import app


def may(change: Change, me: Actor) -> dict[str, bool]:
    """Which buttons are worth drawing; the services decide anyway."""
    can = change.open and allowed(me, "propose a change")
    return {"comment": can, "apply": can, "edit": can}


def acted(key: str, number: int) -> None:
    """The callback of every component that talks: do what was clicked, as the person behind this session."""
    said = (st.session_state.get(key) or {}).get("act")
    if said:
        acts.do(lambda actor: answered(actor, number, said))


def answered(actor: Actor, number: int, said: Mapping[str, Any]) -> str:
    """Do it, and let the browser know which of its messages was done: until then it keeps what was typed."""
    message = str(said.get("n", ""))[:40]
    st.session_state[keys.HEARD] = [message, False]
    done = act(actor, number, said)
    st.session_state[keys.HEARD] = [message, True]
    return done


def heard() -> list[Any]:
    """The last message that arrived, and whether it was done."""
    return list(st.session_state.get(keys.HEARD, ("", False)))


def act(actor: Actor, number: int, said: Mapping[str, Any]) -> str:
    """One act of a conversation, checked before it is believed."""
    what = said.get("do")
    if what == "comment":
        path, line, last = _text(said, "path"), _number(said, "line"), _number(said, "last")
        head = _text(said, "head") if line else ""
        app().reviews.discussion.comment(actor, number, _text(said, "body"), path=path, line=line, last=last, head=head)
        return "Comment added."
    if what == "reply":
        app().reviews.discussion.comment(actor, number, _text(said, "body"), thread=_number(said, "thread"))
        return "Reply added."
    if what in ("resolve", "reopen"):
        app().reviews.discussion.resolve(actor, number, _number(said, "thread"), done=what == "resolve")
        return "Conversation resolved." if what == "resolve" else "Conversation opened again."
    if what == "apply":
        app().reviews.discussion.apply(actor, number, _number(said, "comment"))
        return "Suggestion applied, as an edit of yours. Earlier approvals are void."
    raise BadInput("The page sent something that cannot be done. Load it again.")


def _text(said: Mapping[str, Any], name: str) -> str:
    value = said.get(name, "")
    if not isinstance(value, str):
        raise BadInput("The page sent something that cannot be done. Load it again.")
    return value


def _number(said: Mapping[str, Any], name: str) -> int:
    value = said.get(name, 0)
    if not isinstance(value, (int, float)) or not 0 <= value < 2**31:
        raise BadInput("The page sent something that cannot be done. Load it again.")
    return int(value)


# ---------------------------------------------------------------- drawing


def conversations(comments: tuple[Comment, ...], path: str | None = None) -> list[dict[str, Any]]:
    """Remarks with their replies; those of one document, or all of them."""
    roots = [one for one in comments if not one.thread and (path is None or one.path == path)]
    return [_conversation(root, [one for one in comments if one.thread == root.id], path is None) for root in roots]


def _conversation(root: Comment, replies: list[Comment], anywhere: bool) -> dict[str, Any]:
    where = f"{root.path}, line {root.line}" if root.line else root.path
    return {
        "id": root.id,
        "line": root.line,
        "last": root.last,
        "where": where if anywhere else "",
        "quote": root.quote,
        "outdated": bool(root.quote and not root.line and not root.applied),
        "resolved": bool(root.resolved),
        "at": root.at,
        "remarks": [_remark(one, root) for one in (root, *replies)],
    }


def _remark(one: Comment, root: Comment) -> dict[str, Any]:
    proposed = one.suggestion if root.quote or root.line else None
    body = one.body.split("```suggestion")[0] if proposed is not None else one.body
    rest = one.body.split("```suggestion", 1)[1].split("```", 1)[-1] if proposed is not None else ""
    return {
        "id": one.id,
        "name": one.name,
        "initials": words.initials(one.name),
        "colour": words.colour(one.who),
        "when": style.moment(one.at),
        "nodes": words.nodes(f"{body}\n{rest}", one.path),
        "suggestion": strict.plain(diff(root.quote, proposed, -1).rows) if proposed is not None else None,
        "applied": bool(one.applied),
        "place": bool(one.line),
    }


def discussion(change: Change, me: Actor) -> None:
    """What happened and what was said, in order of time."""
    said = [{**one, "order": (one["at"], 1)} for one in conversations(app().reviews.discussion.comments(change.id))]
    events = [entry for entry in app().people.audit.of_change(change.id) if entry.action != "comment"]
    notes = {(v.who, v.when): v.note for v in change.verdicts if v.note}
    done = []
    for entry in events:
        note = notes.get((entry.who, entry.at)) if entry.action in ("approve", "request changes") else None
        done.append({**words.event(entry), **({"note": words.nodes(note)} if note else {}), "order": (entry.at, 0)})
    items = sorted([*done, *said], key=lambda one: one["order"])
    component("discussion", "nodes", "talk")(
        key=f"discussion_{change.id}",
        data={
            "items": [{name: value for name, value in one.items() if name != "order"} for one in items],
            "may": may(change, me),
            "heard": heard(),
            "closed": "Only an open change can be discussed."
            if not change.open
            else "Readers can follow the discussion.",
        },
        on_act_change=lambda: acted(f"discussion_{change.id}", change.id),
    )


def wants_edit(key: str) -> str:
    """The document that somebody asked to edit, "" when nobody did."""
    said = (st.session_state.get(key) or {}).get("act") or {}
    return str(said.get("path", "")) if said.get("do") == "edit" else ""


def go_edit(number: int, path: str) -> None:
    """To the editor, with a document of a change."""
    st.switch_page("pages/documents.py", query_params={keys.DO: "edit", keys.CHANGE: str(number), keys.PATH: path})
