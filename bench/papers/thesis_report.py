"""The figures and tables of the thesis, from a replay."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from statistics import fmean, median
from typing import Any

from bench.papers import chunking, plots
from bench.papers.chunking import Trial
from bench.papers.context import PaperContext, figures
from bench.papers.crossfit import CrossFit
from bench.papers.material import KINDS
from core.evaluation.measures.by_name import KEY
from core.evaluation.reports import charts
from core.evaluation.reports.report import Chart, Part, Report, ReportTable, Text
from core.evaluation.runs.comparisons import compare, grouped
from core.evaluation.runs.run import Run
from core.evaluation.statistics import Interval, bootstrap
from core.evaluation.tuning.calibration import Calibration, Point
from core.llm.asking import dollars_of
from core.retrieval.alpha.features import QUERY

TAU = 0.95  # the thesis's own, where there are too few questions to calibrate one


@dataclass(slots=True)
class Replay:
    """What was found so far, stage after stage; `skipped` names what was left out and why."""

    chunkers: dict[str, Run] = field(default_factory=dict)
    trials: list[Trial] = field(default_factory=list)
    graphs: dict[str, Run] = field(default_factory=dict)
    alphas: dict[str, Run] = field(default_factory=dict)
    stages: dict[str, Run] = field(default_factory=dict)
    fits: dict[str, CrossFit] = field(default_factory=dict)
    calibrated: Calibration | None = None
    taus: tuple[Point, ...] = ()  # of table 5; the last reranks everything
    tau: float = TAU
    says: list[str] = field(default_factory=list)
    skipped: list[str] = field(default_factory=list)


MEASURE = "T1EM"
GRAPHED = ("T1EM", "T5EM", "T1C", "MC", "SpanMRR", "T1O", "BO")  # the columns of table 3
FIELDS = 15  # tags that most documents have
FEATURES = 12  # of which SHAP values are drawn, the thesis's four simple ones among them
QUERIES = 1_000_000  # a month of an enterprise, as the thesis counts

Runs = Mapping[str, Run]


def of(context: PaperContext, replay: Replay, title: str, about: str) -> Report:
    every = (*replay.chunkers.values(), *replay.graphs.values(), *replay.alphas.values(), *replay.stages.values())
    runs = list({run.id: run for run in every}.values())
    parts: list[Part] = [
        Text("What it says", (*_steps(replay.stages), *_tau_says(replay), *replay.says, *replay.skipped)),
        *progression(replay.stages),
        by_field(context, replay.stages),
        by_kind("Chunkers by kind of question (table 1)", replay.chunkers, KEY),
        chunking.cost_table(replay.trials, list(replay.chunkers.values())),
        *graph_parts(replay.graphs),
        by_kind("Alpha by kind of question (table 4)", replay.alphas, KEY),
        *learned_parts(replay.fits),
        *tau_parts(replay),
    ]
    return context.report("thesis", title, about, runs, parts, _values(replay, runs))


def _values(replay: Replay, runs: Sequence[Run]) -> dict[str, Any]:
    return {
        **figures(runs),
        "stages": {name: {measure: run.figures.get(measure) for measure in KEY} for name, run in replay.stages.items()},
        "kinds": {
            name: {kind: dict(row) for kind, row in _kinds(run, KEY).items()} for name, run in replay.stages.items()
        },
        "chunkers": chunking.costs(replay.trials, list(replay.chunkers.values())),
        "graph": {
            name: {measure: run.figures.get(measure) for measure in GRAPHED} for name, run in replay.graphs.items()
        },
        "alphas": {name: {measure: run.figures.get(measure) for measure in KEY} for name, run in replay.alphas.items()},
        "r2": {kind: fit.r2 for kind, fit in replay.fits.items()},
        "shap": directions(replay.fits["xgboost"]) if "xgboost" in replay.fits else [],
        "tau": replay.tau,
        "event": replay.calibrated.event if replay.calibrated else "",
        "taus": [
            {
                "tau": _tau(p),
                "measure": p.measure,
                "uplift": p.uplift,
                "seconds": p.seconds,
                "dollars": p.dollars,
                "share": p.share,
            }
            for p in replay.taus
        ],
        "skipped": replay.skipped,
    }


# ---------------------------------------------------------------- stages (figures 11 and 12)


def _steps(stages: Runs) -> list[str]:
    names = list(stages)
    return [
        f"{after} after {before}, {MEASURE}: {compare(stages[before], stages[after], MEASURE).overall.sentence}"
        for before, after in pairwise(names)
    ]


def progression(stages: Runs) -> list[Part]:
    """Every stage over all questions, then by kind, as a table and a chart for each key measure."""
    rows = tuple(
        (
            name,
            *(f"{run.figures.get(m, 0.0):.3f}" for m in KEY),
            _interval(run),
            f"{run.times['total']['p50'] / 1000:.3f}",
            dollars_of(1000 * run.cost),
        )
        for name, run in stages.items()
    )
    heads = ("Stage", *KEY, f"95 % interval of {MEASURE}", "query s, p50", "1,000 questions")
    note = "Each stage stands on the winner of the one before it, but for the graph, which the thesis leaves again."
    parts: list[Part] = [
        ReportTable("Progression by stage (figure 11)", heads, rows, note),
        by_kind("Progression by kind of question (figure 11)", stages, KEY),
    ]
    kinds = {name: _kinds(run, KEY) for name, run in stages.items()}
    order = list(dict.fromkeys(kind for table in kinds.values() for kind in table))
    for measure in KEY:
        heights = {name: [table.get(kind, {}).get(measure, 0.0) for kind in order] for name, table in kinds.items()}
        parts.append(Chart(f"{measure} by stage and kind", charts.bars(order, heights, measure)))
    return parts


def _interval(run: Run) -> str:
    import numpy as np

    rows = np.array([[answer.values[MEASURE]] for answer in run.results.values() if MEASURE in answer.values])
    found = bootstrap(rows)[0]
    return f"{found.low:.3f} to {found.high:.3f}"


def _kinds(run: Run, measures: Sequence[str]) -> dict[str, dict[str, float]]:
    """Means by kind of question, and over all of them."""
    table: dict[str, dict[str, float]] = {}
    for measure in measures:
        for category, (mean, _) in grouped(run, "category", measure).items():
            table.setdefault(KINDS.get(category, category), {})[measure] = mean
    order = {kind: n for n, kind in enumerate(KINDS.values())}
    return dict(sorted(table.items(), key=lambda pair: (order.get(pair[0], len(order)), pair[0])))


def by_kind(title: str, runs: Runs, measures: Sequence[str]) -> ReportTable:
    """A row for each kind of question and run, then the runs over all questions, as the tables of the thesis."""
    tables = {name: {**_kinds(run, measures), "all": dict(run.figures)} for name, run in runs.items()}
    kinds = [kind for kind in dict.fromkeys(kind for table in tables.values() for kind in table) if kind != "all"]
    rows = tuple(
        (kind, name, *(_three(table.get(kind, {}).get(measure)) for measure in measures))
        for kind in (*kinds, "all")
        for name, table in tables.items()
    )
    return ReportTable(title, ("Kind", "Configuration", *measures), rows)


def _three(value: float | None) -> str:
    return "" if value is None else f"{value:.3f}"


def by_field(context: PaperContext, stages: Runs) -> ReportTable:
    """T1EM of every stage for the tags that most documents have."""
    common = Counter(tag for document in context.documents.all() for tag in dict.fromkeys(document.meta.tags))
    found = {name: grouped(run, "tag", MEASURE) for name, run in stages.items()}
    asked = {tag for table in found.values() for tag in table}
    tags = [tag for tag, _ in sorted(common.items(), key=lambda pair: (-pair[1], pair[0])) if tag in asked][:FIELDS]
    sizes = {tag: max(table[tag][1] for table in found.values() if tag in table) for tag in tags}
    rows = tuple(
        (
            tag,
            str(common[tag]),
            str(sizes[tag]),
            *(_three(found[name][tag][0] if tag in found[name] else None) for name in stages),
        )
        for tag in tags
    )
    return ReportTable(f"{MEASURE} by field (figure 12)", ("Tag", "documents", "questions", *stages), rows)


def graph_parts(graphs: Runs) -> list[Part]:
    """Agentic alone against the graph (figure 4, table 3)."""
    if not graphs:
        return []
    heights = {name: [run.figures.get(measure, 0.0) for measure in KEY] for name, run in graphs.items()}
    return [
        by_kind("Graph against agentic (table 3)", graphs, GRAPHED),
        Chart("Graph against agentic (figure 4)", charts.bars(list(KEY), heights, "mean")),
    ]


# ---------------------------------------------------------------- alpha (figures 6 and 8)


def learned_parts(fits: Mapping[str, CrossFit]) -> list[Part]:
    """What the features do to alpha, and predictions against the optimum by kind of question."""
    parts: list[Part] = []
    for kind, fit in fits.items():
        groups: dict[str, tuple[list[float], list[float]]] = {}
        for row in fit.predictions:
            xs, ys = groups.setdefault(KINDS.get(row.group, row.group or "uncategorised"), ([], []))
            xs.append(row.optimal)
            ys.append(row.predicted)
        title = f"Alpha by {kind} against the optimum (figure 8), R² {fit.r2:.3f}"
        note = "Every question was predicted by a model that had not seen it."
        parts.append(Chart(title, plots.against_by(groups, "optimal alpha", "predicted alpha"), note))
    if "xgboost" in fits and fits["xgboost"].contributions:
        parts += _shap(fits["xgboost"])
    return parts


def _shap(fit: CrossFit) -> list[Part]:
    rows = directions(fit)
    at = [fit.features.index(row["feature"]) for row in rows]
    names = [str(row["feature"]) for row in rows]
    table = tuple(
        (row["feature"], f"{row['strength']:.4f}", f"{row['low']:+.4f}", f"{row['high']:+.4f}", row["sentence"])
        for row in rows
    )
    heads = ("Feature", "mean strength", "push where low", "push where high", "What it says")
    values, pushes = ([[line[n] for n in at] for line in table] for table in (fit.values, fit.contributions))
    swarm = plots.beeswarm(names, values, pushes, "push on alpha (SHAP)")
    note = "To the right: more weight on meaning; to the left: more on words."
    return [
        Chart("What moves alpha (figure 6)", swarm, note),
        ReportTable("What moves alpha (figure 6)", heads, table, note),
    ]


def directions(fit: CrossFit) -> list[dict[str, Any]]:
    """The strongest features and the thesis's four: their mean strength, and their push where they are low and high."""
    rows: list[dict[str, Any]] = []
    for n, name in enumerate(fit.features):
        values, pushes = [row[n] for row in fit.values], [row[n] for row in fit.contributions]
        middle = median(values)
        high = [push for value, push in zip(values, pushes, strict=True) if value > middle]
        low = [push for value, push in zip(values, pushes, strict=True) if value <= middle]
        means = {"low": fmean(low) if low else 0.0, "high": fmean(high) if high else 0.0}
        rows.append({"feature": name, "strength": fmean(map(abs, pushes)), **means, "sentence": _direction(**means)})
    strongest = sorted(rows, key=lambda row: -row["strength"])
    kept = [row for row in strongest if row["feature"] in QUERY]
    kept += [row for row in strongest if row["feature"] not in QUERY][: FEATURES - len(kept)]
    return sorted(kept, key=lambda row: -row["strength"])


