"""Search: the everyday screen, with the production configuration."""

import streamlit as st

from core.errors import ConcordError
from core.types import Filters
from pages.ui import flash, identity, keys
from pages.ui.components.results import results
from pages.ui.workspace import app

me = identity.require("search")


def chosen_filters() -> Filters:
    """What the address says; unknown values simply match nothing."""
    lists = {name: tuple(st.query_params.get_all(name)) for name in keys.FACETS}
    return Filters(**lists, history=bool(st.session_state.get(keys.HISTORY)))


def keep_filters(picked: dict[str, list[str]] | None) -> None:
    """Put the chosen facets into the address, so that a link carries them."""
    if picked is None or picked.get("for") != st.session_state.get(keys.QUERY):
        return
    for name in keys.FACETS:
        if list(picked.get(name, [])) != st.query_params.get_all(name):
            st.query_params[name] = list(picked.get(name, []))


def ask(word: str) -> None:
    """Search for another word."""
    st.session_state[keys.QUERY] = word


@st.fragment
def search() -> None:
    """The box and what it finds; typing redraws this part alone."""
    box, more = st.columns([5, 1], vertical_alignment="center")
    query = box.text_input(
        "Search the knowledge base",
        key=keys.QUERY,
        bind="query-params",
        type="search",
        live="200ms",
        placeholder="Ask in your own words, or paste a form number, a section or an error code",
        label_visibility="collapsed",
        icon=":material/search:",
    )
    more.toggle(
        "History",
        key=keys.HISTORY,
        bind="query-params",
        help="Also retired, superseded and not yet effective documents. They are marked.",
    )
    if not (query or "").strip():
        st.caption(
            "For example: how long do we keep SAR records · FN-22 · CU\\*BASE · labels do not print · who signs for $200,000"
        )
        return
    try:
        keep_filters((st.session_state.get("results") or {}).get("filters"))
        filters = chosen_filters()
        found = app().finding.find(query, filters)
    except ConcordError as error:
        st.error(flash.plain(str(error)))
        return
    picked = results(found, filters, key="results")
    if picked.open:
        st.switch_page("pages/documents.py", query_params={name: str(value) for name, value in picked.open.items()})
    if picked.report:
        app().gaps.report(
            identity.me(), query, str(picked.report.get("note", "")), len(found.groups), found.result.commit
        )


search()
