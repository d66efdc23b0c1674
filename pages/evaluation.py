"""Evaluation: query sets, and runs compared with confidence intervals."""

import streamlit as st

from pages.ui import identity
from pages.ui.evaluation import asked, query_sets, runs, selection
from pages.ui.workspace import app

me = identity.require("run an evaluation")

with st.container(horizontal=True, vertical_alignment="center", key="evaluation_bar"):
    st.title("Evaluation", anchor=False, width="stretch")
    queryset = selection.choose_query_set()
selection.require_index()
PARTS = {"Query sets": query_sets.draw, "Runs": runs.draw, "Asked": asked.draw}
first = "Runs" if queryset and app().evaluation.runs.listed(me, queryset) else "Query sets"
tabs = st.tabs(list(PARTS), default=first, key="evaluation_tab", bind="query-params", on_change="rerun")
for tab, part in zip(tabs, PARTS.values(), strict=True):
    if tab.open:
        with tab:
            part(queryset)
