"""The Train tab: what is learned or calibrated in the background, one thing at a time, here or on the command line."""

from __future__ import annotations

import streamlit as st

from pages.ui.tuning import confidence, embedder, learned, learning, prompts, ranker, state, tau
from pages.ui.tuning.state import TuningSet

PARTS = {
    "All at once": learning.draw,
    "Tau": tau.draw,
    "Learned alpha": learned.draw,
    "Ranker": ranker.draw,
    "Embedder": embedder.draw,
    "Prompts": prompts.draw,
    "Confidence": confidence.draw,
}


def draw(tuning_set: TuningSet) -> None:
    """The choice, then its form and its last result."""
    chosen = st.segmented_control(
        "Train",
        list(PARTS),
        default="Tau",
        required=True,
        key=state.TRAIN,
        bind="query-params",
        label_visibility="collapsed",
    )
    PARTS[str(chosen)](tuning_set)
