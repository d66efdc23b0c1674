"""The Conflicts tab: lines that both this change and the knowledge base changed, decided hunk by hunk."""

from __future__ import annotations

import streamlit as st

from core.access import Actor, allowed
from core.curation.conflicts import Hunk
from core.services.reviews.changes import Change
from core.services.reviews.merge import Collision
from pages.ui import actions, flash, style
from pages.ui.workspace import app

SIDES = {"mine": "This change", "theirs": "The knowledge base", "edit": "A text of your own"}
GONE = {
    "mine": "This change deletes or moves the document, and the knowledge base has another text of it.",
    "theirs": "The knowledge base no longer has this document here, and this change does.",
}


def draw(change: Change, me: Actor) -> None:
    """Every document in conflict, then one button for all of them."""
    collisions = app().reviews.merger.collisions(me, change.id)
    st.info(
        "Others changed the same lines while this change was open. Decide each place; the result is a new edit, so it voids earlier approvals.",
        icon=":material/call_split:",
    )
    for number, collision in enumerate(collisions):
        _document(collision, number)
    if collisions and allowed(me, "propose a change"):
        st.button(
            "Save as a new edit",
            key=f"solve_{change.id}",
            type="primary",
            icon=":material/save:",
            on_click=solve,
            args=(change.id, collisions[0].head, collisions[0].main, tuple(map(_shape, collisions))),
        )


def _shape(collision: Collision) -> tuple[str, int, str]:
    """Path, number of hunks to decide, and which side deleted it."""
    return collision.path, sum(hunk.conflict for hunk in collision.parts), collision.gone


def _document(collision: Collision, number: int) -> None:
    seen = _seen(collision.head, collision.main)
    with st.container(border=True):
        st.markdown(f"**{flash.plain(collision.path)}**")
        if collision.gone:
            st.markdown(flash.plain(GONE[collision.gone]))
            keeps = {"keep": "Keep the document", "delete": "Leave it deleted"}
            st.radio("What should be", list(keeps), format_func=keeps.get, key=_key(seen, number, 0), horizontal=True)  # type: ignore[arg-type]
            return
        hunks = [hunk for hunk in collision.parts if hunk.conflict]
        st.caption(f"{style.count(len(hunks), 'place')} to decide; everything else was merged automatically.")
        for place, hunk in enumerate(hunks):
            _hunk(hunk, seen, number, place, len(hunks))


def _hunk(hunk: Hunk, seen: str, number: int, place: int, count: int) -> None:
    st.markdown(f"**Place {place + 1} of {count}**")
    for column, side in zip(st.columns(2), ("mine", "theirs"), strict=True):
        lines = "\n".join(hunk.mine if side == "mine" else hunk.theirs)
        column.caption(SIDES[side])
        column.code(lines or "(nothing)", language=None, wrap_lines=True)
    choice = st.segmented_control(
        "Take",
        list(SIDES),
        format_func=lambda side: SIDES[side],
        default="mine",
        required=True,
        key=_key(seen, number, place),
    )
    if choice == "edit":
        both = "\n".join((*hunk.mine, *hunk.theirs))
        st.text_area("Text that should stand here", both, key=_key(seen, number, place, "text"), height=140)


def _seen(head: str, main: str) -> str:
    """The compared commits, in widget keys: a choice belongs to the conflicts that were on screen, not to later ones."""
    return f"{head[:10]}_{main[:10]}"


def _key(seen: str, number: int, place: int, part: str = "choice") -> str:
    return f"conflict_{part}_{seen}_{number}_{place}"


def solve(number: int, head: str, main: str, shapes: tuple[tuple[str, int, str], ...]) -> None:
    """Save the decisions in the widgets as a new edit."""
    seen = _seen(head, main)
    choices = {path: _choices(seen, at, places, gone) for at, (path, places, gone) in enumerate(shapes)}
    actions.do(lambda actor: _solve(actor, number, choices, head, main))


def _solve(actor: Actor, number: int, choices: dict[str, tuple[str, ...]], head: str, main: str) -> str:
    app().reviews.merger.solve(actor, number, choices, head=head, main=main)
    return "Conflicts solved with a new edit. It needs approval again."


def _choices(seen: str, at: int, places: int, gone: str) -> tuple[str, ...]:
    if gone:
        keep = st.session_state.get(_key(seen, at, 0), "keep") == "keep"
        return ("theirs" if gone == "mine" else "mine",) if keep else ("delete",)
    choices = []
    for place in range(places):
        choice = str(st.session_state.get(_key(seen, at, place)) or "mine")
        own = str(st.session_state.get(_key(seen, at, place, "text"), ""))
        choices.append(f"={own}" if choice == "edit" else choice)
    return tuple(choices)
