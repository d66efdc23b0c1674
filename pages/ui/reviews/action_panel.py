"""The panel beside a change: what it still needs, and the buttons for what can be done now."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Literal
from urllib.parse import urlencode

import streamlit as st

from core.access import Actor, allowed
from core.curation.review import moves
from core.curation.review.moves import Verdict
from core.services.reviews.changes import Change
from core.services.reviews.discussion import Comment
from pages.ui import flash, identity, keys, style
from pages.ui.components import component
from pages.ui.reviews import comments, impact, indexing_progress, labels, reviewers, rules
from pages.ui.reviews.transitions import do, key_of
from pages.ui.workspace import app

Kind = Literal["primary", "secondary", "tertiary"]


def draw(change: Change, me: Actor) -> None:
    with st.container(border=True, key="moves", gap="small"):
        if change.state == "merged":
            indexing_progress.draw(change)
            _documents(change)
        elif change.open:
            _headline(change)
        reviewing = change.open and allowed(me, "review a change")
        own_work = app().reviews.changes.own_work(me, change.id) if reviewing else ""
        if approved_by(change, me):
            st.markdown(":material/check_circle: **You approved this text**")
        offered = [name for name in _BUTTONS if offers(name, change, me, own_work)]
        with st.container(horizontal=True, gap="xsmall"):
            for name in offered:
                _BUTTONS[name](change)
        if own_work and change.state != "draft":
            st.caption(flash.plain(own_work))
        if change.open:
            _requirements(change)
            _beside(change, me)
            impact.panel(change, me)
            _pointers(change, me)
        if change.state == "draft":
            reviewers.draw(change, me)
        if not (offered or change.open):
            st.caption(f"{flash.plain(me.name)} is a {me.role} and can look at this change.")


def offers(name: str, change: Change, me: Actor, own_work: str = "") -> bool:
    """Whether to show a button; the service still decides."""
    if name == "merge":
        return change.open and change.state != "draft" and allowed(me, "merge a change")
    if moves.refusal(name, change.state) or moves.not_theirs(name, change, me):
        return False
    blocking = [block.who for block in change.blocks]
    if name == "take back":
        return approved_by(change, me) or me.id in blocking
    if name == "lift":
        return allowed(me, "lift a request for changes") and any(who != me.id for who in blocking)
    if name == "approve":
        return allowed(me, "review a change") and not own_work and not approved_by(change, me)
    if name == "request changes":
        return allowed(me, "review a change") and me.id != change.author
    if name == "bypass":
        return allowed(me, "bypass the review rules") and bool(change.requirements) and not change.conflicts
    return allowed(me, "propose a change")


def approved_by(change: Change, me: Actor) -> bool:
    """Whether somebody's approval of this very text stands."""
    mine = [verdict for verdict in change.verdicts if verdict.who == me.id][-1:]
    return change.open and any(verdict.verdict == "approved" and verdict.head == change.head for verdict in mine)


def _headline(change: Change) -> None:
    """Where it stands; the decision follows at once, and the reasons below it."""
    if change.state == "draft":
        st.markdown("**A draft: only what is submitted is reviewed**")
        rules.say(edit.path for edit in change.documents)
    elif change.requirements:
        st.markdown("**Not ready to merge yet**")
    else:
        fixes = labels.to_fix(change.findings)
        st.markdown(f":material/check_circle: **Ready to merge{f', with {fixes} to fix' if fixes else ''}**")


def _documents(change: Change) -> None:
    """The way from a merged change to what it changed."""
    merged = {edit.path for edit in change.documents}
    here = [document for document in app().knowledge.documents.all() if document.path in merged]
    for document in here[:3]:
        place = urlencode({keys.DOC: document.id})
        st.markdown(f":material/description: [{flash.plain(document.title)}](/documents?{place})")


def _beside(change: Change, me: Actor) -> None:
    """Others who edit the same documents in a change of their own."""
    for other, paths in app().reviews.changes.beside(me, change.id)[:3]:
        what = paths[0] if len(paths) == 1 else labels.files(paths)
        st.markdown(
            f":material/group: :small[{flash.plain(other.author_name)} edits {flash.plain(what)} too, in "
            f"[#{other.id} {flash.plain(other.title)}](/reviews?{keys.CHANGE}={other.id}).]"
        )


