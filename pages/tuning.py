"""Tuning: sliders that a whole query set answers, curves with intervals, and promotion with evidence."""

import streamlit as st

from pages.ui import empty, identity, progress
from pages.ui.evaluation.state import choose, require_index
from pages.ui.tuning import alpha, learned, production, sliders, state, tau

me = identity.require("run an evaluation")

with st.container(horizontal=True, vertical_alignment="center", key="tuning_bar"):
    st.title("Tuning", anchor=False, width="stretch")
    chosen = choose()
require_index()
if not chosen:
    with empty.state("quiz", "No query set yet", "Sliders need questions that can answer. Make some first.", "no_sets"):
        if st.button("Go to Evaluation", icon=":material/leaderboard:", key="to_evaluation"):
            st.switch_page("pages/evaluation.py")
    st.stop()
frame = state.frame(chosen)
state.start()
progress.draw(("evaluate", "calibrate", "learn", "drift"))
PARTS = {
    "Sliders": sliders.draw,
    "Alpha": alpha.draw,
    "Tau": tau.draw,
    "Learned alpha": learned.draw,
    "Production": production.draw,
}
for tab, part in zip(
    st.tabs(list(PARTS), key="tuning_tab", bind="query-params", on_change="rerun"), PARTS.values(), strict=True
):
    if tab.open:
        with tab:
            part(frame)
