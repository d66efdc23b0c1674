"""What can be done with a change now, beside the sentences that say what is still missing."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Literal

import streamlit as st

from core.access import Actor, allowed
from core.curation import review
from core.services.reviews.changes import Change
from pages.ui import flash
from pages.ui.reviews import progress
from pages.ui.reviews.moves import MOVES, do, key_of
from pages.ui.workspace import app


def draw(change: Change, me: Actor) -> None:
    """The panel beside the head of a change."""
    with st.container(border=True, key="moves", gap="small"):
        if change.state == "merged":
            progress.draw(change)
        elif change.open:
            _requirements(change)
        own = app().reviews.changes.own_work(me, change.id) if change.open and allowed(me, "review a change") else ""
        offered = [move for move in MOVES if offers(move, change, me, own)]
        with st.container(horizontal=True, gap="xsmall"):
            for move in offered:
                _BUTTONS[move](change)
        if own and change.state != "draft":
            st.caption(flash.plain(own))
        if not offered:
            st.caption(f"{flash.plain(me.name)} is a {me.role} and can look at this change.")


def offers(move: str, change: Change, me: Actor, own: str = "") -> bool:
    """Whether a button is worth showing; the service decides anyway."""
    if move == "merge":
        return change.open and change.state != "draft" and allowed(me, "merge a change")
    if review.refusal(move, change.state):
        return False
    if move in ("approve", "request changes"):
        return allowed(me, "review a change") and not own
    if move == "bypass":
        return allowed(me, "bypass the review rules") and bool(change.requirements) and not change.conflicts
    return allowed(me, "propose a change")


def _requirements(change: Change) -> None:
    if change.state == "draft":
        st.markdown("**A draft: only what is submitted is reviewed**")
    elif change.requirements:
        st.markdown("**Before it can be merged**")
    else:
        st.markdown(":material/check_circle: **Nothing stands in the way of the merge**")
    for sentence in change.requirements:
        if change.state != "draft" or "approval" not in sentence:
            st.markdown(f":material/radio_button_unchecked: :small[{flash.plain(sentence)}]")
    for verdict in change.verdicts:
        if verdict.head == change.head and (verdict.note or verdict.verdict == "approved"):
            icon = "thumb_up" if verdict.verdict == "approved" else "rate_review"
            said = f": {verdict.note}" if verdict.note else " approved it."
            st.markdown(f":material/{icon}: :small[{flash.plain(_line(verdict.name + said))}]")
    void = {v.name for v in change.verdicts if v.head != change.head and v.verdict == "approved"} - set(
        change.approvals
    )
    if void:
        st.caption(f"Void since the last edit: approval by {flash.plain(review.names(sorted(void)))}.")


def _line(text: str) -> str:
    return " ".join(text.split())


def _plain(change: Change, *, move: str, label: str, icon: str, primary: bool = False) -> None:
    st.button(
        label,
        key=key_of(move, change.id),
        icon=icon,
        type="primary" if primary else "secondary",
        on_click=do,
        args=(move, change.id, change.head),
    )


def _asked(
    change: Change,
    *,
    move: str,
    label: str,
    icon: str,
    will: Sequence[str],
    note: str = "",
    primary: bool = False,
    ready: bool = True,
) -> None:
    """A button that says first what will happen, and takes a note where one is wanted."""
    kind: Literal["primary", "secondary"] = "primary" if primary and ready else "secondary"
    box = st.popover(
        label, icon=icon, type=kind, disabled=not ready, key=key_of(move, change.id, "open"), on_change="rerun"
    )
    with box:
        for line in will:
            st.markdown(f"- {flash.plain(line)}")
        if note:
            st.text_area(note, key=key_of(move, change.id, "note"), height=90)
        st.button(
            label, key=key_of(move, change.id), type="primary", on_click=do, args=(move, change.id, change.head), disabled=not ready
        )  # fmt: skip


def _merge(change: Change) -> None:
    count = len(change.documents)
    will = (
        f"{count} {'document becomes' if count == 1 else 'documents become'} part of the knowledge base.",
        "Indexing starts by itself; the page says when the new text can be found.",
        "It can be undone later with one click, as a new change.",
    )
    ready = change.state == "approved" and not change.requirements
    _asked(change, move="merge", label="Merge", icon=":material/merge:", will=will, primary=True, ready=ready)


_BUTTONS: dict[str, Callable[[Change], None]] = {
    "submit": partial(_plain, move="submit", label="Submit for review", icon=":material/send:", primary=True),
    "withdraw": partial(_plain, move="withdraw", label="Back to draft", icon=":material/undo:"),
    "approve": partial(
        _asked,
        move="approve",
        label="Approve",
        icon=":material/thumb_up:",
        will=("You say that exactly this text may become part of the knowledge base.", "A later edit voids it."),
        note="Note (optional)",
        primary=True,
    ),
    "request changes": partial(
        _asked,
        move="request changes",
        label="Request changes",
        icon=":material/rate_review:",
        will=("It cannot be merged until you approve, or the author edits it.",),
        note="What should be changed?",
    ),
    "merge": _merge,
    "bypass": partial(
        _asked,
        move="bypass",
        label="Bypass",
        icon=":material/gavel:",
        will=("It is merged without the approvals that the rules want.", "Your name and reason stay visible for ever."),
        note="Reason",
    ),
    "close": partial(
        _asked,
        move="close",
        label="Close",
        icon=":material/block:",
        will=("It is given up. Its text stays, and it can be reopened.",),
        note="Reason (optional)",
    ),
    "reopen": partial(_plain, move="reopen", label="Reopen", icon=":material/restart_alt:", primary=True),
    "revert": partial(_plain, move="revert", label="Revert", icon=":material/undo:"),
}
