"""Who is asked to review a change: a picker before and after it is submitted, and what each of them said."""

from __future__ import annotations

import streamlit as st

from core.access import Actor
from core.services.reviews.changes import Change
from pages.ui import flash
from pages.ui.reviews.transitions import do, key_of
from pages.ui.workspace import app

_ANSWERS = {"": "hourglass_empty", "approved": "thumb_up", "changes requested": "rate_review"}


def draw(change: Change, me: Actor) -> None:
    """Those who were asked, and a box to ask others."""
    for request in change.asked:
        answer = request.answer or "no answer yet"
        rule = f", by the rule of {request.rule}" if request.rule else ""
        st.markdown(
            f":material/{_ANSWERS[request.answer]}: :small[{flash.plain(f'{request.name} was asked{rule}: {answer}')}]"
        )
    people = {account.id: account.name for account in app().reviews.changes.reviewers(me, change.id)}
    if not people:
        return
    draft = change.state == "draft"
    with st.container(horizontal=True, vertical_alignment="bottom", gap="xsmall"):
        st.multiselect(
            "Whom to ask",
            list(people),
            format_func=lambda account: people[account],
            key=key_of("submit" if draft else "ask", change.id, "whom"),
            placeholder="Whom to ask (optional)" if draft else "Ask somebody to review it",
            label_visibility="collapsed",
        )
        if not draft:
            st.button(
                "Ask",
                key=key_of("ask", change.id),
                icon=":material/person_add:",
                on_click=do,
                args=("ask", change.id, change.head),
            )