def _requirements(change: Change) -> None:
    """What still blocks the merge, what is worth a look, and whose approvals count."""
    _blockers(change)
    if change.warnings:
        st.caption("Worth a look; it does not stop the merge")
    for sentence in change.warnings:
        st.markdown(f":material/warning: :small[{flash.plain(sentence)}]")
    _approvals(change)


def _blockers(change: Change) -> None:
    if change.state != "draft" and change.requirements:
        st.caption("Before it can be merged")
    said_below = {f"{block.name} requested changes." for block in change.blocks}  # with their words
    said_below |= set(change.approvals_missing) if change.state == "draft" else set()
    for sentence in change.requirements:
        if sentence not in said_below:
            st.markdown(f":material/radio_button_unchecked: :small[{flash.plain(sentence)}]")


def _approvals(change: Change) -> None:
    for verdict in change.verdicts:
        if verdict.head == change.head and verdict.verdict == "approved" and verdict.name in change.approvals:
            note = f": {verdict.note}" if verdict.note else " approved it."
            st.markdown(f":material/thumb_up: :small[{flash.plain(_line(verdict.name + note))}]")
    void = {v.name for v in change.verdicts if v.head != change.head and v.verdict == "approved"} - set(
        change.approvals
    )
    if void:
        st.caption(f"Void since the last edit: approval by {flash.plain(moves.names(sorted(void)))}.")


def _pointers(change: Change, me: Actor) -> None:
    """Who asks for what, what is to fix and which conversations are open: each with a link to its place."""
    fixes = sorted((fix for fix in change.findings if fix.severity != "note"), key=lambda fix: fix.known)
    talks = comments.open_conversations(change, me)
    if change.blocks or fixes or talks:
        component("pointers", "nodes")(
            key="pointers",
            data={
                "change": change.id,
                "blocks": [_block(change, block) for block in change.blocks],
                "fixes": [
                    {
                        "path": fix.path,
                        "line": fix.line,
                        "severity": fix.severity,
                        "message": fix.message,
                        "known": fix.known,
                    }
                    for fix in fixes
                ],
                "talks": [_talk(change, talk) for talk in talks],
            },
        )


def _block(change: Change, block: Verdict) -> dict[str, object]:
    edited = block.head != change.head
    return {
        "name": block.name,
        "when": style.moment(block.when),
        "note": labels.nodes(block.note),
        "edited": "The text was edited since." if edited else "",
        "place": {keys.CHANGE: change.id, keys.SIDE: "Discussion", keys.AT: f"v{change.verdicts.index(block)}"},
    }


def _talk(change: Change, talk: Comment) -> dict[str, object]:
    return {"text": _summary(talk), "place": comments.address_of(change.id, talk)}


def _summary(talk: Comment) -> str:
    """A conversation in one line: where, who, and how it begins."""
    words = _line(talk.body.split("```")[0])
    start = words if len(words) <= 70 else f"{words[:69].rstrip()}…"
    return ": ".join(part for part in (comments.place(talk), talk.name, start) if part)


def _line(text: str) -> str:
    return " ".join(text.split())


def _button(change: Change, *, name: str, label: str, icon: str, kind: Kind = "secondary") -> None:
    st.button(
        label,
        key=key_of(name, change.id),
        icon=icon,
        type=kind,
        on_click=do,
        args=(name, change.id, change.head),
    )


@dataclass(frozen=True)
class Decision:
    """A step with its own small dialog: what it will do, and a note where one is useful."""

    name: str
    label: str
    icon: str
    will: Sequence[str]
    note: str = ""
    primary: bool = False