def _direction(low: float, high: float) -> str:
    """In words.

    >>> _direction(-0.01, 0.02), _direction(0.0, 0.0)
    ('high values ask for meaning', 'no direction')
    """
    if abs(high - low) < 1e-4:
        return "no direction"
    return f"high values ask for {'meaning' if high > low else 'words'}"


# ---------------------------------------------------------------- tau (figures 9 and 10, table 5)


def _tau(point: Point) -> str:
    return f"{point.tau:.2f}" if point.tau <= 1 else "always"


def _tau_says(replay: Replay) -> list[str]:
    if replay.calibrated is None:
        return []
    lines = [replay.calibrated.sentence, f"Answered means {replay.calibrated.event}."]
    if replay.calibrated.tau is None:
        lines.append(f"So tau is {replay.tau:.2f} here, the thesis's own.")
    curve = replay.calibrated.curve
    at, always = curve[round(replay.tau * (len(curve) - 1))], replay.taus[-1]
    if always.dollars > 0:
        saved = QUERIES * (always.dollars - at.dollars)
        lines.append(
            f"At {QUERIES:,} questions a month, tau {replay.tau:.2f} saves {dollars_of(saved)} against reranking all of"
            " them."
        )
    return lines


def tau_parts(replay: Replay) -> list[Part]:
    """The measure, its uplift, the precision of what is skipped, cost and time for every tau."""
    calibrated, points = replay.calibrated, replay.taus
    if calibrated is None:
        return []
    taus = [point.tau for point in calibrated.curve]
    skipping = [point for point in calibrated.curve if point.skipped]
    bands = [Interval(point.precision, point.lower, point.upper) for point in skipping]
    rows = tuple(
        (
            _tau(p),
            str(p.skipped),
            _three(p.precision),
            _three(p.lower),
            _three(p.measure),
            f"{p.uplift:+.3f}",
            f"{p.share:.0%}",
            dollars_of(p.dollars),
            f"{p.seconds:.3f}",
        )
        for p in points
    )
    heads = (
        "tau",
        "skipped",
        "precision",
        "lower bound",
        MEASURE,
        "uplift",
        "reranked",
        "dollars per question",
        "reranking s per question",
    )
    steps = [_tau(point) for point in points]
    return [
        ReportTable("Cost, time and uplift for each tau (table 5, figure 9)", heads, rows),
        Chart(
            f"{MEASURE} over tau (figure 9)",
            charts.lines(
                taus,
                {MEASURE: [p.measure for p in calibrated.curve], "share reranked": [p.share for p in calibrated.curve]},
                "tau",
                "measure or share",
            ),
        ),
        Chart(
            "Uplift of each step of tau (figure 9)",
            charts.bars(steps, {"uplift": [point.uplift for point in points]}, f"{MEASURE} gained"),
        ),
        Chart(
            "Precision of skipped questions with its Wilson interval (figure 10)",
            charts.plot_curve([p.tau for p in skipping], bands, "tau", "precision", replay.tau),
        ),
    ]
