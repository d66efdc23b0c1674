"""The Conflicts tab: lines that both this change and the knowledge base changed, decided hunk by hunk."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import streamlit as st

from core import strict
from core.access import Actor
from core.curation.review import moves
from core.curation.review.conflicts import Hunk, combined
from core.curation.review.diffs import diff
from core.services.reviews.changes import Change
from core.services.reviews.merge import Collision
from pages.ui import actions, flash, style
from pages.ui.components import component
from pages.ui.workspace import app

SIDES = {
    "both": "Both edits",
    "mine": "This change",
    "theirs": "The knowledge base",
    "edit": "A text of your own",
}
KEEPS = {"keep": "Keep the document", "delete": "Leave it deleted"}
GONE = {
    "mine": "This change deletes or moves the document, and the knowledge base has another text of it.",
    "theirs": "The knowledge base no longer has this document here, and this change does.",
}


def draw(change: Change, me: Actor) -> None:
    """Every document in conflict, then one button for all of them; those who may not decide see first how
    they could.
    """
    collisions = app().reviews.merger.collisions(me, change.id)
    refusal = moves.not_theirs("edit", change, me)
    what = "Decide each; the result is a new edit, so it voids earlier approvals."
    st.info(
        f"Others changed the same places while this change was open. {flash.plain(refusal) or what}",
        icon=":material/call_split:",
    )
    if refusal and moves.may_invite(change, me):
        st.button(
            "Take it over",
            key="conflicts_take_over",
            icon=":material/group_add:",
            on_click=actions.do,
            args=(partial(_take_over, number=change.id),),
        )
    for number, collision in enumerate(collisions):
        _document(collision, number, closed=bool(refusal))
    if collisions and not refusal:
        _save(change, collisions)


def _take_over(actor: Actor, number: int) -> str:
    app().reviews.changes.invite(actor, number, [actor.id])
    return "You are a co-author now."


def _save(change: Change, collisions: tuple[Collision, ...]) -> None:
    """The button, once every place is decided."""
    shapes, seen = tuple(map(_shape, collisions)), _seen(collisions[0].head, collisions[0].main)
    decided = [choice for at, shape in enumerate(shapes) for choice in _chosen(seen, at, shape)]
    open_places = sum(choice is None for choice in decided)
    if open_places:
        st.caption(f"{len(decided) - open_places} of {style.count(len(decided), 'place')} decided")
    st.button(
        "Save as a new edit",
        key=f"solve_{change.id}",
        type="primary",
        icon=":material/save:",
        disabled=bool(open_places),
        on_click=solve,
        args=(change.id, collisions[0].head, collisions[0].main, shapes),
    )


def _shape(collision: Collision) -> tuple[str, int, str]:
    """Path, number of hunks to decide, and which side deleted it."""
    return collision.path, sum(hunk.conflict for hunk in collision.parts), collision.gone


def _document(collision: Collision, number: int, *, closed: bool) -> None:
    seen = _seen(collision.head, collision.main)
    with st.container(border=True):
        who = f", which {flash.plain(moves.names(collision.others))} edited meanwhile" if collision.others else ""
        st.markdown(f"**{flash.plain(collision.path)}**{who}")
        if collision.gone:
            st.markdown(flash.plain(GONE[collision.gone]))
            st.radio(
                "What should be",
                list(KEEPS),
                format_func=KEEPS.get,
                key=_key(seen, number, 0),
                index=None,
                horizontal=True,
                disabled=closed,
            )  # type: ignore[arg-type]
            return
        hunks = [hunk for hunk in collision.parts if hunk.conflict]
        st.caption(f"{style.count(len(hunks), 'place')} to decide; everything else was merged automatically.")
        for place, hunk in enumerate(hunks):
            _hunk(hunk, partial(_key, seen, number, place), f"Place {place + 1} of {len(hunks)}", closed=closed)


def _hunk(hunk: Hunk, key: Callable[..., str], title: str, *, closed: bool) -> None:
    """Both sides with what each changed, and the choice between them; nothing is chosen beforehand."""
    both = combined(hunk)
    st.markdown(f"**{title}**")
    base, mine, theirs = ("\n".join(lines) for lines in (hunk.base, hunk.mine, hunk.theirs))
    component("conflict", "difftext")(
        key=key("sides"),
        data={
            "before": base,
            "sides": [
                {"name": SIDES["mine"], "rows": strict.plain(diff(base, mine, -1).rows)},
                {"name": SIDES["theirs"], "rows": strict.plain(diff(base, theirs, -1).rows)},
            ],
            "both": None if both is None else strict.plain(diff(base, both, -1).rows),
        },
    )
    sides = [side for side in SIDES if side != "both" or both is not None]
    choice = st.segmented_control(
        "Take", sides, format_func=lambda side: SIDES[side], key=key(), default=None, disabled=closed
    )
    if choice == "edit":
        text = "\n".join((mine, theirs)) if both is None else both
        st.text_area("Text that should stand here", text, key=key("text"), height=140)


def _seen(head: str, main: str) -> str:
    """The compared commits, in widget keys: a choice belongs to the conflicts that were on screen, not to
    later ones.
    """
    return f"{head[:10]}_{main[:10]}"


def _key(seen: str, number: int, place: int, part: str = "choice") -> str:
    return f"conflict_{part}_{seen}_{number}_{place}"


def solve(number: int, head: str, main: str, shapes: tuple[tuple[str, int, str], ...]) -> None:
    """Save the decisions in the widgets as a new edit."""
    actions.do(lambda actor: _solve(actor, number, head, main, shapes))


def _solve(actor: Actor, number: int, head: str, main: str, shapes: tuple[tuple[str, int, str], ...]) -> str:
    chosen = {shape[0]: _chosen(_seen(head, main), at, shape) for at, shape in enumerate(shapes)}
    choices = {path: tuple(choice for choice in made if choice is not None) for path, made in chosen.items()}
    app().reviews.merger.solve(actor, number, choices, head=head, main=main)
    return "Conflicts solved with a new edit. It needs approval again."


def _chosen(seen: str, at: int, shape: tuple[str, int, str]) -> list[str | None]:
    """What the widgets say about each place of a document; None where nothing is chosen yet."""
    _, places, gone = shape
    if gone:
        keep = {"keep": "theirs" if gone == "mine" else "mine", "delete": "delete"}
        return [keep.get(str(st.session_state.get(_key(seen, at, 0))))]
    return [_choice(seen, at, place) for place in range(places)]


def _choice(seen: str, at: int, place: int) -> str | None:
    choice = st.session_state.get(_key(seen, at, place))
    return f"={st.session_state.get(_key(seen, at, place, 'text'), '')}" if choice == "edit" else choice