def _popover(change: Change, decision: Decision, *, ready: bool = True, talks: Sequence[Comment] = ()) -> None:
    """A button that says first what it will do."""
    name, label = decision.name, decision.label
    kind: Kind = "primary" if decision.primary and ready else "secondary"
    box = st.popover(
        label, icon=decision.icon, type=kind, disabled=not ready, key=key_of(name, change.id, "open"), on_change="rerun"
    )
    with box:
        for line in decision.will:
            st.markdown(f"- {flash.plain(line)}")
        _open_talks(change, talks, key_of(name, change.id, "open"))
        if decision.note:
            st.text_area(decision.note, key=key_of(name, change.id, "note"), height=90)
        st.button(
            label,
            key=key_of(name, change.id),
            type="primary",
            on_click=do,
            args=(name, change.id, change.head),
            disabled=not ready,
        )


def _merge(change: Change) -> None:
    count = len(change.documents)
    will = (
        f"{count} {'document becomes' if count == 1 else 'documents become'} part of the knowledge base.",
        "Indexing starts by itself; the page says when the new text can be found.",
        "It can be undone later with one click, as a new change.",
    )
    ready = change.state == "approved" and not change.requirements
    talks = comments.open_conversations(change, identity.me()) if ready else []
    _popover(change, Decision("merge", "Merge", ":material/merge:", will, primary=True), ready=ready, talks=talks)


def _open_talks(change: Change, talks: Sequence[Comment], box: str) -> None:
    """Conversations that nobody resolved, each a way to its place."""
    if talks:
        st.markdown(f":material/forum: **{style.count(len(talks), 'conversation')} still open**")
    for talk in talks:
        st.button(
            flash.plain(_summary(talk)),
            key=f"talk_{talk.id}",
            icon=":material/arrow_forward:",
            type="tertiary",
            on_click=_leave_for,
            args=(change.id, talk, box),
        )


def _leave_for(number: int, talk: Comment, box: str) -> None:
    """Close the dialog and show the conversation."""
    place = comments.address_of(number, talk)
    st.session_state[box] = False
    st.session_state[keys.SIDE] = place[keys.SIDE]
    st.query_params[keys.AT] = place[keys.AT]


def _take_back(change: Change) -> None:
    approved = approved_by(change, identity.me())
    _button(
        change,
        name="take back",
        label="Take it back" if approved else "Take back my request",
        icon=":material/undo:",
        kind="tertiary" if approved else "secondary",
    )


def _lift(change: Change) -> None:
    who = moves.names([block.name for block in change.blocks])
    will = (f"The request for changes by {who} no longer blocks.", "Your name and reason stay visible for ever.")
    _popover(change, Decision("lift", "Lift the request", ":material/lock_open:", will, "Reason"))


_BUTTONS: dict[str, Callable[[Change], None]] = {
    "submit": partial(_button, name="submit", label="Submit for review", icon=":material/send:", kind="primary"),
    "approve": partial(
        _popover,
        decision=Decision(
            name="approve",
            label="Approve",
            icon=":material/thumb_up:",
            will=("You say that exactly this text may become part of the knowledge base.", "A later edit voids it."),
            note="Note (optional)",
            primary=True,
        ),
    ),
    "request changes": partial(
        _popover,
        decision=Decision(
            name="request changes",
            label="Request changes",
            icon=":material/rate_review:",
            will=("It cannot be merged until you approve it or take this back; edits do not lift it.",),
            note="What should be changed?",
        ),
    ),
    "take back": _take_back,
    "lift": _lift,
    "merge": _merge,
    "bypass": partial(
        _popover,
        decision=Decision(
            name="bypass",
            label="Bypass",
            icon=":material/gavel:",
            will=(
                "It is merged without the approvals that the rules require.",
                "Your name and reason stay visible for ever.",
            ),
            note="Reason",
        ),
    ),
    "withdraw": partial(_button, name="withdraw", label="Back to draft", icon=":material/undo:", kind="tertiary"),
    "close": partial(
        _popover,
        decision=Decision(
            name="close",
            label="Close",
            icon=":material/block:",
            will=("It is abandoned. Its text is kept, and it can be reopened.",),
            note="Reason (optional)",
        ),
    ),
    "reopen": partial(_button, name="reopen", label="Reopen", icon=":material/restart_alt:", kind="primary"),
    "revert": partial(_button, name="revert", label="Revert", icon=":material/undo:"),
}
