"""The Discussion tab: what happened to a change and what was said about it, in order of time."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

import streamlit as st

from core.access import Actor
from core.services.reviews.changes import Change
from core.storage.state.records import AuditEntry
from pages.ui import keys, people
from pages.ui.components import component
from pages.ui.reviews import comments, labels
from pages.ui.workspace import app

_MOMENT = timedelta(seconds=60)  # a transaction waits no longer for its turn


def draw(change: Change, me: Actor) -> None:
    key = f"discussion_{change.id}"
    component("discussion", "nodes", "difftext", "talk")(
        key=key,
        data={
            "items": _timeline(change, me),
            "at": _place(),
            "may": comments.may(change, me),
            "heard": comments.last_message(),
            "people": people.completions(),
            "closed": "Readers can follow the discussion." if change.open else "Only an open change can be discussed.",
        },
        on_act_change=lambda: comments.received(key, change.id),
    )


def _place() -> str:
    """What a link leads to: a verdict or a conversation."""
    comment = st.query_params.get(keys.COMMENT, "")
    return st.query_params.get(keys.AT, "") or (f"c{comment}" if comment else "")


def _timeline(change: Change, me: Actor) -> list[dict[str, Any]]:
    """Events and conversations by time; an event comes before a comment of the same moment."""
    threads = comments.conversations(app().reviews.discussion.comments(me, change.id), me)
    dated = [*_events(change, me), *((thread["at"], 1, thread) for thread in threads)]
    return [item for *_, item in sorted(dated, key=lambda entry: entry[:2])]


def _events(change: Change, me: Actor) -> list[tuple[str, int, dict[str, Any]]]:
    """Audit entries, with the note that a reviewer gave along with a verdict."""
    events = []
    for entry in app().people.audit.of_change(me, change.id):
        if entry.action in ("comment", "edit comment"):
            continue
        judged = entry.action in ("approve", "request changes")
        number, note = _verdict(change, entry) if judged else (0, "")
        item = {**labels.event(entry), **({"note": labels.nodes(note), "id": f"v{number}"} if note else {})}
        events.append((entry.at, 0, item))
    return events


def _verdict(change: Change, entry: AuditEntry) -> tuple[int, str]:
    """Place and note of the verdict that an entry tells of: the last of that person, written a moment before
    the entry.
    """
    written = datetime.fromisoformat(entry.at)
    own = [
        (n, verdict.note)
        for n, verdict in enumerate(change.verdicts)
        if verdict.who == entry.who and timedelta() <= written - datetime.fromisoformat(verdict.when) <= _MOMENT
    ]
    return own[-1] if own else (0, "")
