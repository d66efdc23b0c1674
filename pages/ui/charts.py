"""Charts from core on a page, recoloured to suit the light and the dark theme, and numbers as tiles."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import streamlit as st

from core.evaluation.reports.charts import BLUE, ONE_HUE, Figure

_BLUE, _BAND = "#3d8fd1", "rgba(61,143,209,0.2)"  # readable on white and on black
_GRID = "rgba(122,135,148,0.22)"
_DARK_HUE = ("#17212c", "#2d5f96")  # light figures are readable on all of it


def show(figure: Figure, key: str) -> None:
    dark = st.context.theme.type == "dark"
    st.plotly_chart(themed(figure, dark), width="stretch", config={"displayModeBar": False}, key=key)


def themed(figure: Figure, dark: bool = False) -> Figure:
    """The chart without its own font, so that Streamlit's theme sets it, and with colours for any background.

    A map of heat is as dark as its page.
    """
    text = json.dumps(figure).replace(BLUE, _BLUE).replace("rgba(31,95,168,0.15)", _BAND)
    for (_, light), shade in zip(ONE_HUE if dark else (), _DARK_HUE, strict=False):
        text = text.replace(str(light), shade)
    figure = json.loads(text)
    layout: dict[str, Any] = {name: value for name, value in figure["layout"].items() if name != "font"}
    for axis in ("xaxis", "yaxis", *(layout.keys() & {"xaxis2", "yaxis2"})):
        layout[axis] = {**layout.get(axis, {}), "gridcolor": _GRID, "zeroline": False}
    return {"data": figure["data"], "layout": layout}


def tiles(values: Mapping[str, str], key: str) -> None:
    """One tile per value, as wide as its number."""
    with st.container(horizontal=True, key=f"tiles_{key}"):
        for label, value in values.items():
            st.metric(label, value, border=True, width="content")
