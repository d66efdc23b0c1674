"""The query set that Evaluation and Tuning work on, and the check that there is an index to ask."""

from __future__ import annotations

import streamlit as st

from pages.ui import empty, flash, identity, keys
from pages.ui.workspace import app, generation


def require_index() -> None:
    """Stop the page where there is no index, and say so."""
    if generation():
        return
    empty.no_index("Questions are asked of an index.")
    st.stop()


def choose_query_set() -> str:
    """The name of the chosen query set; "" when there is none."""
    names = [queryset.name for queryset in app().evaluation.querysets.listed(identity.me())]
    if not names:
        return ""
    if st.session_state.get(keys.QUERYSET) not in names:
        st.session_state.pop(keys.QUERYSET, None)
    first, _ = app().tuning.production.default_queryset(identity.me())
    return str(
        st.selectbox(
            "Query set",
            names,
            names.index(first),
            key=keys.QUERYSET,
            width=280,
            bind="query-params",
            label_visibility="collapsed",
        )
    )


def say_why(queryset: str) -> None:
    """Which set the figures are about, and which one would be the usual one."""
    usual, why = app().tuning.production.default_queryset(identity.me())
    if queryset == usual:
        st.caption(f"Measured on **{flash.plain(queryset)}**: {why}.")
    else:
        st.caption(f"Measured on **{flash.plain(queryset)}**. The usual set is {flash.plain(usual)}: {why}.")
