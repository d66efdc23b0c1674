"""Which column a chart of the playground draws."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from core.services.playground.compare import Comparison
from pages.ui.playground import drawing


def pick(made: Comparison, able: Sequence[int], key: str) -> int:
    """Which of the columns that can be drawn is drawn; asked only where there are several."""
    if len(able) == 1:
        return able[0]
    names = {at: f"{drawing.LETTERS[at]} · {made.lanes[at].column.title}" for at in able}
    chosen = st.segmented_control(
        "Column", able, format_func=names.__getitem__, default=able[0], key=key, label_visibility="collapsed"
    )
    return chosen if chosen is not None and chosen in able else able[0]
