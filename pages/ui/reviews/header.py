"""The header of a change: title, state, facts and description."""

from __future__ import annotations

from datetime import datetime

import streamlit as st

from core.access import Actor, allowed
from core.curation.review.moves import names, not_theirs
from core.services.reviews.changes import Change
from pages.ui import actions, flash, people, style
from pages.ui.components import component
from pages.ui.reviews import co_authors, labels, queues
from pages.ui.workspace import app


def draw(change: Change, me: Actor) -> None:
    now = datetime.fromisoformat(app().reviews.changes.clock.stamp())
    invited = [co_author.name for co_author in change.co_authors]
    others = [name for name in change.editors if name not in (change.author_name, *invited)]
    facts = [
        ("Change", f"#{change.id}"),
        ("Author", change.author_name),
        ("Co-authors", names(invited)),
        ("Also words of", names(others)),
        ("Started", f"{style.moment(change.created)} ({labels.age(change.created, now)})"),
        ("Size", queues.extent(change)),
        ("Approved by", names(list(change.approvals))),
        (change.state.capitalize(), f"{style.moment(change.ended)} by {change.ended_by}" if change.ended else ""),
        ("Reverts", f"#{change.reverts}" if change.reverts else ""),
        ("Seen by", _seen_by(change)),
    ]
    badges = [labels.state_badge(change.state)]
    badges += [{"text": "Conflict", "tone": "bad"}] if change.conflicts else []
    badges += [{"text": "Merged without approval", "tone": "bad"}] if change.bypass else []
    badges += (labels.check_badges(change) or [{"text": "Checks passed", "tone": "good"}]) if change.open else []
    component("header")(
        key="change_header",
        data={"title": change.title, "badges": badges, "facts": [[name, value] for name, value in facts if value]},
    )
    if change.bypass:
        st.warning(
            f"{flash.plain(change.ended_by)} merged this without the approvals that the rules require. Reason: {flash.plain(change.bypass)}",
            icon=":material/gavel:",
        )
    if change.description:
        component("prose", "nodes")(key="description", data={"nodes": labels.nodes(change.description)})
    if change.open and allowed(me, "propose a change"):
        with st.container(horizontal=True, gap="xsmall"):
            if not not_theirs("edit", change, me):
                _description(change)
            co_authors.draw(change, me)


def _seen_by(change: Change) -> str:
    """Who reads all of its documents, where that is not everybody."""
    readers = app().knowledge.documents.readers
    paths = dict.fromkeys(path for edit in change.documents for path in (edit.path, edit.old_path) if path)
    return ", and of these ".join(dict.fromkeys(people.audience(names) for path in paths if (names := readers(path))))


def _description(change: Change) -> None:
    with st.popover(
        "Edit title and description", type="tertiary", icon=":material/edit:", key="describe_box", on_change="rerun"
    ):
        st.text_input("Title", change.title, max_chars=200, key=f"title_{change.id}")
        st.text_area("What it does, and why", change.description, height=160, key=f"description_{change.id}")
        st.button("Keep", key="describe", type="primary", on_click=describe, args=(change.id,))


def describe(number: int) -> None:
    title, text = (str(st.session_state[f"{name}_{number}"]) for name in ("title", "description"))
    st.session_state["describe_box"] = False
    actions.do(lambda actor: f"Kept: {app().reviews.changes.describe(actor, number, title, text).title}")
