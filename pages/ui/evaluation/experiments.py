"""Built-in experiments: one button each, and their reports."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import streamlit as st

from core.access import Actor
from core.evaluation.reports import charts as figures
from core.services.evaluation.experiments import EXPERIMENTS
from core.services.evaluation.experiments.context import ExperimentOptions
from pages.ui import actions, charts, dialogs, flash, identity, progress, style
from pages.ui.home import empty
from pages.ui.workspace import app

ICONS = {
    "compliance": "rule",
    "chunking": "content_cut",
    "cascade": "stacks",
    "support": "support_agent",
    "thesis": "school",
}

_FEW = "Where a language model helps to build indexes, a dozen documents take minutes and all of them perhaps hours."


def draw(queryset: str) -> None:
    with st.container(horizontal=True):
        limit = _most("questions, evenly from every category", "experiment_limit", 50)
        documents = _most("documents, in a workspace of their own", "experiment_documents", 10, _FEW)
    names = list(EXPERIMENTS)
    for first in range(0, len(names), 2):
        for cell, name in zip(st.columns(2), names[first : first + 2], strict=False):
            with cell.container(border=True, height="stretch", key=f"experiment_{name}"):
                _card(name, queryset, limit, documents)
    progress.draw(("experiment",))
    _reports()


def _most(what: str, key: str, step: int, about: str | None = None) -> int:
    """How much of something an experiment takes."""
    label = f"At most so many {what}; 0 takes all"
    return int(st.number_input(label, 0, 100_000, 0, step=step, key=key, width=416, help=about))


def _card(name: str, queryset: str, limit: int, documents: int) -> None:
    experiment = EXPERIMENTS[name]
    st.markdown(f":material/{ICONS[name]}: **{experiment.title}**")
    st.caption(experiment.about)
    on = f"On {queryset}." if queryset else "On known items, which are made first."
    if st.button("Run", key=f"do_{name}", icon=":material/play_arrow:", help=on):
        options = ExperimentOptions(documents=documents)
        calls = app().evaluation.experiments.estimate(identity.me(), name, queryset, limit, options)
        begin = partial(start, name=name, queryset=queryset, limit=limit, documents=documents)
        actions.after_estimate(experiment.title, calls, begin)


def start(actor: Actor, name: str, queryset: str, limit: int, documents: int = 0) -> str:
    job = app().evaluation.experiments.start(actor, name, queryset, limit, documents)
    return f"{EXPERIMENTS[name].title} started as job {job.id}. Its report will be listed here."


def _reports() -> None:
    st.header("Reports", anchor=False)
    reports = app().evaluation.experiments.reports(identity.me())
    if not reports:
        empty.state(
            "description", "No report yet", "Run an experiment; its report opens here and anywhere.", "no_reports"
        )
        return
    for path in reports[:20]:
        _report(path)


def _report(path: Path) -> None:
    values = app().evaluation.experiments.values(identity.me(), path)
    facts = values.get("facts", {})
    with st.container(border=True, horizontal=True, vertical_alignment="center", key=f"report_{path.stem}"):
        with st.container(gap="xxsmall", width="stretch"):
            st.markdown(f"**{flash.plain(values.get('title') or path.stem)}**")
            made = style.moment(facts["made"]) if "made" in facts else path.name
            st.caption(flash.plain(" · ".join(part for part in (made, facts.get("query set", "")) if part)))
        if values.get("runs") and st.button("Open", key=f"open_{path.stem}", icon=":material/open_in_full:"):
            show_report(str(path))
        st.download_button(
            "HTML",
            path.read_bytes,
            path.name,
            "text/html",
            key=f"take_{path.stem}",
            icon=":material/download:",
            on_click="ignore",
        )


@dialogs.dialog("Report", width="large")
def show_report(path: str) -> None:
    """The main figures; the HTML file has everything."""
    identity.require("run an evaluation")
    values = app().evaluation.experiments.values(identity.me(), Path(path))
    runs = sorted(values["runs"], key=lambda run: -run["figures"].get("nDCG@10", 0.0))
    st.markdown(f"**{flash.plain(values.get('title', ''))}**")
    columns = [name for name in ("nDCG@10", "Recall@5", "Recall@10", "MRR@10", "P@5") if name in runs[0]["figures"]]
    rows = [
        {"Configuration": run["name"], **{name: run["figures"].get(name) for name in columns}, "p50 ms": run["times"]["total"]["p50"]}
        for run in runs
    ]  # fmt: skip
    decimals = {name: st.column_config.NumberColumn(format="%.3f") for name in columns}
    st.dataframe(rows, hide_index=True, key="report_rows", column_config=decimals)
    groups = list(runs[0]["categories"])
    table = [[run["categories"].get(name, 0.0) for name in groups] for run in runs]
    charts.show(figures.heatmap([run["name"] for run in runs], groups, table, "nDCG@10"), "report_heat")
