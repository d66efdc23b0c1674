"""The query set that Evaluation and Tuning work on, the check that there is an index to ask, and how runs
are called.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import streamlit as st

from core.evaluation.runs.run import Run, distinct
from core.retrieval import config as configs
from core.types import SearchConfig
from pages.ui import flash, identity, keys
from pages.ui.configurations import called, choices
from pages.ui.home import empty
from pages.ui.workspace import app, generation

FIRST = ("nDCG@10", "Recall@5", "Recall@10", "MRR@10", "MAP@10", "P@1", "P@5")


def require_index() -> None:
    """Stop the page where there is no index, and say so."""
    if generation():
        return
    empty.no_index("Questions are asked of an index.")
    st.stop()


def choose_query_set() -> str:
    """The name of the chosen query set; "" when there is none."""
    names = [queryset.name for queryset in app().evaluation.querysets.listed(identity.me())]
    if not names:
        return ""
    chosen = st.session_state.get(keys.QUERYSET, st.query_params.get(keys.QUERYSET))
    if chosen not in names:
        st.session_state[keys.QUERYSET], _ = app().tuning.production.default_queryset(identity.me())
    return str(
        st.selectbox(
            "Query set",
            names,
            key=keys.QUERYSET,
            width=280,
            bind="query-params",
            label_visibility="collapsed",
        )
    )


def say_why(queryset: str) -> None:
    """Which set the figures are about, and which one would be the usual one."""
    usual, why = app().tuning.production.default_queryset(identity.me())
    if queryset == usual:
        st.caption(f"Measured on **{flash.plain(queryset)}**: {why}.")
    else:
        st.caption(f"Measured on **{flash.plain(queryset)}**. The usual set is {flash.plain(usual)}: {why}.")


def shared_measures(runs: Sequence[Run]) -> list[str]:
    """Measures that every run has, the usual ones first."""
    shared = [name for name in runs[0].figures if all(name in run.figures for run in runs)]
    return [name for name in FIRST if name in shared] + [name for name in shared if name not in FIRST]


def names(runs: Sequence[Run]) -> dict[str, str]:
    """A name per run: the title of its preset, else its method; production is marked."""
    titles = {_digest(config): title for title, config in choices(identity.me()).items() if title != "Production"}
    methods = {run.id: f"{_profile(run)}{titles.get(_digest(run.config), called(run.config))}" for run in runs}
    unique, production = distinct(runs, methods), app().evaluation.runs.serving(runs)
    return {number: f"{name} · production" if number == production else name for number, name in unique.items()}


def _profile(run: Run) -> str:
    return "" if run.profile == app().platform.settings.production().profile.name else f"{run.profile}: "


def _digest(config: SearchConfig) -> str:
    """A configuration whatever its depth and length."""
    return configs.identity(replace(config, depth=1, k=1, rerank_depth=1))
