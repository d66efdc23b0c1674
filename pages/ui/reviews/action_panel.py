"""The panel beside a change: what it still needs, and the buttons for what can be done now."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Literal

import streamlit as st

from core.access import Actor, allowed
from core.curation import review
from core.services.reviews.changes import Change
from pages.ui import flash
from pages.ui.reviews import indexing_progress, reviewers
from pages.ui.reviews.transitions import do, key_of
from pages.ui.workspace import app


def draw(change: Change, me: Actor) -> None:
    with st.container(border=True, key="moves", gap="small"):
        if change.state == "merged":
            indexing_progress.draw(change)
        elif change.open:
            _requirements(change)
            reviewers.draw(change, me)
        reviewing = change.open and allowed(me, "review a change")
        own_work = app().reviews.changes.own_work(me, change.id) if reviewing else ""
        offered = [name for name in _BUTTONS if offers(name, change, me, own_work)]
        with st.container(horizontal=True, gap="xsmall"):
            for name in offered:
                _BUTTONS[name](change)
        if own_work and change.state != "draft":
            st.caption(flash.plain(own_work))
        if not offered:
            st.caption(f"{flash.plain(me.name)} is a {me.role} and can look at this change.")


def offers(name: str, change: Change, me: Actor, own_work: str = "") -> bool:
    """Whether to show a button; the service still decides."""
    if name == "merge":
        return change.open and change.state != "draft" and allowed(me, "merge a change")
    if review.refusal(name, change.state):
        return False
    if name in ("approve", "request changes"):
        return allowed(me, "review a change") and not own_work
    if name == "bypass":
        return allowed(me, "bypass the review rules") and bool(change.requirements) and not change.conflicts
    return allowed(me, "propose a change")


def _requirements(change: Change) -> None:
    if change.state == "draft":
        st.markdown("**A draft: only what is submitted is reviewed**")
    elif change.requirements:
        st.markdown("**Before it can be merged**")
    else:
        st.markdown(":material/check_circle: **Ready to merge**")
    for sentence in change.requirements:
        if change.state != "draft" or "approval" not in sentence:
            st.markdown(f":material/radio_button_unchecked: :small[{flash.plain(sentence)}]")
    for verdict in change.verdicts:
        if verdict.head == change.head and (verdict.note or verdict.verdict == "approved"):
            icon = "thumb_up" if verdict.verdict == "approved" else "rate_review"
            note = f": {verdict.note}" if verdict.note else " approved it."
            st.markdown(f":material/{icon}: :small[{flash.plain(_line(verdict.name + note))}]")
    void = {v.name for v in change.verdicts if v.head != change.head and v.verdict == "approved"} - set(
        change.approvals
    )
    if void:
        st.caption(f"Void since the last edit: approval by {flash.plain(review.names(sorted(void)))}.")


def _line(text: str) -> str:
    return " ".join(text.split())


def _button(change: Change, *, name: str, label: str, icon: str, primary: bool = False) -> None:
    st.button(
        label,
        key=key_of(name, change.id),
        icon=icon,
        type="primary" if primary else "secondary",
        on_click=do,
        args=(name, change.id, change.head),
    )


def _popover(
    change: Change,
    *,
    name: str,
    label: str,
    icon: str,
    will: Sequence[str],
    note: str = "",
    primary: bool = False,
    ready: bool = True,
) -> None:
    """A button that says first what it will do, and takes a note where one is useful."""
    kind: Literal["primary", "secondary"] = "primary" if primary and ready else "secondary"
    box = st.popover(
        label, icon=icon, type=kind, disabled=not ready, key=key_of(name, change.id, "open"), on_change="rerun"
    )
    with box:
        for line in will:
            st.markdown(f"- {flash.plain(line)}")
        if note:
            st.text_area(note, key=key_of(name, change.id, "note"), height=90)
        st.button(
            label, key=key_of(name, change.id), type="primary", on_click=do, args=(name, change.id, change.head), disabled=not ready
        )  # fmt: skip


def _merge(change: Change) -> None:
    count = len(change.documents)
    will = (
        f"{count} {'document becomes' if count == 1 else 'documents become'} part of the knowledge base.",
        "Indexing starts by itself; the page says when the new text can be found.",
        "It can be undone later with one click, as a new change.",
    )
    ready = change.state == "approved" and not change.requirements
    _popover(change, name="merge", label="Merge", icon=":material/merge:", will=will, primary=True, ready=ready)


_BUTTONS: dict[str, Callable[[Change], None]] = {
    "submit": partial(_button, name="submit", label="Submit for review", icon=":material/send:", primary=True),
    "withdraw": partial(_button, name="withdraw", label="Back to draft", icon=":material/undo:"),
    "approve": partial(
        _popover,
        name="approve",
        label="Approve",
        icon=":material/thumb_up:",
        will=("You say that exactly this text may become part of the knowledge base.", "A later edit voids it."),
        note="Note (optional)",
        primary=True,
    ),
    "request changes": partial(
        _popover,
        name="request changes",
        label="Request changes",
        icon=":material/rate_review:",
        will=("It cannot be merged until you approve, or the author edits it.",),
        note="What should be changed?",
    ),
    "merge": _merge,
    "bypass": partial(
        _popover,
        name="bypass",
        label="Bypass",
        icon=":material/gavel:",
        will=(
            "It is merged without the approvals that the rules require.",
            "Your name and reason stay visible for ever.",
        ),
        note="Reason",
    ),
    "close": partial(
        _popover,
        name="close",
        label="Close",
        icon=":material/block:",
        will=("It is abandoned. Its text is kept, and it can be reopened.",),
        note="Reason (optional)",
    ),
    "reopen": partial(_button, name="reopen", label="Reopen", icon=":material/restart_alt:", primary=True),
    "revert": partial(_button, name="revert", label="Revert", icon=":material/undo:"),
}
