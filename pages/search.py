"""Search: the everyday screen, with the production configuration."""

from typing import Any

import streamlit as st

from pages.ui import identity, keys
from pages.ui.components.search_view import answer, filters_from, search_view
from pages.ui.direct import token
from pages.ui.places import address
from pages.ui.workspace import app

me = identity.require("search")


def from_address() -> dict[str, Any]:
    """What a link asks for."""
    return {
        "q": st.query_params.get(keys.QUERY, ""),
        "history": st.query_params.get(keys.HISTORY, "") == "true",
        "filters": {name: st.query_params.get_all(name) for name in keys.FACETS if name in st.query_params},
    }


@st.fragment
def search() -> None:
    """The box and what it finds. Typing goes straight to the server's own route; where that cannot be reached it comes through here."""
    me = identity.require("search")
    waiting = (st.session_state.get("search_view") or {}).get("asked")
    asked = waiting or from_address()
    chosen = asked.get("filters") or {}
    filters = filters_from(lambda name: [str(value) for value in chosen.get(name, [])], bool(asked.get("history")))
    query = str(asked.get("q") or "")
    found = answer(app(), query, filters) if query.strip() else None
    clicked = search_view(asked, found, token(me), key="search_view")
    if clicked.open:
        st.switch_page("pages/documents.py", query_params=address(clicked.open))
    if clicked.report:
        said = clicked.report
        app().knowledge.gaps.report(
            me,
            str(said.get("query", "")),
            str(said.get("note", "")),
            int(said.get("hits", 0)),
            app().knowledge.store.head(),
        )


search()
