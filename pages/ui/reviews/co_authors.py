"""Who works on a change beside its author, and a box to invite others."""

from __future__ import annotations

import streamlit as st

from core.access import Actor
from core.curation.review import moves
from core.services.reviews.changes import Change
from pages.ui import actions, flash
from pages.ui.reviews.transitions import do, key_of
from pages.ui.workspace import app


def draw(change: Change, me: Actor) -> None:
    """For those who may invite, and for co-authors, who may leave."""
    invites = moves.may_invite(change, me)
    mine = [each for each in change.co_authors if invites or each.account == me.id]
    if not (invites or mine):
        return
    with st.popover(
        "Co-authors", type="tertiary", icon=":material/group_add:", key=key_of("invite", change.id, "open"), on_change="rerun"
    ):  # fmt: skip
        st.caption("Co-authors edit, submit and close a change as its author does. Others suggest.")
        for each in mine:
            with st.container(horizontal=True, vertical_alignment="center", gap="xsmall"):
                st.markdown(flash.plain(f"{each.name}, invited by {each.inviter}"), width="stretch")
                st.button(
                    "Leave" if each.account == me.id else "Remove",
                    key=key_of("uninvite", change.id, each.account),
                    type="tertiary",
                    on_click=actions.do,
                    args=(lambda actor, who=each: _remove(actor, change.id, who),),
                )
        if invites:
            _invite(change, me)


def _invite(change: Change, me: Actor) -> None:
    """An admin who is no author finds themselves in the box: so a change is taken over."""
    people = {account.id: account.name for account in app().reviews.changes.invitable(me, change.id)}
    st.multiselect(
        "Whom to invite",
        list(people),
        format_func=lambda account: f"{people[account]} (you)" if account == me.id else people[account],
        key=key_of("invite", change.id, "whom"),
    )
    if me.id != change.author:
        st.caption(f"{flash.plain(change.author_name)} is told. Invite yourself to take the change over.")
    st.button("Invite", key=key_of("invite", change.id), type="primary", on_click=do, args=("invite", change.id, change.head))  # fmt: skip


def _remove(actor: Actor, number: int, who: moves.CoAuthor) -> str:
    app().reviews.changes.uninvite(actor, number, [who.account])
    return f"{who.name} is a co-author no longer."
