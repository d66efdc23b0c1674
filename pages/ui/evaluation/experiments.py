"""Built-in experiments: one button each, and the reports they left."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import streamlit as st

from core.access import Actor
from core.evaluation import charts as drawn
from core.services.evaluation.experiments import EXPERIMENTS
from pages.ui import acts, charts, empty, flash, identity, progress, style
from pages.ui.workspace import app

ICONS = {"compliance": "rule", "chunking": "content_cut", "cascade": "stacks", "pairs": "join_inner"}


def draw(chosen: str) -> None:
    """Four cards, what runs, what was written."""
    limit = int(
        st.number_input(
            "At most so many questions, evenly from every category; 0 takes all",
            0,
            100_000,
            0,
            step=50,
            key="experiment_limit",
            width=460,
        )
    )
    for pair in (list(EXPERIMENTS)[:2], list(EXPERIMENTS)[2:]):
        for cell, name in zip(st.columns(2), pair, strict=False):
            with cell.container(border=True, height="stretch", key=f"experiment_{name}"):
                _card(name, chosen, limit)
    progress.draw(("experiment",))
    _reports()


def _card(name: str, chosen: str, limit: int) -> None:
    one = EXPERIMENTS[name]
    st.markdown(f":material/{ICONS[name]}: **{one.title}**")
    st.caption(one.about)
    on = f"On {chosen}." if chosen else "On known items, which are made first."
    if st.button("Run", key=f"do_{name}", icon=":material/play_arrow:", help=on):
        acts.do(partial(start, name=name, queryset=chosen, limit=limit))
        st.rerun()


def start(actor: Actor, name: str, queryset: str, limit: int) -> str:
    """Do an experiment in the background."""
    job = app().evaluation.experiments.start(actor, name, queryset, limit)
    return f"{EXPERIMENTS[name].title} started as job {job.id}. Its report will be listed here."


def _reports() -> None:
    st.subheader("Reports", anchor=False)
    found = app().evaluation.experiments.reports()
    if not found:
        empty.state(
            "description", "No report yet", "Run an experiment; its report opens here and anywhere.", "no_reports"
        )
        return
    for path in found[:20]:
        _report(path)


def _report(path: Path) -> None:
    values = app().evaluation.experiments.values(path)
    facts = values.get("facts", {})
    with st.container(border=True, horizontal=True, vertical_alignment="center", key=f"report_{path.stem}"):
        with st.container(gap="xxsmall", width="stretch"):
            st.markdown(f"**{flash.plain(values.get('title') or path.stem)}**")
            made = style.moment(facts["made"]) if "made" in facts else path.name
            st.caption(flash.plain(" · ".join(part for part in (made, facts.get("query set", "")) if part)))
        if values.get("runs") and st.button("Open", key=f"open_{path.stem}", icon=":material/open_in_full:"):
            look(str(path))
        st.download_button(
            "HTML",
            path.read_bytes,
            path.name,
            "text/html",
            key=f"take_{path.stem}",
            icon=":material/download:",
            on_click="ignore",
        )


@st.dialog("Report", width="large")
def look(path: str) -> None:
    """The figures of a report; the file itself has everything."""
    identity.require("run an evaluation")
    values = app().evaluation.experiments.values(Path(path))
    runs = sorted(values["runs"], key=lambda one: -one["figures"].get("nDCG@10", 0.0))
    st.markdown(f"**{flash.plain(values.get('title', ''))}**")
    columns = [name for name in ("nDCG@10", "Recall@5", "Recall@10", "MRR@10", "P@5") if name in runs[0]["figures"]]
    rows = [
        {"Configuration": one["name"], **{name: one["figures"].get(name) for name in columns}, "p50 ms": one["times"]["total"]["p50"]}
        for one in runs
    ]  # fmt: skip
    three = {name: st.column_config.NumberColumn(format="%.3f") for name in columns}
    st.dataframe(rows, hide_index=True, key="report_rows", column_config=three)
    groups = list(runs[0]["categories"])
    table = [[one["categories"].get(name, 0.0) for name in groups] for one in runs]
    charts.show(drawn.heatmap([one["name"] for one in runs], groups, table, "nDCG@10"), "report_heat")
