"""The Embedder tab: fine-tune the embedder on judged questions, and see whether its profile beats production."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import streamlit as st

from core.access import Actor, allowed
from core.evaluation.learning.triplets import LEAST, FineTuning
from core.evaluation.reports import charts as drawn
from core.evaluation.statistics import BETTER, OPEN
from pages.ui import actions, charts, flash, identity, style, verdicts
from pages.ui.home import empty
from pages.ui.tuning.state import TuningSet
from pages.ui.workspace import app


def draw(tuning_set: TuningSet) -> None:
    """The form, then the evidence of the last training."""
    _form(tuning_set)
    job = app().evaluation.jobs.last(identity.me(), "embedder", tuning_set.queryset)
    if job is None:
        empty.state(
            "neurology",
            "No embedder was trained on this query set",
            "Training brings questions nearer to the passages that answer them and away from those that only look alike. "
            f"It needs at least {LEAST} judged questions to learn from, and gains most with several hundred.",
            "no_embedder",
        )
        return
    _verdict(job.result)


def _form(tuning_set: TuningSet) -> None:
    names = [summary.name for summary in app().evaluation.querysets.listed(identity.me())]
    may = allowed(identity.me(), "change what is in production")
    with st.container(horizontal=True, vertical_alignment="bottom"):
        chosen = st.multiselect(
            "Learn from",
            names,
            [tuning_set.queryset],
            key="embedder_sets",
            width=420,
            help="Half of the questions teach; what was learned is judged on the others.",
        )
        epochs = st.number_input("Epochs", 1, 20, FineTuning().epochs, key="embedder_epochs", width=120, help="How often each question is learned from.")  # fmt: skip
        if st.button("Train", icon=":material/model_training:", type="primary", key="embedder_go", disabled=not (may and chosen), help="Admins train, since an embedder can be put into production."):  # fmt: skip
            _confirm(chosen, int(epochs))


def _confirm(querysets: Sequence[str], epochs: int) -> None:
    current = app()
    count = sum(len(current.evaluation.querysets.show(identity.me(), name).questions) for name in querysets)
    chunks = current.search.searcher.index(words=True).size
    actions.confirm(
        f"Train an embedder on {style.count(count, 'question')}?",
        [
            f"{style.count(epochs, 'epoch')}. How long that takes is shown once the first step is measured: minutes on a GPU, hours on a processor.",
            f"Then {style.count(chunks, 'passage')} are embedded for a profile of its own.",
            "It can be stopped at any time. Nothing changes for anybody until a run with it is promoted.",
        ],
        "Train",
        partial(start, querysets=list(querysets), epochs=epochs),
    )


def start(actor: Actor, querysets: list[str], epochs: int) -> str:
    return f"Training as job {app().evaluation.jobs.train_embedder(actor, querysets, epochs).id}."


def _verdict(result: dict[str, Any]) -> None:
    verdicts.box(BETTER if result["wins"] else OPEN, flash.plain(result["advice"]))
    training = result["training"]
    for name, compared in result["compared"].items():
        gap = compared["difference"]
        charts.tiles(
            {
                f"nDCG@10 on {flash.plain(name)}, before": f"{compared['before']:.3f}",
                "after": f"{compared['after']:.3f}",
                "95 % interval": f"{gap['low']:+.3f} to {gap['high']:+.3f}",
            },
            f"embedder_{name}",
        )
    st.caption(
        flash.plain(
            f"{result['base']}, {style.count(result['learned_from'], 'question')}, {style.count(training['steps'], 'step')} in "
            f"{training['seconds']:.0f} s on {training['device']}. The profile {result['profile']} is built; promote its run under Production."
        )
    )
    st.markdown("**Loss** by step")
    losses = training["losses"]
    charts.show(drawn.lines(list(range(1, len(losses) + 1)), {"loss": losses}, "step", "loss"), "embedder_losses")
