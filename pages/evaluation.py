"""Evaluation: query sets, runs compared with confidence intervals, and built-in experiments."""

import streamlit as st

from pages.ui import identity
from pages.ui.evaluation import asked, experiments, query_sets, runs, selection

me = identity.require("run an evaluation")

with st.container(horizontal=True, vertical_alignment="center", key="evaluation_bar"):
    st.title("Evaluation", anchor=False, width="stretch")
    queryset = selection.choose_query_set()
selection.require_index()
PARTS = {"Query sets": query_sets.draw, "Runs": runs.draw, "Experiments": experiments.draw, "Asked": asked.draw}
for tab, part in zip(
    st.tabs(list(PARTS), key="evaluation_tab", bind="query-params", on_change="rerun"), PARTS.values(), strict=True
):
    if tab.open:
        with tab:
            part(queryset)
