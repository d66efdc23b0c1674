"""Which configuration is best: leaderboard with intervals, heat map by category, and the way out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import streamlit as st

from core.evaluation import charts as drawn
from core.evaluation import report
from core.evaluation.comparisons import GROUPS, LeaderboardRow, grouped
from core.evaluation.exporting import RUN_FORMATS
from core.evaluation.runs import Run
from pages.ui import charts, flash, keys, style
from pages.ui.evaluation import state
from pages.ui.workspace import app, leaderboard
from pages.ui.workspace import run as with_questions

MOST_GROUPS = 12  # of a heat map, the largest
COLUMNS = ("nDCG@10", "Recall@10", "MRR@10", "P@5")
PRICE = "$ per 1,000"


def draw(runs: Sequence[Run], names: Mapping[str, str]) -> None:
    """Everything about the newest run of each configuration."""
    with st.container(horizontal=True, vertical_alignment="bottom"):
        measure = str(st.selectbox("Measure", state.measures(runs), key=keys.MEASURE, width=180))
        by = str(
            st.segmented_control(
                "Grouped by",
                list(GROUPS),
                default="category",
                format_func=str.capitalize,
                key="board_by",
                required=True,
            )
        )
        st.space("stretch")
        with st.popover("Export", icon=":material/download:", type="tertiary", key="board_export"):
            _export(runs, names, measure)
    order = leaderboard(tuple(run.id for run in runs), measure)
    _sentence(order, names, measure)
    colours = style.colours([run.id for run in runs])
    called = [names[one.run.id] for one in order]
    paid = any(run.cost for run in runs)
    rows = [_row(one, names, measure, paid) for one in order]
    st.dataframe(rows, hide_index=True, key="board", column_config=_columns(measure))
    first, second = st.columns(2)
    with first:
        figure = drawn.leaderboard(
            called, [one.figure for one in order], measure, [colours[one.run.id] for one in order]
        )
        charts.show(figure, "board_chart")
    with second:
        _heat(order, called, by, measure)
    _warnings(runs)


def _sentence(order: Sequence[LeaderboardRow], names: Mapping[str, str], measure: str) -> None:
    best = order[0]
    st.markdown(
        f"**{flash.plain(names[best.run.id])}** leads with {measure} {best.figure.mean:.3f} "
        f"({best.figure.low:.3f} to {best.figure.high:.3f}) on {style.count(best.run.questions, 'question')}."
    )
    level = [one for one in order[1:] if one.against_best and one.against_best.verdict == "not enough evidence"]
    if level:
        st.caption(
            f"Not told apart from it with 95 % certainty: {flash.plain(', '.join(names[one.run.id] for one in level))}."
        )


def _row(one: LeaderboardRow, names: Mapping[str, str], measure: str, paid: bool) -> dict[str, object]:
    shown = [name for name in COLUMNS if name in one.run.figures and name != measure]
    beside = one.against_best
    return {
        "Configuration": names[one.run.id],
        measure: one.figure.mean,
        "95 % interval": f"{one.figure.low:.3f} to {one.figure.high:.3f}",
        **{name: one.run.figures[name] for name in shown},
        "p50 ms": one.run.times["total"]["p50"],
        "p95 ms": one.run.times["total"]["p95"],
        **({PRICE: 1000 * one.run.cost} if paid else {}),
        "Against the best": "the best" if beside is None else beside.sentence,
        "Run": one.run.id[:8],
    }


def _columns(measure: str) -> dict[str, Any]:
    three = {name: st.column_config.NumberColumn(format="%.3f") for name in (measure, *COLUMNS)}
    return {
        **three,
        "p50 ms": st.column_config.NumberColumn(format="%.1f"),
        "p95 ms": st.column_config.NumberColumn(format="%.1f"),
        PRICE: st.column_config.NumberColumn(
            format="$%.2f", help="What paid models took, as if nobody had asked before."
        ),
        "Against the best": st.column_config.TextColumn(width="medium"),
    }


def _heat(order: Sequence[LeaderboardRow], called: Sequence[str], by: str, measure: str) -> None:
    groups = [grouped(one.run, by, measure) for one in order]
    many = {name: count for group in groups for name, (_, count) in group.items()}
    columns = sorted(many, key=lambda name: -many[name])[:MOST_GROUPS]
    if not columns:
        st.caption(f"No question belongs to a {by}.")
        return
    table = [[group.get(name, (0.0, 0))[0] for name in columns] for group in groups]
    figure = drawn.heatmap(called, [name.replace("_", " ") for name in columns], table, measure)
    figure["data"][0]["showscale"] = False  # every cell says its number
    charts.show(figure, "board_heat")


def _warnings(runs: Sequence[Run]) -> None:
    for line in dict.fromkeys(line for run in runs for line in run.warnings):
        st.warning(flash.plain(line), icon=":material/warning:")
    if len({(run.commit, run.queryset_digest) for run in runs}) > 1:
        st.caption("Some runs saw an older commit or older questions. Run them again to compare like with like.")
    if runs[0].unmapped:
        lost = style.count(len(runs[0].unmapped), "judgment")
        st.caption(f"{lost} found no place in this index and did not count; they are listed under Query sets.")


def _as(form: str, number: str) -> str:
    return RUN_FORMATS[form](with_questions(number))


def _export(runs: Sequence[Run], names: Mapping[str, str], measure: str) -> None:
    numbers = [run.id for run in runs]
    one = str(st.selectbox("Run", numbers, format_func=lambda number: names[number], key="export_run"))
    for form, label, ending in (("csv", "CSV, one line per question", "csv"), ("json", "JSON", "json"), ("trec-run", "TREC run", "run")):  # fmt: skip
        st.download_button(
            label,
            partial(_as, form, one),
            f"run-{one}.{ending}",
            key=f"export_{form}",
            icon=":material/download:",
            on_click="ignore",
        )
    st.download_button(
        "HTML report of all",
        lambda: report.html(
            app().evaluation.experiments.summary([with_questions(number) for number in numbers], measure)
        ),
        f"evaluation-{runs[0].queryset}.html",
        "text/html",
        key="export_html",
        icon=":material/download:",
        on_click="ignore",
    )
