"""The Adjust dialog: every value of a column's configuration, built from the registries of methods."""

from __future__ import annotations

import dataclasses
import uuid
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import streamlit as st

from core.errors import ConcordError
from core.retrieval import config as configs
from core.retrieval.legs import LEGS
from core.retrieval.parameters import PARAMETERS
from core.services.playground.compare import Column
from core.types import SearchConfig
from pages.ui import flash, identity
from pages.ui.playground import state
from pages.ui.workspace import app

LABELS = {"missing": "Missing scores", "alpha_from": "Alpha from", "hyde": "HyDE"}


def show(at: int) -> None:
    """Open the dialog on one column; fresh widget keys, so that it shows the values of this column."""
    _dialog(at, f"adjust_{at}_{uuid.uuid4().hex}")


@st.dialog("Configuration", width="medium")
def _dialog(at: int, prefix: str) -> None:
    """Apply ranks the column again from the cache; Save stores the configuration for the team."""
    identity.require("compare configurations")
    now = state.setup()
    if at >= len(now.columns):
        return
    column = now.columns[at]
    st.caption(f"Column {'ABCD'[at]}: {flash.plain(column.title)}")
    left, right = st.columns(2)
    values: dict[str, Any] = {}
    for n, field in enumerate(
        field for field in dataclasses.fields(SearchConfig) if field.name not in ("weights", "engines")
    ):
        with (left, right)[n % 2]:
            values[field.name] = _widget(field.name, getattr(column.config, field.name), prefix)
    weights = _weights(column.config, values["legs"], prefix)
    values["engines"] = _engines(column.config, values["legs"], prefix)
    name = st.text_input("Name", value=column.name, key=f"{prefix}_name", max_chars=60)
    with st.container(horizontal=True, horizontal_alignment="right"):
        if st.button("Save for the team", key="adjust_save"):
            _apply(at, name, values, weights, save=True)
        if st.button("Apply", type="primary", key="adjust_apply"):
            _apply(at, name, values, weights, save=False)


def _widget(name: str, value: Any, prefix: str) -> Any:
    """The widget of a field; its choices and help come from the records of the methods."""
    label, key = LABELS.get(name, name.replace("_", " ").capitalize()), f"{prefix}_{name}"
    if name == "legs":
        return st.multiselect(label, list(LEGS), default=list(value), key=key, help=_listed(LEGS))
    if name in PARAMETERS:
        knob = PARAMETERS[name]
        return st.number_input(knob.title, knob.low, knob.high, value, step=knob.step, key=key, help=knob.about)
    if name in configs.CHOICES:
        known = configs.CHOICES[name]
        return st.selectbox(label, list(known), index=list(known).index(value), key=key, help=_listed(known))
    if isinstance(value, bool):
        return st.toggle(label, value, key=key)
    return st.text_input(label, value, key=key)


def _listed(known: Mapping[str, Any]) -> str:
    """What each choice does, one line each."""
    return "\n".join(f"- **{name}**: {getattr(record, 'about', record)}" for name, record in known.items())


def _engines(config: SearchConfig, legs: list[str], prefix: str) -> dict[str, str]:
    """The engine of each leg: the served image or the store itself, so that both can be compared."""
    offered = {leg: LEGS[leg].engines for leg in legs if LEGS[leg].engines}
    if not offered:
        return {}
    cells = st.columns(len(offered))
    chosen = {
        leg: str(
            cell.selectbox(
                f"Engine of {leg}",
                ["", *engines],
                index=["", *engines].index(config.engines.get(leg, "")),
                format_func=lambda engine: engine or "served image",
                key=f"{prefix}_engine_{leg}",
            )
        )
        for cell, (leg, engines) in zip(cells, offered.items(), strict=True)
    }
    return {leg: engine for leg, engine in chosen.items() if engine}


def _weights(config: SearchConfig, legs: list[str], prefix: str) -> dict[str, float]:
    """A weight per leg; all at zero means alpha."""
    if len(legs) < 2:
        return {}
    st.caption("Weights per leg, instead of alpha. Leave all at 0 to weigh by alpha.")
    cells = st.columns(len(legs))
    weights = {
        leg: float(
            cell.number_input(leg, 0.0, 100.0, float(config.weights.get(leg, 0.0)), key=f"{prefix}_weight_{leg}")
        )
        for leg, cell in zip(legs, cells, strict=True)
    }
    return weights if any(weights.values()) else {}


def _apply(at: int, name: str, values: dict[str, Any], weights: dict[str, float], *, save: bool) -> None:
    try:
        config = configs.from_mapping({**values, "weights": weights})
        now = state.setup()
        old = now.columns[at]
        changed = config != old.config and name == old.name and not save
        column = Column(old.profile, config, configs.name(config) if changed else " ".join(name.split()))
        if save:
            column = app().playground.notebook.save(identity.me(), column)
            flash.say(f"Saved as {column.name}. Everybody finds it in the list of configurations.")
        columns = [*now.columns]
        columns[at] = column
        state.put(replace(now, columns=tuple(columns)))
    except ConcordError as error:
        st.error(flash.plain(str(error)))
        return
    st.rerun()
