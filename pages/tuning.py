"""Tuning: a desk of sliders over a query set, tau, confidence, what questions teach, and promotion with evidence."""

from functools import partial

import streamlit as st

from pages.ui import actions, identity, progress
from pages.ui.evaluation import new_set, selection
from pages.ui.home import empty
from pages.ui.tuning import confidence, learn, production, sliders, state, tau

me = identity.require("run an evaluation")

with st.container(horizontal=True, vertical_alignment="center", key="tuning_bar"):
    st.title("Tuning", anchor=False, width="stretch")
    queryset = selection.choose_query_set()
selection.require_index()
if not queryset:
    with empty.state(
        "quiz", "No query set yet", "Sliders are measured on questions, and the search learns from them.", "no_sets"
    ):
        take = partial(new_set.generate, kind="frontmatter", name="", seed=0, count=0)
        st.button(
            "Take what documents answer",
            icon=":material/quiz:",
            type="primary",
            key="take_answers",
            help="The questions under `answers:` of the documents, as a query set.",
            on_click=actions.do,
            args=(take,),
        )
        if st.button("Go to Evaluation", icon=":material/leaderboard:", key="to_evaluation"):
            st.switch_page("pages/evaluation.py")
    st.stop()
tuning_set = state.open_set(queryset)
selection.say_why(queryset)
state.start()
progress.draw(("evaluate", "calibrate", "learn-all", "drift"))
PARTS = {
    "Desk": sliders.draw,
    "Tau": tau.draw,
    "Confidence": confidence.draw,
    "Learn": learn.draw,
    "Production": production.draw,
}
for tab, part in zip(
    st.tabs(list(PARTS), key=state.TAB, bind="query-params", on_change="rerun"), PARTS.values(), strict=True
):
    if tab.open:
        with tab:
            part(tuning_set)
