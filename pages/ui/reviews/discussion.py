"""The Discussion tab: what happened to a change and what was said about it, in order of time."""

from __future__ import annotations

from typing import Any

import streamlit as st

from core.access import Actor
from core.services.reviews.changes import Change
from pages.ui import identity, keys, people
from pages.ui.components import component
from pages.ui.reviews import comments, labels
from pages.ui.workspace import app


def draw(change: Change, me: Actor) -> None:
    key = f"discussion_{change.id}"
    component("discussion", "nodes", "difftext", "talk")(
        key=key,
        data={
            "items": _timeline(change),
            "may": comments.may(change, me),
            "heard": comments.last_message(),
            "people": people.completions(),
            "comment": st.query_params.get(keys.COMMENT, ""),
            "closed": "Readers can follow the discussion." if change.open else "Only an open change can be discussed.",
        },
        on_act_change=lambda: comments.received(key, change.id),
    )


def _timeline(change: Change) -> list[dict[str, Any]]:
    """Events and conversations by time; an event comes before a comment of the same moment."""
    threads = comments.conversations(app().reviews.discussion.comments(identity.me(), change.id))
    dated = [*_events(change), *((thread["at"], 1, thread) for thread in threads)]
    return [item for *_, item in sorted(dated, key=lambda entry: entry[:2])]


def _events(change: Change) -> list[tuple[str, int, dict[str, Any]]]:
    """Audit entries, with the note that a reviewer gave along with a verdict."""
    notes = {(verdict.who, verdict.when): verdict.note for verdict in change.verdicts if verdict.note}
    events = []
    for entry in app().people.audit.of_change(identity.me(), change.id):
        if entry.action == "comment":
            continue
        note = notes.get((entry.who, entry.at)) if entry.action in ("approve", "request changes") else None
        item = {**labels.event(entry), **({"note": labels.nodes(note)} if note else {})}
        events.append((entry.at, 0, item))
    return events
