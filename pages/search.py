"""Search: the everyday page, on the production configuration."""

from typing import Any

import streamlit as st

from pages.ui import identity, keys
from pages.ui.components.search_view import answer, filters_from, search_view
from pages.ui.workspace import app

me = identity.require("search")


def from_url() -> dict[str, Any]:
    return {
        "q": st.query_params.get(keys.QUERY, ""),
        "history": st.query_params.get(keys.HISTORY, "") == "true",
        "filters": {name: st.query_params.get_all(name) for name in keys.FACETS if name in st.query_params},
    }


@st.fragment
def search() -> None:
    """The box and its results. Keystrokes go to the server's own route; where it cannot be reached, they rerun this fragment."""
    me = identity.require("search")
    typed = (st.session_state.get("search_view") or {}).get("asked")
    asked = typed or from_url()
    values = asked.get("filters") or {}
    filters = filters_from(lambda name: [str(value) for value in values.get(name, [])], bool(asked.get("history")))
    query = str(asked.get("q") or "")
    results = answer(app(), query, filters) if query.strip() else None
    clicked = search_view(asked, results, identity.page_token(), key="search_view")
    if clicked.report:
        report = clicked.report
        app().knowledge.gaps.report(
            me,
            str(report.get("query", "")),
            str(report.get("note", "")),
            int(report.get("hits", 0)),
            app().knowledge.store.head(),
        )


search()
