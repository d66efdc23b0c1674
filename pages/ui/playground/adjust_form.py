"""The Adjust dialog: the values that matter for a column's legs, each with a sentence, built from the records of
methods.
"""

from __future__ import annotations

import uuid
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import streamlit as st

from core.errors import ConcordError
from core.retrieval import config as configs
from core.retrieval.fusions import FUSIONS
from core.retrieval.legs import LEGS
from core.retrieval.parameters import FUSING, PARAMETERS
from core.retrieval.presets import follow
from core.retrieval.rerankers import RERANKERS
from core.services.playground.compare import Column
from core.types import FIELDS, Frozen, SearchConfig
from pages.ui import dialogs, flash, identity, style
from pages.ui.configurations import choices
from pages.ui.playground import state
from pages.ui.workspace import app

LABELS = {"missing": "Missing scores", "alpha_from": "Alpha from", "hyde": "HyDE", "rerank_prompt": "Prompt"}
LABELS |= {"alpha_model": "Trained model", "rerank_model": "Model"}
SENTENCES = {
    "hyde": "A language model imagines an answer, and its meaning is searched for instead of the question's.",
    "parents": "Searches small passages and returns the larger parts they were cut from, where a profile has them.",
    "synonyms": "Words are also searched for as the knowledge base says them otherwise.",
    "pins": "The document that is pinned to a question stands first.",
    "documents": "Ranks documents by their best passages: one hit each, further passages below it.",
    "collapse": "Lists near-copies once: the best one stands for all and names the others.",
    "alpha_model": "Predicts alpha for every query; trained under Tuning.",
    "rerank_model": "Reads the query with every passage.",
}
ORDER = (
    *("fusion", "normalisation", "missing", "alpha_from", "alpha_model", *FUSING, "depth", "k"),
    *("rerank", "tau", "reranker", "rerank_model", "rerank_prompt", "rerank_orders", "rerank_depth", "rerank_blend"),
    *("hyde", "parents", "documents", "collapse", "synonyms", "pins"),
)


def show(at: int) -> None:
    """Open the dialog on one column; fresh widget keys, so that it shows the values of this column."""
    _dialog(at, f"adjust_{at}_{uuid.uuid4().hex}")


@dialogs.dialog("Configuration", width="medium")
def _dialog(at: int, prefix: str) -> None:
    """Apply ranks the column again from the cache; Save stores the configuration for the team."""
    identity.require("compare configurations")
    now = state.setup()
    if at >= len(now.columns):
        return
    column = now.columns[at]
    st.caption(f"Column {'ABCD'[at]}: {flash.plain(column.title)}. Only what matters for the chosen legs is shown.")
    config = _chosen(column.config, prefix)
    name = st.text_input("Name", value=column.name, key=f"{prefix}_name", max_chars=60)
    with st.container(horizontal=True, horizontal_alignment="right"):
        if st.button("Save for the team", key="adjust_save"):
            _apply(at, name, config, save=True)
        if st.button("Apply", type="primary", key="adjust_apply"):
            _apply(at, name, config, save=False)


def _chosen(config: SearchConfig, prefix: str) -> SearchConfig:
    """One widget after the other; each choice decides which of the next ones there are."""
    legs = _legs(config, prefix)
    if not legs:
        return replace(config, legs=())
    config = configs.fitting(replace(config, legs=tuple(legs)))
    left, right = st.columns(2)
    shown = 0
    for field in ORDER:
        if field in configs.relevant(config):
            with (left, right)[shown % 2]:
                value = _widget(field, config, prefix)
            config = configs.fitting(replace(config, **{field: value}))
            shown += 1
    weights = _weights(config, legs, prefix) if "weights" in configs.relevant(config) else {}
    fields = _fields(config, prefix) if "fields" in configs.relevant(config) else {}
    engines = _engines(config, legs, prefix)
    chosen = replace(config, weights=Frozen(weights), fields=Frozen(fields), engines=Frozen(engines))
    return configs.fitting(chosen)


