"""From question to answer, on Home: what people asked and found, gaps and how fast they close, findability by merge."""

from __future__ import annotations

import streamlit as st

from core.access import Actor, allowed
from core.evaluation.reports import charts as figures
from core.services.answers.answer_checks import LoopFigures, LoopPoint
from core.services.knowledge.gaps import GapCounts
from pages.ui import charts, keys, style
from pages.ui.workspace import app, loop_points


def draw(me: Actor) -> None:
    """Figures for those who write, the chart for everybody; nothing before there is something to show."""
    points = loop_points()
    shown = allowed(me, "see reported gaps")
    loop = app().answers.loop.figures(me) if shown else None
    if not points and (loop is None or not (loop.questions.asked or loop.gaps[""].open + loop.gaps[""].closed)):
        return
    st.header("From question to answer")
    if loop is not None:
        _figures(loop)
    if points:
        _chart(points)


def _figures(loop: LoopFigures) -> None:
    asked, every = loop.questions, loop.gaps[""]
    share = f"{asked.found / asked.asked:.0%}" if asked.asked else "–"
    values = {
        f"Asked in {style.count(loop.days, 'day')}": f"{asked.asked:,}",
        "Found something good": share,
        "Gaps open": f"{every.open:,}",
        "Gaps closed": f"{every.closed:,}",
        "Median days to close": _days(every),
    }
    charts.tiles(values, "loop")
    folders = {name: counts for name, counts in loop.gaps.items() if name}
    if folders:
        rows = [
            {"Folder": name, "Gaps open": counts.open, "Gaps closed": counts.closed, "Median days": _days(counts)}
            for name, counts in sorted(folders.items(), key=lambda item: (-item[1].open, item[0]))
        ]
        with st.expander("By folder", icon=":material/folder:", type="compact", key="loop_folders"):
            st.dataframe(rows, hide_index=True, key="loop_by_folder")


def _days(counts: GapCounts) -> str:
    return "–" if counts.days is None else f"{counts.days:.1f}"


def _chart(points: tuple[LoopPoint, ...]) -> None:
    last = points[-1].found
    if not last.questions:
        st.caption("No document lists a question that it answers yet, so nothing is measured.")
        return
    st.markdown(
        f"**{last.share:.0%}** of {style.count(last.questions, 'question')} that documents answer are found among the "
        f"first {last.within}. Each point is a merge; a click opens it."
    )
    labels = [f"{point.title}<br>{style.moment(point.found.at)}" for point in points]
    shares = [point.found.share for point in points]
    chart = figures.findability([style.day(point.found.at[:10]) for point in points], shares, labels)
    chosen = st.plotly_chart(
        charts.themed(chart),
        width="stretch",
        config={"displayModeBar": False},
        key="loop_chart",
        on_select="rerun",
        selection_mode="points",
    )
    places = [int(picked["point_index"]) for picked in chosen["selection"]["points"]]
    change = points[places[0]].change if places else 0
    if change:
        st.switch_page("pages/reviews.py", query_params={keys.CHANGE: str(change), keys.SIDE: "Search"})
    if places:
        st.caption("No change was merged there: documents came by an import, or a review date was confirmed.")
