"""Who is asked to review a change: a picker before and after it is submitted, and what each of them said."""

from __future__ import annotations

import streamlit as st

from core.access import Actor
from core.curation.review import moves
from core.curation.review.moves import names
from core.services.reviews.changes import Change
from core.services.reviews.requests import ReviewRequest
from pages.ui import actions, flash
from pages.ui.reviews.transitions import do, key_of
from pages.ui.workspace import app


def said(change: Change) -> str:
    """Who was asked and what they said, in one line. A request for changes stands through later edits."""
    asking = {block.who for block in change.blocks}
    answers = [
        f"{request.name} ({f'by the rule of {request.rule}, ' if request.rule else ''}"
        f"{'changes requested' if request.account in asking else request.answer or 'no answer yet'})"
        for request in change.asked
    ]
    return f"Asked: {', '.join(answers)}"


def _request(change: Change, request: ReviewRequest) -> None:
    """While somebody has not answered, a person's request can be taken back."""
    if change.state in moves.MOVES["ask"][0] and not (request.answer or request.rule):
        st.button(
            f"Ask {flash.plain(request.name)} no longer",
            key=key_of("unask", change.id, request.account),
            icon=":material/undo:",
            type="tertiary",
            on_click=actions.do,
            args=(lambda actor: _take_back(actor, change.id, request),),
        )


def _take_back(actor: Actor, number: int, request: ReviewRequest) -> str:
    app().reviews.changes.unask(actor, number, [request.account])
    return f"{request.name} is asked no longer."


def draw(change: Change, me: Actor) -> None:
    """Those who were asked, and a box to ask others."""
    if change.asked:
        st.markdown(f":material/how_to_reg: :small[{flash.plain(said(change))}]")
    if change.unknown:
        st.caption(
            f":material/person_off: The review rules name {flash.plain(names(change.unknown))}, and nobody is"
            " called so."
        )
    if change.state == "draft":
        if not moves.not_theirs("submit", change, me):
            _picker(change, me, draft=True)
        return
    proposed = _proposed(change, me)
    if proposed:
        st.caption(f":material/person_search: No review is pending. Ask {flash.plain(' or '.join(proposed))}.")
    with st.expander("Ask others", icon=":material/person_add:", type="compact"):  # rare, and the diff should be near
        for request in change.asked:
            _request(change, request)
        _picker(change, me, draft=False)


def _proposed(change: Change, me: Actor) -> list[str]:
    """Whom to ask where an approval is missing and everybody who was asked has answered, or may not
    approve any more.
    """
    pending = any(not request.answer for request in change.asked)
    if change.state != "in review" or pending:
        return []
    others = {me.id, *(request.account for request in change.asked)}
    able = app().reviews.changes.reviewers(me, change.id)
    return [account.name for account in able if account.id not in others][:3]


def _picker(change: Change, me: Actor, *, draft: bool) -> None:
    people = {account.id: account.name for account in app().reviews.changes.reviewers(me, change.id)}
    if not people:
        return
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
