"""The header of a change: title, state, facts, description and co-authors."""

from __future__ import annotations

from datetime import datetime

import streamlit as st

from core.access import Actor, allowed
from core.curation.review import moves
from core.curation.review.moves import names, not_theirs
from core.services.reviews.changes import Change
from pages.ui import actions, flash, meanwhile, people, style
from pages.ui.components import component
from pages.ui.reviews import labels, queues, reviewers
from pages.ui.reviews.transitions import do, key_of
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
    found = queues.badges(change, me)
    passed = [{"text": "Checks passed", "tone": "good"}] if change.open and not found else []
    badges = [labels.state_badge(change.state), *found, *passed]
    component("header")(
        key="change_header",
        data={"title": change.title, "badges": badges, "facts": [[name, value] for name, value in facts if value]},
    )
    if change.bypass:
        st.warning(
            f"{flash.plain(change.ended_by)} merged this without the approvals that the rules require. Reason:"
            f" {flash.plain(change.bypass)}",
            icon=":material/gavel:",
        )
    if change.description:
        component("prose", "nodes")(key="description", data={"nodes": labels.nodes(change.description)})
    if change.open and allowed(me, "propose a change"):
        with st.container(horizontal=True, gap="xsmall"):
            if not not_theirs("edit", change, me):
                _description(change)
            _draw_co_authors(change, me)
    if change.open and (refusal := not_theirs("edit", change, me)):
        st.caption(flash.plain(refusal))
    if change.open and change.state != "draft":
        reviewers.draw(change, me)


def _seen_by(change: Change) -> str:
    """Who reads all of its documents, where that is not everybody."""
    readers = app().knowledge.documents.readers
    paths = dict.fromkeys(path for edit in change.documents for path in (edit.path, edit.old_path) if path)
    return ", and of these ".join(dict.fromkeys(people.audience(names) for path in paths if (names := readers(path))))


def _description(change: Change) -> None:
    with st.popover(
        "Edit title and description", type="tertiary", icon=":material/edit:", key="describe_box", on_change="rerun"
    ):
        meanwhile.say(f"title_{change.id}", change.title)
        meanwhile.say(f"description_{change.id}", change.description)
        st.text_input("Title", change.title, max_chars=200, key=f"title_{change.id}")
        st.text_area("What it does, and why", change.description, height=160, key=f"description_{change.id}")
        st.button("Keep", key="describe", type="primary", on_click=describe, args=(change.id,))


def describe(number: int) -> None:
    boxes = (f"title_{number}", f"description_{number}")
    title, text = (str(st.session_state[box]) for box in boxes)
    expected = (meanwhile.shown(boxes[0]), meanwhile.shown(boxes[1]))

    def describe_it(actor: Actor) -> str:
        change = app().reviews.changes.describe(actor, number, title, text, expected)
        st.session_state["describe_box"] = False
        return f"Kept: {change.title}"

    actions.do(describe_it)


def _draw_co_authors(change: Change, me: Actor) -> None:
    """For those who may invite, and for co-authors, who may leave."""
    invites = moves.may_invite(change, me)
    mine = [each for each in change.co_authors if invites or each.account == me.id]
    if not (invites or mine):
        return
    with st.popover(
        "Co-authors",
        type="tertiary",
        icon=":material/group_add:",
        key=key_of("invite", change.id, "open"),
        on_change="rerun",
    ):
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
    st.button(
        "Invite", key=key_of("invite", change.id), type="primary", on_click=do, args=("invite", change.id, change.head)
    )


def _remove(actor: Actor, number: int, who: moves.CoAuthor) -> str:
    app().reviews.changes.uninvite(actor, number, [who.account])
    return f"{who.name} is a co-author no longer."
