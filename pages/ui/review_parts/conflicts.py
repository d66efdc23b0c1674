"""Conflicts: what both this change and the knowledge base changed, decided hunk by hunk."""

from __future__ import annotations

import streamlit as st

from core.access import Actor, allowed
from core.curation.conflicts import Hunk
from core.services.changes import Change
from core.services.merging import Collision
from pages.ui import acts, flash, style
from pages.ui.workspace import app

SIDES = {"mine": "This change", "theirs": "The knowledge base", "edit": "A text of your own"}
GONE = {
    "mine": "This change deletes the document, and the knowledge base has a newer text of it.",
    "theirs": "The knowledge base no longer has this document, and this change edits it.",
}


def draw(change: Change, me: Actor) -> None:
    """Every document in conflict, then one button for all of them."""
    found = app().merging.collisions(change.id)
    st.info(
        "Others changed the same lines while this change was open. Decide each place; the result is a new edit, so earlier approvals are void.",
        icon=":material/call_split:",
    )
    for number, one in enumerate(found):
        _document(one, number, change.head)
    if allowed(me, "propose a change"):
        st.button(
            "Save as a new edit",
            key=f"solve_{change.id}",
            type="primary",
            icon=":material/save:",
            on_click=solve,
            args=(change.id, change.head, tuple(_shape(one) for one in found)),
        )


def _shape(one: Collision) -> tuple[str, int, str]:
    return one.path, sum(part.conflict for part in one.parts), one.gone


def _document(one: Collision, number: int, head: str) -> None:
    with st.container(border=True):
        st.markdown(f"**{flash.plain(one.path)}**")
        if one.gone:
            st.markdown(flash.plain(GONE[one.gone]))
            keeps = {"keep": "Keep the document", "delete": "Leave it deleted"}
            st.radio("What should be", list(keeps), format_func=keeps.get, key=_key(head, number, 0), horizontal=True)  # type: ignore[arg-type]
            return
        places = [part for part in one.parts if part.conflict]
        st.caption(f"{style.count(len(places), 'place')} to decide; everything else was brought together by itself.")
        for place, part in enumerate(places):
            _place(part, head, number, place, len(places))


def _place(part: Hunk, head: str, number: int, place: int, count: int) -> None:
    st.markdown(f"**Place {place + 1} of {count}**")
    for column, side in zip(st.columns(2), ("mine", "theirs"), strict=True):
        lines = "\n".join(part.mine if side == "mine" else part.theirs)
        column.caption(SIDES[side])
        column.code(lines or "(nothing)", language=None, wrap_lines=True)
    choice = st.segmented_control(
        "Take",
        list(SIDES),
        format_func=lambda side: SIDES[side],
        default="mine",
        required=True,
        key=_key(head, number, place),
    )
    if choice == "edit":
        both = "\n".join((*part.mine, *part.theirs))
        st.text_area("Text that should stand here", both, key=_key(head, number, place, "text"), height=140)


def _key(head: str, number: int, place: int, part: str = "choice") -> str:
    return f"conflict_{part}_{head[:10]}_{number}_{place}"


def solve(number: int, head: str, shapes: tuple[tuple[str, int, str], ...]) -> None:
    """Write the decisions down, as they stand in the widgets."""
    choices = {
        path: _choices(head, at, places, gone) for at, (path, places, gone) in enumerate(shapes)
    }  # fmt: skip
    acts.do(lambda actor: _solve(actor, number, choices))


def _solve(actor: Actor, number: int, choices: dict[str, tuple[str, ...]]) -> str:
    app().merging.solve(actor, number, choices)
    return "Conflicts solved with a new edit. It needs approval again."


def _choices(head: str, at: int, places: int, gone: str) -> tuple[str, ...]:
    if gone:
        kept = st.session_state.get(_key(head, at, 0), "keep") == "keep"
        return (("theirs" if gone == "mine" else "mine",) * places) if kept else ("delete",)
    found = []
    for place in range(places):
        choice = str(st.session_state.get(_key(head, at, place)) or "mine")
        own = str(st.session_state.get(_key(head, at, place, "text"), ""))
        found.append(f"={own}" if choice == "edit" else choice)
    return tuple(found)
