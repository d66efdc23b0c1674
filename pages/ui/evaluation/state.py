"""Which query set and which measure the page is about, and the names that its runs go by."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import streamlit as st

from core import profiles
from core.access import allowed
from core.evaluation.runs import Run, label
from core.evaluation.series import distinct
from core.retrieval import config as configs
from core.types import SearchConfig
from pages.ui import empty, identity, keys
from pages.ui.playground.serving import choices
from pages.ui.workspace import app, generation

FIRST = ("nDCG@10", "Recall@5", "Recall@10", "MRR@10", "MAP@10", "P@1", "P@5")


def require_index() -> None:
    """Without an index nothing can be measured; the page says so and stops."""
    if generation():
        return
    with empty.state(
        "database_off",
        "There is no index yet",
        "Questions are asked of an index. Build one, then come back.",
        "no_index",
    ):
        if allowed(identity.me(), "see the index") and st.button("Go to Index", icon=":material/database:"):
            st.switch_page("pages/index.py")
    st.stop()


def choose() -> str:
    """The query set in question; "" when there is none."""
    names = [one.name for one in app().evaluation.querysets.all()]
    if not names:
        return ""
    if st.session_state.get(keys.QUERYSET) not in names:
        st.session_state.pop(keys.QUERYSET, None)
    return str(
        st.selectbox(
            "Query set", names, key=keys.QUERYSET, width=280, bind="query-params", label_visibility="collapsed"
        )
    )


def measures(runs: Sequence[Run]) -> list[str]:
    """Measures that every run has, the usual ones first."""
    shared = [name for name in runs[0].figures if all(name in run.figures for run in runs)]
    return [name for name in FIRST if name in shared] + [name for name in shared if name not in FIRST]


def names(runs: Sequence[Run]) -> dict[str, str]:
    """What people call each run: its method, or the title of a preset where the method has no short name."""
    titles = {_same(config): title for title, config in choices().items() if title != "Production"}
    given = {run.id: f"{_profile(run)}{titles.get(_same(run.config), label(run.config))}" for run in runs}
    now = app().platform.settings.production()
    ours = (profiles.identity(now.profile), configs.identity(now.config))
    told = distinct(runs, given)
    return {
        run.id: f"{told[run.id]} · production" if (run.profile_digest, run.config_digest) == ours else told[run.id]
        for run in runs
    }


def _profile(run: Run) -> str:
    return "" if run.profile == app().platform.settings.production().profile.name else f"{run.profile}: "


def _same(config: SearchConfig) -> str:
    """A configuration whatever its depth and length."""
    return configs.identity(replace(config, depth=1, k=1, rerank_depth=1))
