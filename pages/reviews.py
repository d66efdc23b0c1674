"""Reviews: the queues, and one change to read, discuss, approve and merge."""

import streamlit as st

from core.errors import ConcordError
from core.services.reviews.changes import Change
from pages.ui import address, flash, identity, inbox, keys
from pages.ui.reviews import (
    action_panel,
    chunks,
    conflicts,
    discussion,
    documents,
    header,
    impact,
    queues,
    readers,
    rules,
)
from pages.ui.workspace import app

me = identity.require("propose a change")


def chosen_tab(change: Change) -> str:
    address.first_tab(keys.SIDE, str(change.id))
    tabs = [
        "Documents",
        "Search",
        *(["Chunks"] if identity.analyses(me) else []),
        "Discussion",
        *(["Conflicts"] if change.conflicts and change.open else []),
    ]
    chosen = st.segmented_control(
        "Show",
        tabs,
        key=keys.SIDE,
        default="Documents",
        required=True,
        bind="query-params",
        label_visibility="collapsed",
    )
    return chosen or "Documents"


def one_change(number: str) -> None:
    st.button("All changes", on_click=address.show, icon=":material/arrow_back:", type="tertiary", key="back")
    try:
        change = app().reviews.changes.show(me, int(number) if number.isdecimal() and len(number) < 10 else 0)
    except ConcordError:
        st.error(f"There is no change {flash.plain(number)}.", icon=":material/search_off:")
        return
    inbox.opened(me, "change", str(change.id))
    left, right = st.columns(2, gap="large")
    with left:
        header.draw(change, me)
    with right:
        action_panel.draw(change, me)
    tab = chosen_tab(change)
    if tab == "Search":
        impact.draw(change, me)
    elif tab == "Chunks":
        chunks.draw(change)
    elif tab == "Discussion":
        discussion.draw(change, me)
    elif tab == "Conflicts":
        conflicts.draw(change, me)
    else:
        documents.draw(change, me)


def all_changes() -> None:
    st.title("Reviews")
    queues.draw(me)
    rules.draw(me)
    readers.draw(me)


if st.query_params.get(keys.CHANGE):
    one_change(st.query_params[keys.CHANGE])
else:
    all_changes()
