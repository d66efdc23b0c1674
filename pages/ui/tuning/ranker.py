"""The Ranker tab: learn an order from judged questions, and see whether it beats production on questions it has not seen."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import streamlit as st

from core.access import Actor, allowed
from core.evaluation.learning.lambdamart import LEAST
from core.evaluation.reports import charts as drawn
from core.evaluation.statistics import BETTER, OPEN
from core.retrieval import config as configs
from core.retrieval.presets import spell
from core.retrieval.rerankers.features import ABOUT
from pages.ui import actions, charts, flash, identity, style, verdicts
from pages.ui.home import empty
from pages.ui.tuning.state import TuningSet
from pages.ui.workspace import app

SHOWN = 12  # features in the chart
SECONDS = 0.15  # for one question, searching and learning


def draw(tuning_set: TuningSet) -> None:
    """The form, then the evidence of the last training."""
    _form(tuning_set)
    job = app().evaluation.jobs.last(identity.me(), "ranker", tuning_set.queryset)
    if job is None:
        empty.state(
            "sort",
            "No ranker was trained on this query set",
            "A ranker learns from judged questions which signs matter: words in titles, places, length, links, dates. "
            f"It needs at least {2 * LEAST} judged questions, and it is worth having when it beats what is in production.",
            "no_ranker",
        )
        return
    _verdict(job.result)
    _features(job.result["importances"])
    _measure(job.result, tuning_set.queryset)


def _form(tuning_set: TuningSet) -> None:
    names = [summary.name for summary in app().evaluation.querysets.listed(identity.me())]
    with st.container(horizontal=True, vertical_alignment="bottom"):
        chosen = st.multiselect(
            "Learn from",
            names,
            [tuning_set.queryset],
            key="ranker_sets",
            width=420,
            help="Half of the questions teach; what was learned is judged on the others.",
        )
        may = allowed(identity.me(), "change what is in production")
        if st.button("Train", icon=":material/model_training:", type="primary", key="ranker_go", disabled=not (may and chosen), help="Admins train, since a ranker can be put into production."):  # fmt: skip
            _confirm(chosen)


def _confirm(querysets: Sequence[str]) -> None:
    current = app()
    count = sum(len(current.evaluation.querysets.show(identity.me(), name).questions) for name in querysets)
    actions.confirm(
        f"Train a ranker on {style.count(count, 'question')}?",
        [
            f"Every question is searched once and read: about {max(1, round(count * SECONDS / 60))} min in the background; it can be stopped.",
            "Nothing changes for anybody until a run with it is promoted.",
        ],
        "Train",
        partial(start, querysets=list(querysets)),
    )


def start(actor: Actor, querysets: list[str]) -> str:
    return f"Training as job {app().evaluation.jobs.learn_ranker(actor, querysets).id}."


def _verdict(result: dict[str, Any]) -> None:
    verdicts.box(BETTER if result["wins"] else OPEN, flash.plain(result["advice"]))
    if result["note"]:
        st.caption(flash.plain(result["note"]))
    before, after = (result["quality"][way]["mean"] for way in ("production", "ranker"))
    gap = result["unseen"]["difference"]
    charts.tiles(
        {
            "nDCG@10 in production": f"{before:.3f}",
            "with the ranker": f"{after:.3f}",
            "95 % interval": f"{gap['low']:+.3f} to {gap['high']:+.3f}",
            "Trees": f"{result['rounds']}",
        },
        "ranker_tiles",
    )
    st.caption(flash.plain(f"All questions, each by trees that have not seen it: {result['unseen']['sentence']} The half that promotions are judged on: {result['held_out']['sentence']}"))  # fmt: skip


def _features(importances: dict[str, float]) -> None:
    if not importances:
        return
    st.markdown("**What the trees look at**")
    top = dict(list(importances.items())[:SHOWN])
    figure = drawn.bars(list(top), {"share": list(top.values())}, "", colours=(style.CONFIGURATIONS[0],))
    figure["layout"]["height"] = 280
    charts.show(figure, "ranker_features")
    with st.expander("What these mean", key="ranker_words"):
        for name in top:
            st.markdown(f"- **{name}**: {ABOUT[name]}")


def _measure(result: dict[str, Any], queryset: str) -> None:
    """A run with it, which can be promoted under Production."""
    config = spell(configs.from_mapping(result["config"]))
    with st.container(horizontal=True, vertical_alignment="center"):
        if st.button("Measure as a run", icon=":material/straighten:", key="ranker_run", help="Runs it and production, so that they can be weighed under Production."):  # fmt: skip
            actions.do(partial(run, queryset=queryset, config=config))
            st.rerun()
        st.caption(flash.plain(result["model"]))


def run(actor: Actor, queryset: str, config: str) -> str:
    """Run the search with the ranker and production."""
    now = app().platform.settings.production()
    pairs = [(now.profile.name, config), (now.profile.name, spell(now.config))]
    return f"Started as job {app().evaluation.runs.start(actor, queryset, pairs).id}; then weigh it under Production."
