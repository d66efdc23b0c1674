"""Which configuration is best: leaderboard with intervals, heat map by category, exports."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import streamlit as st

from core.evaluation.impact import TIE
from core.evaluation.reports import charts as figures
from core.evaluation.reports import report
from core.evaluation.runs.comparisons import GROUPS, LeaderboardRow, by_verdict, grouped
from core.evaluation.runs.run import RUN_FORMATS, Run
from core.evaluation.statistics import Interval
from core.services.evaluation.runs import last_timed
from pages.ui import charts, flash, identity, keys, style, verdicts
from pages.ui.evaluation.selection import shared_measures
from pages.ui.workspace import app, leaderboard
from pages.ui.workspace import run as with_questions

MOST_GROUPS = 12  # columns of the heat map, the largest groups
COLUMNS = ("nDCG@10", "Recall@10", "MRR@10", "P@5")
PRICE = "$ per 1,000"
OPEN = 8  # verdicts that are shown without a click
PRODUCTION, BEST = "production", "the best"
TIMED = "Taken on this machine on {day}. Empty where a run was timed on another machine or day."


def draw(runs: Sequence[Run], names: Mapping[str, str]) -> None:
    """The newest run of each configuration, ranked."""
    with st.container(horizontal=True, vertical_alignment="bottom"):
        measure = str(st.selectbox("Measure", shared_measures(runs), key=keys.MEASURE, width=180))
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
        baseline = _baseline(runs)
        st.space("stretch")
        with st.popover("Export", icon=":material/download:", type="tertiary", key="board_export"):
            _export(runs, names, measure)
    ranking = leaderboard(tuple(run.id for run in runs), measure, baseline, identity.me())
    against = PRODUCTION if baseline else BEST
    if len({(run.commit, run.queryset_digest) for run in runs}) > 1:  # before any number of them
        st.warning(
            "Some runs saw an older commit or older questions. Run them again to compare like with like.",
            icon=":material/warning:",
        )
    if not ranking:
        st.info("All of its questions are about documents that you may not read.", icon=":material/visibility_off:")
        return
    _summary(ranking, names, measure, against)
    _about(runs[0].queryset)
    colours = style.colours([run.id for run in runs])
    labels = [names[entry.run.id] for entry in ranking]
    paid = any(run.cost for run in runs)
    timed = last_timed(runs)
    rows = [_row(entry, names, measure, paid, against, timed) for entry in ranking]
    st.dataframe(rows, hide_index=True, key="board", column_config=_columns(measure, timed[1]))
    _verdicts(ranking, names, against)
    drawn = {"board_heat": _heatmap(ranking, labels, by, measure)}
    if len(ranking) > 1:  # one configuration differs from nothing
        title = f"Difference of {measure} from {against}"
        differences = figures.leaderboard(labels, _paired(ranking), title, [colours[entry.run.id] for entry in ranking])
        drawn = {"board_chart": differences, **drawn}
    _side_by_side({key: figure for key, figure in drawn.items() if figure is not None})
    _warnings(runs)


def _side_by_side(drawn: Mapping[str, Any]) -> None:
    for column, (key, figure) in zip(st.columns(max(1, len(drawn))), drawn.items(), strict=False):
        with column:
            charts.show(figure, key)


def _about(queryset: str) -> None:
    """Where the questions come from, and what that does to figures."""
    about = {summary.name: summary.about for summary in app().evaluation.querysets.listed(identity.me())}
    if about.get(queryset):
        st.caption(flash.plain(f"{queryset}: {about[queryset]}."))


def _baseline(runs: Sequence[Run]) -> str:
    """The run that the others are compared with: that of production where it is among them, or "" for the best."""
    production = app().evaluation.runs.serving(runs)
    if not production:
        return ""
    chosen = st.segmented_control(
        "Against", ("Production", "Best"), default="Production", key="board_against", required=True
    )
    return production if chosen == "Production" else ""


def _verdicts(ranking: Sequence[LeaderboardRow], names: Mapping[str, str], against: str) -> None:
    """Each configuration against the baseline, in whole sentences that wrap, and how many comparisons that makes."""
    compared = [(entry, entry.against) for entry in ranking if entry.against]
    if not compared:
        return
    with st.expander(
        f"Against {against}", icon=verdicts.icon(TIE), expanded=len(compared) <= OPEN, key="board_verdicts"
    ):
        st.caption(f"{comparisons(len(compared), against)} {verdicts.RULE}")
        for entry, comparison in compared:
            st.markdown(f"**{flash.plain(names[entry.run.id])}**: {flash.plain(comparison.sentence)}")


def comparisons(count: int, against: str) -> str:
    """How many comparisons stand behind the verdicts, and what that costs them.

    >>> comparisons(14, "production"), comparisons(14, "the best")[-60:]
    ('14 comparisons with production, corrected by Holm.', 'corrected by Holm for all 105 pairs that it was picked
    from.')
    """
    if count == 1:
        return f"One comparison with {against}."
    pairs = "" if against == PRODUCTION else f" for all {count * (count + 1) // 2} pairs that it was picked from"
    return f"{count} comparisons with {against}, corrected by Holm{pairs}."


def _summary(ranking: Sequence[LeaderboardRow], names: Mapping[str, str], measure: str, against: str) -> None:
    best = ranking[0]
    st.markdown(
        f"**{flash.plain(names[best.run.id])}** has the highest {measure}: {best.figure.mean:.3f} "
        f"({best.figure.low:.3f} to {best.figure.high:.3f}) on {style.count(best.run.questions, 'question')}."
    )
    if len(ranking) > 1:
        st.caption(flash.plain(f"Against {against}: {by_verdict(ranking, names)}"))


def _paired(ranking: Sequence[LeaderboardRow]) -> list[Interval]:
    """The differences from the baseline, which is 0 from itself."""
    return [entry.against.difference if entry.against else Interval(0.0, 0.0, 0.0) for entry in ranking]


def _row(
    entry: LeaderboardRow, names: Mapping[str, str], measure: str, paid: bool, against: str, timed: tuple[str, str]
) -> dict[str, object]:
    shown = [name for name in COLUMNS if name in entry.run.figures and name != measure]
    return {
        "Configuration": names[entry.run.id],
        measure: entry.figure.mean,
        "95 % interval": f"{entry.figure.low:.3f} to {entry.figure.high:.3f}",
        **{name: entry.run.figures[name] for name in shown},
        **{f"{at} ms": entry.run.times["total"][at] if entry.run.timed == timed else None for at in ("p50", "p95")},
        **({PRICE: 1000 * entry.run.cost} if paid else {}),
        "Verdict": entry.against.word.capitalize() if entry.against else against.capitalize(),
        "Run": entry.run.id[:8],
    }


def _columns(measure: str, day: str) -> dict[str, Any]:
    said = TIMED.format(day=style.day(day)) if day else TIMED.partition(". ")[2]
    decimals = {name: st.column_config.NumberColumn(format="%.3f") for name in (measure, *COLUMNS)}
    return {
        **decimals,
        **{f"{at} ms": st.column_config.NumberColumn(format="%.1f", help=said) for at in ("p50", "p95")},
        PRICE: st.column_config.NumberColumn(format="$%.2f", help="What paid models cost, as if nothing were cached."),
        "Verdict": st.column_config.TextColumn(help=f"The whole sentences are below. {verdicts.RULE}"),
    }


def _heatmap(ranking: Sequence[LeaderboardRow], labels: Sequence[str], by: str, measure: str) -> Any:
    """The measure by group; nothing where there is no second group to compare with."""
    groups = [grouped(entry.run, by, measure) for entry in ranking]
    sizes = {name: count for group in groups for name, (_, count) in group.items()}
    columns = sorted(sizes, key=lambda name: -sizes[name])[:MOST_GROUPS]
    if len(columns) < 2:
        found = (
            f"All questions belong to one {by}: {columns[0].replace('_', ' ')}."
            if columns
            else f"No question belongs to a {by}."
        )
        st.caption(flash.plain(found))
        return None
    table = [[group.get(name, (0.0, 0))[0] for name in columns] for group in groups]
    figure = figures.heatmap(labels, [name.replace("_", " ") for name in columns], table, measure)
    figure["data"][0]["showscale"] = False  # every cell shows its number
    return figure


def _warnings(runs: Sequence[Run]) -> None:
    for warning in dict.fromkeys(warning for run in runs for warning in run.warnings):
        st.warning(flash.plain(warning), icon=":material/warning:")
    if runs[0].unmapped:
        judgments = style.count(len(runs[0].unmapped), "judgment")
        st.caption(f"{judgments} found no place in this index and did not count; they are listed under Query sets.")


def _exported(form: str, run: str, account: str) -> str:
    return RUN_FORMATS[form](with_questions(run, app().people.accounts.actor(account)))


def _report(runs: Sequence[str], measure: str, account: str) -> str:
    me = app().people.accounts.actor(account)
    return report.html(app().evaluation.runs.report(me, [with_questions(run, me) for run in runs], measure))


def _export(runs: Sequence[Run], names: Mapping[str, str], measure: str) -> None:
    ids = [run.id for run in runs]
    chosen = str(st.selectbox("Run", ids, format_func=names.__getitem__, key="export_run"))
    for form, label, ending in (
        ("csv", "CSV, one line per question", "csv"),
        ("json", "JSON", "json"),
        ("trec-run", "TREC run", "run"),
    ):
        st.download_button(
            label,
            partial(_exported, form, chosen, identity.me().id),
            f"run-{chosen}.{ending}",
            key=f"export_{form}",
            icon=":material/download:",
            on_click="ignore",
        )
    st.download_button(
        "HTML report of all",
        partial(_report, ids, measure, identity.me().id),
        f"evaluation-{runs[0].queryset}.html",
        "text/html",
        key="export_html",
        icon=":material/download:",
        on_click="ignore",
    )
