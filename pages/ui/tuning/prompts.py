"""The Prompts tab: let a language model rewrite its own instructions for reranking, and measure what was kept."""

from __future__ import annotations

from functools import partial
from typing import Any

import streamlit as st

from core.access import Actor, allowed
from core.evaluation.statistics import BETTER, OPEN
from core.retrieval.presets import spell
from core.retrieval.prompts import PROMPTS
from core.services.platform.settings import TunedPrompt
from core.services.tuning.prompts import ROUNDS, PromptSettings, choice
from pages.ui import actions, flash, identity, verdicts
from pages.ui.home import empty
from pages.ui.tuning.state import TuningSet
from pages.ui.workspace import app

SAMPLES = 50  # questions that are offered first; the study takes 1,000


def draw(tuning_set: TuningSet) -> None:
    """The form, what came of the last tuning, and every version."""
    if not app().settings.llm:
        empty.state(
            "edit_note",
            "No language model is configured",
            "Prompts tell a language model how to order passages. An admin sets one up with the server's settings.",
            "no_prompt_model",
        )
        return
    _form(tuning_set)
    if job := app().evaluation.jobs.last(identity.me(), "prompt", tuning_set.queryset):
        _result(job.result)
    _versions(tuning_set)


def _form(tuning_set: TuningSet) -> None:
    st.caption(
        "Where reranking lost what the first fifty held, the language model says why and rewrites its instructions. "
        "The best version is kept and scored on questions that it was not tuned on."
    )
    known = [*PROMPTS, *(tuned.title for tuned in app().tuning.prompts.listed(identity.me()))]
    with st.container(horizontal=True, vertical_alignment="bottom"):
        start = str(st.selectbox("Start from", known, key="prompt_start", width=240))
        samples = int(st.number_input("Questions", 1, 1000, SAMPLES, key="prompt_samples", width=130))
        rounds = int(st.number_input("Rewrites", 1, 100, ROUNDS, key="prompt_rounds", width=130))
        may = allowed(identity.me(), "change what is in production")
        about = "Admins tune, since a prompt can be put into production."
        if st.button("Tune", icon=":material/edit_note:", type="primary", key="prompt_go", disabled=not may, help=about):  # fmt: skip
            asked: dict[str, Any] = {"start": start, "samples": samples, "rounds": rounds}
            settings = PromptSettings(start, samples=samples, rounds=rounds)
            calls = app().tuning.prompts.estimate(identity.me(), tuning_set.queryset, settings)
            actions.after_estimate("Tuning a prompt", calls, partial(begin, queryset=tuning_set.queryset, **asked))


def begin(actor: Actor, queryset: str, start: str, samples: int, rounds: int) -> str:
    return f"Tuning as job {app().evaluation.jobs.tune_prompt(actor, queryset, start, samples, rounds).id}."


def _result(result: dict[str, Any]) -> None:
    verdicts.box(BETTER if result["kept"] else OPEN, flash.plain(result["sentence"]))
    rows = [
        {"Task": "first" if n == 0 else f"rewrite {n}", "Recall at 10": tried["recall"], "Failed": tried["failures"], "Why it was rewritten": tried["analysis"]}
        for n, tried in enumerate(result["rounds"])
    ]  # fmt: skip
    decimals = {"Recall at 10": st.column_config.NumberColumn(format="%.3f")}
    st.dataframe(rows, hide_index=True, key="prompt_rounds_table", column_config=decimals)


def _versions(tuning_set: TuningSet) -> None:
    kept = app().tuning.prompts.listed(identity.me())
    if not kept:
        return
    st.header("Versions", anchor=False)
    for tuned in reversed(kept):
        with st.expander(flash.plain(tuned.title), key=f"prompt_{tuned.title}"):
            said = str(tuned.evidence.get("sentence", ""))
            st.caption(flash.plain(said[:1].upper() + said[1:]))
            st.text(tuned.task)
            _measure(tuned, tuning_set.queryset)


def _measure(tuned: TunedPrompt, queryset: str) -> None:
    """A run of production with this prompt; the Production tab promotes it."""
    help_text = "Runs production with a language model that reranks by this prompt. Promote the run under Production."
    if st.button("Measure it", icon=":material/play_arrow:", key=f"measure_{tuned.title}", help=help_text):
        config = spell(choice(app().platform.settings.production().config, tuned.title))
        calls = app().evaluation.runs.estimate(identity.me(), queryset, [("", config)])
        actions.after_estimate(f"Measuring {tuned.title}", calls, partial(run, queryset=queryset, config=config))


def run(actor: Actor, queryset: str, config: str) -> str:
    return f"Measuring as job {app().evaluation.runs.start(actor, queryset, [('', config)]).id}."
