"""Numbers with their names, side by side; they wrap instead of being cut off."""

from __future__ import annotations

from collections.abc import Mapping

import streamlit as st


def draw(values: Mapping[str, str], key: str) -> None:
    """One tile per value, as wide as its number."""
    with st.container(horizontal=True, key=f"tiles_{key}"):
        for label, value in values.items():
            st.metric(label, value, border=True, width="content")
