"""The choice of the column that a chart of the playground shows."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from core.services.playground.compare import Comparison
from pages.ui.playground import column_data


def pick(comparison: Comparison, columns: Sequence[int], key: str) -> int:
    """The chosen column; the control is shown only where there are several."""
    if len(columns) == 1:
        return columns[0]
    names = {n: f"{column_data.LETTERS[n]} · {comparison.outcomes[n].column.title}" for n in columns}
    chosen = st.segmented_control(
        "Column", columns, format_func=names.__getitem__, default=columns[0], key=key, label_visibility="collapsed"
    )
    return chosen if chosen is not None and chosen in columns else columns[0]
