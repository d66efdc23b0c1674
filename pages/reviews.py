"""Reviews: the queues, and one change to look at, talk about, judge and merge."""

import streamlit as st

from core.errors import ConcordError
from core.services.reviews.changes import Change
from pages.ui import flash, identity, keys
from pages.ui.reviews import chunks, conflicts, documents, head, panel, queues, talk
from pages.ui.workspace import app

me = identity.require("propose a change")


def back() -> None:
    """To the queues."""
    st.query_params.clear()


def side_of(change: Change) -> str:
    """Which side of the change is shown."""
    sides = ["Documents", "Chunks", "Discussion", *(["Conflicts"] if change.conflicts and change.open else [])]
    chosen = st.segmented_control(
        "Show", sides, key=keys.SIDE, default="Documents", required=True, bind="query-params", label_visibility="collapsed"
    )  # fmt: skip
    return chosen or "Documents"


def one_change(number: str) -> None:
    """A change: its head, what can be done, and its sides."""
    st.button("All changes", on_click=back, icon=":material/arrow_back:", type="tertiary", key="back")
    try:
        change = app().reviews.changes.get(int(number) if number.isdecimal() and len(number) < 10 else 0)
    except ConcordError:
        st.error(f"There is no change {flash.plain(number)}.", icon=":material/search_off:")
        return
    left, right = st.columns([7, 5], gap="large")
    with left:
        head.draw(change, me)
    with right:
        panel.draw(change, me)
    side = side_of(change)
    if side == "Chunks":
        chunks.draw(change)
    elif side == "Discussion":
        talk.discussion(change, me)
    elif side == "Conflicts":
        conflicts.draw(change, me)
    else:
        documents.draw(change, me)


def all_changes() -> None:
    """The queues."""
    st.title("Reviews")
    queues.draw(me)


if st.query_params.get(keys.CHANGE):
    one_change(st.query_params[keys.CHANGE])
else:
    all_changes()
