"""Charts from core on a page, recoloured to suit the light and the dark theme, and numbers as tiles."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import streamlit as st

from core.evaluation.reports.charts import BLUE, Figure

_BLUE, _BAND = "#3d8fd1", "rgba(61,143,209,0.2)"  # readable on white and on black
_GRID = "rgba(122,135,148,0.22)"


def show(figure: Figure, key: str) -> None:
    st.plotly_chart(themed(figure), width="stretch", config={"displayModeBar": False}, key=key)


def themed(figure: Figure) -> Figure:
    """The chart without its own font, so that Streamlit's theme sets it, and with colours for any background."""
    figure = json.loads(json.dumps(figure).replace(BLUE, _BLUE).replace("rgba(31,95,168,0.15)", _BAND))
    layout: dict[str, Any] = {name: value for name, value in figure["layout"].items() if name != "font"}
    for axis in ("xaxis", "yaxis", *(layout.keys() & {"xaxis2", "yaxis2"})):
        layout[axis] = {**layout.get(axis, {}), "gridcolor": _GRID, "zeroline": False}
    return {"data": figure["data"], "layout": layout}


def tiles(values: Mapping[str, str], key: str) -> None:
    """One tile per value, as wide as its number."""
    with st.container(horizontal=True, key=f"tiles_{key}"):
        for label, value in values.items():
            st.metric(label, value, border=True, width="content")
