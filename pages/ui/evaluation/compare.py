"""Two runs compared: the verdict with its interval, by category, and question by question."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import streamlit as st

from core.evaluation.runs.comparisons import QuestionRow, RunComparison
from core.evaluation.runs.run import Run
from core.services.playground.compare import Column
from core.services.playground.notebook import Setup
from pages.ui import charts, flash, identity, keys, verdicts
from pages.ui.workspace import app, run_comparison
from pages.ui.workspace import run as with_questions

ORDERS = {"Losses first": 1, "Wins first": -1}
_SIGNED = {
    "Difference": st.column_config.NumberColumn(format="%+.3f"),
    "Before": st.column_config.NumberColumn(format="%.3f"),
    "After": st.column_config.NumberColumn(format="%.3f"),
}


def draw(runs: Sequence[Run], names: Mapping[str, str], measure: str) -> None:
    st.header("Compare two runs", anchor=False)
    if len(runs) < 2:
        st.caption("Run a second configuration to compare.")
        return
    ids = [run.id for run in runs]
    first, second = st.columns(2)
    before = str(
        first.selectbox(
            "From",
            ids,
            ids.index(app().evaluation.runs.serving(runs) or ids[0]),
            format_func=names.__getitem__,
            key="versus_before",
        )
    )
    others = [run_id for run_id in ids if run_id != before]
    best = max(others, key=lambda run_id: next(run.figures[measure] for run in runs if run.id == run_id))
    after = str(second.selectbox("To", others, others.index(best), format_func=names.__getitem__, key="versus_after"))
    if not all(with_questions(run_id, identity.me()).results for run_id in (before, after)):
        st.caption("All of their questions are about documents that you may not read.")
        return
    comparison = run_comparison(before, after, measure, identity.me())
    _verdict(comparison)
    _categories(comparison)
    _questions(comparison)


def _verdict(comparison: RunComparison) -> None:
    overall = comparison.overall
    verdicts.box(overall.verdict, flash.plain(overall.sentence))
    charts.tiles(
        {
            f"Difference of {comparison.measure}": f"{overall.difference.mean:+.3f}",
            "Interval": f"{overall.difference.low:+.3f} to {overall.difference.high:+.3f}",
            "Wins · ties · losses": f"{overall.wins} · {overall.ties} · {overall.losses}",
            "Questions": f"{overall.queries:,}",
        },
        "versus_tiles",
    )
    st.caption(flash.plain(f"{comparison.spent} {comparison.note}".strip()))


def _categories(comparison: RunComparison) -> None:
    if len(comparison.by_category) < 2:
        return
    rows = [
        {
            "Category": name.replace("_", " "),
            "Difference": result.difference.mean,
            "Interval": f"{result.difference.low:+.3f} to {result.difference.high:+.3f}",
            "Wins": result.wins,
            "Ties": result.ties,
            "Losses": result.losses,
            "Verdict": result.word.capitalize(),
        }
        for name, result in comparison.by_category.items()
    ]
    st.dataframe(rows, hide_index=True, key="versus_categories", column_config=_SIGNED)


def _questions(comparison: RunComparison) -> None:
    """Sorted by difference; each question opens in the playground, where every rank is explained."""
    order = st.segmented_control(
        "Order", list(ORDERS), default="Losses first", key="versus_first", required=True, label_visibility="collapsed"
    )
    rows = [row for row in comparison.rows if abs(row.difference) > 1e-9][:: ORDERS[str(order)]]
    if not rows:
        st.caption("No question is answered differently.")
        return
    st.dataframe(
        [_line(row) for row in rows],
        hide_index=True,
        key="versus_rows",
        height=300,
        column_config={**_SIGNED, "Playground": st.column_config.ButtonColumn("", type="tertiary", key="versus_click")},
    )
    clicked = st.session_state.get("versus_click")
    if clicked and clicked["row"] < len(rows):
        _open(comparison, rows[clicked["row"]])
    with st.container(border=True, horizontal=True, vertical_alignment="center", key="versus_one"):
        first = rows[0]
        st.markdown(f"**{flash.plain(first.text)}** {first.before:.3f} → {first.after:.3f}", width="stretch")
        if st.button("Open in the playground", icon=":material/compare_arrows:", key="versus_open"):
            _open(comparison, first)


def _open(comparison: RunComparison, row: QuestionRow) -> None:
    link = app().playground.notebook.keep(identity.me(), setup(comparison, row))
    st.switch_page("pages/playground.py", query_params={keys.LINK: link})


def _line(row: QuestionRow) -> dict[str, object]:
    return {
        "Playground": "Open",
        "Difference": row.difference,
        "Question": row.text,
        "Category": row.category.replace("_", " "),
        "Before": row.before,
        "After": row.after,
        "First before": row.first_before,
        "First after": row.first_after,
    }


def setup(comparison: RunComparison, row: QuestionRow) -> Setup:
    """A playground with the question and both configurations side by side."""
    pair = tuple(with_questions(run.id, identity.me()) for run in (comparison.before, comparison.after))
    return Setup(" ".join(row.text.split()), tuple(Column(run.profile, run.config) for run in pair))