def _legs(config: SearchConfig, prefix: str) -> list[str]:
    legs = st.multiselect("Legs", list(LEGS), list(config.legs), key=f"{prefix}_legs", format_func=style.stage_title)
    st.caption(" ".join(LEGS[leg].about for leg in legs) or "Choose at least one way to search.")
    return legs


def _widget(name: str, config: SearchConfig, prefix: str) -> Any:
    """The widget of a field and one sentence about it; choices and sentences come from the records of the methods."""
    label, key, value = LABELS.get(name, name.replace("_", " ").capitalize()), f"{prefix}_{name}", getattr(config, name)
    if name in PARAMETERS:
        knob = PARAMETERS[name]
        number = st.number_input(knob.title, knob.low, knob.high, value, step=knob.step, key=key)
        st.caption(knob.about)
        return number
    if name in configs.CHOICES:
        known = _known(name)
        chosen = st.selectbox(label, list(known), list(known).index(value), key=key, help=_listed(known))
        st.caption(str(getattr(known[chosen], "about", known[chosen])))
        return chosen
    if name in ("alpha_model", "rerank_model"):
        return _model(name, label, config, key)
    switched = st.toggle(label, value, key=key)
    st.caption(SENTENCES[name])
    return switched


def _known(name: str) -> Mapping[str, Any]:
    """What a field may name; prompts also those that were tuned here."""
    choices = configs.CHOICES[name].items()
    known = {choice: record for choice, record in choices if name != "fusion" or FUSIONS[choice].several}
    tuned = app().platform.settings.prompts() if name == "rerank_prompt" else ()
    return {**known, **{prompt.title: prompt.prompt for prompt in tuned}}


def _model(name: str, label: str, config: SearchConfig, key: str) -> str:
    """A model from what there is, and the one that the configuration names already."""
    offered = app().index.admin.models_offered(identity.me())
    names = app().tuning.alphas.names() if name == "alpha_model" else offered.rerankers
    if name == "rerank_model" and RERANKERS[config.reranker].asks != ("reranker",):
        names = app().tuning.ranker_files.names() if config.reranker == "learned" else offered.llms
    now = getattr(config, name)
    usual = [] if name == "alpha_model" else [""]
    listed = list(dict.fromkeys([*usual, *([now] if now else []), *names]))
    chosen = st.selectbox(
        label,
        listed,
        listed.index(now) if now in listed else 0,
        key=key,
        format_func=lambda model: model or "the usual one",
        placeholder="None was trained yet",
    )
    st.caption(SENTENCES[name])
    return str(chosen or "")


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


def _fields(config: SearchConfig, prefix: str) -> dict[str, float]:
    """What each field adds to words; 0 leaves it out."""
    st.caption("What words in a field add, beside the passage. 1 is worth ten points of BM25 for a perfect fit.")
    cells = [cell for _ in range(0, len(FIELDS), 3) for cell in st.columns(3)]
    weights = {
        name: cell.number_input(
            name.capitalize(),
            0.0,
            float(configs.MOST),
            float(config.fields.get(name, 0.0)),
            step=0.5,
            key=f"{prefix}_field_{name}",
            help=about,
        )
        for cell, (name, about) in zip(cells, FIELDS.items(), strict=True)
    }
    return {name: weight for name, weight in weights.items() if weight}


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


def _apply(at: int, name: str, config: SearchConfig, *, save: bool) -> None:
    try:
        config = configs.check(config)
        now, actor = state.setup(), identity.me()
        old = now.columns[at]
        renamed = " ".join(name.split())
        if config != old.config and name == old.name and not save:
            renamed = follow(old.name, config, choices(actor)) or configs.name(config)
        column = Column(old.profile, config, renamed)
        if save:
            column = app().playground.notebook.save(actor, column)
            flash.say(f"Saved as {column.name}. Everybody finds it in the list of configurations.")
        columns = [*now.columns]
        columns[at] = column
        state.put(replace(now, columns=tuple(columns)))
    except ConcordError as error:
        st.error(flash.refused(error))
        return
    st.rerun()
