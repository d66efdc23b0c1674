"""Commands that measure: runs, comparisons, experiments."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from core import strict
from core.entrypoints import querysets
from core.entrypoints.querysets import ESTIMATE, show_estimate
from core.entrypoints.session import acting, introduced, open_app
from core.entrypoints.terminal import Terminal, table
from core.errors import BadInput, Unavailable
from core.evaluation.measures.registry import KEY, PASSAGES
from core.evaluation.querysets import beir
from core.evaluation.reports import report
from core.evaluation.runs import comparisons
from core.evaluation.runs.run import Run, label
from core.llm.bill import dollars_of
from core.retrieval import config as configs
from core.services.evaluation import collections
from core.services.evaluation.experiments import EXPERIMENTS, WrittenReport
from core.services.evaluation.experiments.context import ExperimentOptions
from core.services.index import builder
from core.settings import Settings

SHOWN = ("nDCG@10", "Recall@10", "MRR@10", "P@5")


def register(add: Any) -> None:
    evaluate = add.group_of("eval")
    querysets.register(evaluate)
    _runs(evaluate)


def _runs(add: Any) -> None:
    own = add("beir", eval_beir, "index a BEIR folder in a workspace of its own and score configurations")
    own.add_argument("folder", type=Path, metavar="DIR")
    own.add_argument("--profile", default="", help="which profile to index with")
    own.add_argument("--config", action="append", default=[], help="which configuration to score; repeat for a table")
    own.add_argument("--limit", type=int, default=0, help="only the first N judged queries")
    own.add_argument("--sample", type=int, default=0, help="only N judged queries, drawn by the seed")
    own.add_argument("--seed", type=int, default=42, help="the same seed draws the same queries")
    own.add_argument("--experiment", default="", help="run a built-in experiment on it instead, for example cascade")
    own.add_argument("--out", type=Path, default=None, help="where the HTML report of the experiment goes")
    own.add_argument("--markdown", type=Path, default=None, help="also write its tables as Markdown")
    own.add_argument("--split", default="test", help="which qrels (default: test)")
    run = add("run", eval_run, "run configurations over a query set; the same run again is free")
    run.add_argument("queryset", metavar="QUERYSET")
    run.add_argument("--config", action="append", default=[], help=f"{configs.help_text()}; repeat for several")
    run.add_argument("--profile", action="append", default=[], help="which index; repeat for several")
    run.add_argument("--unit", default="document", help="what is ranked: document or passage")
    run.add_argument("--measure", default=comparisons.MEASURE, help="what the list is sorted by")
    run.add_argument("--by", default="category", help="also show means by category, folder or tag")
    run.add_argument("--background", action="store_true", help="start a job instead of waiting")
    runs = add("runs", eval_runs, "runs that were kept, newest first")
    runs.add_argument("--queryset", default="", help="only of this query set")
    compare = add("compare", eval_compare, "two runs: difference, interval, wins, ties, losses")
    compare.add_argument("before", metavar="RUN")
    compare.add_argument("after", metavar="RUN")
    compare.add_argument("--measure", default=comparisons.MEASURE, help="any measure that both runs have")
    compare.add_argument("--worst", type=int, default=10, help="how many questions to list from either end")
    run.add_argument("--estimate", action="store_true", help=ESTIMATE)
    experiment = add("experiment", eval_experiment, f"a built-in experiment: {', '.join(EXPERIMENTS)}")
    experiment.add_argument("--estimate", action="store_true", help=ESTIMATE)
    experiment.add_argument("name", metavar="NAME")
    experiment.add_argument("--queryset", default="", help="which questions (default: known items, made if need be)")
    experiment.add_argument("--limit", type=int, default=0, help="only so many questions, evenly from every category")
    experiment.add_argument(
        "--questions",
        type=int,
        default=0,
        help="make so many known items, shared out as the compliance benchmark's 1706",
    )
    experiment.add_argument(
        "--model", action="append", default=[], help="a language model to compare; repeat for several"
    )
    experiment.add_argument("--embedder", action="append", default=[], help="one more embedder to compare")
    experiment.add_argument("--repeats", type=int, default=3, help="how often the calls of the main row are made")
    experiment.add_argument(
        "--documents", type=int, default=0, help="only so many documents, in a workspace of their own"
    )
    experiment.add_argument("--out", type=Path, default=None, help="where the HTML report goes (default: reports/)")
    experiment.add_argument("--markdown", type=Path, default=None, help="also write the tables as Markdown")
    drift = add("drift", eval_drift, "run production again where it was measured before, and name significant losses")
    drift.add_argument("--measure", default=comparisons.MEASURE, help="what is compared")


def eval_beir(settings: Settings, options: Namespace, terminal: Terminal) -> int:
    """Score configurations on a BEIR folder, or run an experiment on it; the index is kept for the next time."""
    from core.bootstrap import build, evaluation_workspace

    main = build(settings)
    collection = beir.read(options.folder, options.split, options.limit, options.sample, options.seed)
    app = evaluation_workspace(main, introduced(settings, options), f"beir-{collection.name}-{collection.digest}")
    team_settings = (main if (settings.home / "kb.git").is_dir() else app).platform.settings
    profile = team_settings.profile(options.profile)
    if not app.knowledge.repository.head():
        app.knowledge.documents.save(collections.AUTHOR, collection.files, [], f"Records of {collection.name}")
    built = app.index.builder.build(profile, progress=terminal.progress)
    if options.experiment:
        queryset = app.evaluation.querysets.keep(collections.AUTHOR, collections.queryset(collection))
        written = app.evaluation.experiments.run(
            collections.AUTHOR, options.experiment, queryset.name, 0, options.out, terminal.progress
        )
        return _reported(written, options, terminal)
    index = app.index.generations.open(profile)
    about = {"dataset": collection.name, "split": options.split, "profile": profile.name}
    rows = []
    for text in options.config or [""]:
        production = team_settings.production().config
        config = collections.at_depth(text, configs.parse(text), production.depth) if text else production
        scores = collections.run(app.search.searcher, index, collection, config, terminal.progress)
        rows.append({**about, "config": label(config), **collections.report(collection, scores)})
    size: dict[str, Any] = {"documents": built.generation.documents, "chunks": built.generation.chunks}
    size |= {"index": builder.as_json(built) if built.fresh else None}
    value: Any = {**rows[0], **size} if len(rows) == 1 else {**about, "configs": rows, **size}
    terminal.show(value, _beir_lines(rows))
    return 0


def _beir_lines(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    """The five measures at 1, 5 and 10, then the time of each stage."""
    lines = [f"{rows[0]['dataset']}, {rows[0]['queries']} queries, profile {rows[0]['profile']}"]
    for k in collections.SHALLOW:
        names = [name for name in collections.MEASURED if name.endswith(f"@{k}")] + ["Recall@100"] * (k == 10)
        lines += table(
            [(row["config"], *(f"{row[name]:.4f}" for name in names)) for row in rows], ("configuration", *names)
        )
    stages = list(dict.fromkeys(stage for row in rows for stage in row["ms_per_query"]))
    spent = [(row["config"], *(f"{row['ms_per_query'].get(stage, 0.0):.2f}" for stage in stages), f"{row['seconds']:.1f}") for row in rows]  # fmt: skip
    lines += table(spent, ("ms per query", *stages, "seconds in all"))
    lines += [
        f"{row['config']}: ranked {row['depth']} deep, as a search is served; only Recall@100 looks {row['recall_depth']} deep."
        for row in rows
    ]
    return lines + [f"! {line}" for row in rows for line in row["warnings"]]


def eval_run(settings: Settings, options: Namespace, terminal: Terminal) -> int:
    app = open_app(settings)
    pairs = [(profile, config) for profile in options.profile or [""] for config in options.config or [""]]
    if options.estimate:
        return show_estimate(terminal, app.evaluation.runs.estimate(acting(app, options), options.queryset, pairs))
    if options.background:
        job = app.evaluation.runs.start(acting(app, options), options.queryset, pairs, options.unit)
        terminal.show({"job": job.id}, [f"Started as job {job.id}. Look at it with: python -m core jobs list"])
        return 0
    runs = app.evaluation.runs.measure(acting(app, options), options.queryset, pairs, options.unit, terminal.progress)
    order = comparisons.leaderboard(runs, options.measure)
    if not order:
        raise BadInput(f"No run has the measure {options.measure!r}. They have: {', '.join(runs[0].figures)}.")
    value = {
        "queryset": options.queryset,
        "unit": options.unit,
        "measure": options.measure,
        "runs": [_standing(row, options.by, options.measure) for row in order],
    }
    paid, shown = any(run.cost for run in runs), _columns(options.measure)
    rows = [
        (
            row.run.id,
            row.run.name,
            *(f"{row.run.figures.get(name, 0.0):.4f}" for name in shown),
            f"{row.figure.low:.3f}..{row.figure.high:.3f}",
            f"{row.run.times['total']['p50']:.2f}",
            *([dollars_of(1000 * row.run.cost)] if paid else []),
        )
        for row in order
    ]
    lines = table(rows, ("run", "configuration", *shown, "95 %", "p50 ms", *(["per 1,000"] if paid else [])))
    lines += [f"{row.run.name}: {row.against_best.sentence}" for row in order if row.against_best]
    lines += _depths(runs, app.platform.settings.production().config.depth)
    lines += [f"! {line}" for run in runs for line in run.warnings]
    lost = runs[0].unmapped
    lines += [f"! {len(lost)} judgments were not mapped; see: python -m core eval querysets NAME"] if lost else []
    terminal.show(value, lines)
    return 0


def _depths(runs: Sequence[Run], served: int) -> list[str]:
    """How deep runs looked where that is not as deep as production looks: promoted, they are served as they were measured."""
    others = {run.name: run.config.depth for run in runs if run.config.depth != served}
    return [f"{name}: ranked {depth} deep, production {served} deep." for name, depth in others.items()]


def _columns(measure: str) -> tuple[str, ...]:
    """What a list by a measure shows: the usual ones, or those over passages, and the measure in any case.

    >>> _columns("T1EM"), _columns("Recall@50")[0]
    (('T1EM', 'T1C', 'T1O', 'SpanMRR', 'nDCG@10'), 'Recall@50')
    """
    usual = (*KEY, SHOWN[0]) if measure in PASSAGES else SHOWN
    return usual if measure in usual else (measure, *usual)


def _standing(row: comparisons.LeaderboardRow, by: str, measure: str) -> dict[str, Any]:
    groups = comparisons.grouped(row.run, by, measure)
    return {
        **run_json(row.run),
        "mean": row.figure.mean,
        "low": row.figure.low,
        "high": row.figure.high,
        "against_best": strict.plain(row.against_best),
        by: {name: {"mean": mean, "questions": count} for name, (mean, count) in groups.items()},
    }


def run_json(run: Run) -> dict[str, Any]:
    """One line of `eval runs --json`."""
    facts = strict.plain(run)
    facts.pop("results")
    return {**facts, "name": run.name, "cost_per_1000": 1000 * run.cost}


def eval_runs(settings: Settings, options: Namespace, terminal: Terminal) -> int:
    app = open_app(settings)
    runs = app.evaluation.runs.listed(acting(app, options), options.queryset)
    rows = [
        (run.id, run.queryset, run.name, f"{run.figures.get('nDCG@10', 0.0):.4f}", run.questions, run.commit[:12], run.created)
        for run in runs
    ]  # fmt: skip
    heads = ("run", "query set", "configuration", "nDCG@10", "questions", "commit", "created")
    terminal.show([run_json(run) for run in runs], table(rows, heads))
    return 0


def eval_compare(settings: Settings, options: Namespace, terminal: Terminal) -> int:
    app = open_app(settings)
    before, after = (app.evaluation.runs.show(acting(app, options), run) for run in (options.before, options.after))
    comparison = comparisons.compare(before, after, options.measure)
    some = [row for row in comparison.rows if row.difference < 0][: options.worst]
    some += [row for row in comparison.rows if row.difference > 0][::-1][: options.worst]
    rows = [(f"{row.difference:+.3f}", f"{row.before:.3f}", f"{row.after:.3f}", row.text[:80]) for row in some]
    lines = [
        f"{comparison.after.name} against {comparison.before.name}, {comparison.measure}: {comparison.overall.sentence}"
    ]
    lines += [comparison.spent, *([f"! {comparison.note}"] if comparison.note else [])]
    lines += [f"  {name}: {difference.sentence}" for name, difference in comparison.by_category.items()]
    terminal.show(comparison_json(comparison), [*lines, *table(rows, ("difference", "before", "after", "question"))])
    return 0


def comparison_json(comparison: comparisons.RunComparison) -> dict[str, Any]:
    """The contract of `eval compare --json`."""
    return {
        "before": run_json(comparison.before),
        "after": run_json(comparison.after),
        "measure": comparison.measure,
        **strict.plain(comparison.overall),
        "categories": strict.plain(comparison.by_category),
        "questions": [{**strict.plain(row), "difference": row.difference} for row in comparison.rows],
        "note": comparison.note,
    }


def eval_experiment(settings: Settings, options: Namespace, terminal: Terminal) -> int:
    app = open_app(settings)
    actor = acting(app, options)
    asked = (tuple(options.model), tuple(options.embedder), max(1, options.repeats), options.questions)
    chosen = ExperimentOptions(*asked, documents=options.documents)
    if options.estimate:
        rows = app.evaluation.experiments.estimate(actor, options.name, options.queryset, options.limit, chosen)
        return show_estimate(terminal, rows)
    experiment = app.evaluation.experiments.run(
        actor, options.name, options.queryset, options.limit, options.out, terminal.progress, chosen
    )
    return _reported(experiment, options, terminal)


def _reported(experiment: WrittenReport, options: Namespace, terminal: Terminal) -> int:
    """What an experiment found, and where its report is."""
    if options.markdown:
        options.markdown.parent.mkdir(parents=True, exist_ok=True)
        options.markdown.write_text(report.markdown(experiment.report), encoding="utf-8")
    texts = [part for part in experiment.report.parts if isinstance(part, report.Text)]
    boards = [part for part in experiment.report.parts if isinstance(part, report.ReportTable)][:1]
    lines = [experiment.report.title, *(line for text in texts for line in text.lines)]
    lines += [line for board in boards for line in table(board.rows, board.heads)]
    terminal.show({"report": str(experiment.path), **experiment.report.values}, [*lines, f"Report: {experiment.path}"])
    return 0


def eval_drift(settings: Settings, options: Namespace, terminal: Terminal) -> int:
    """Exit 1 when production lost quality since it was last measured."""
    app = open_app(settings)
    drifts = app.tuning.production.check(acting(app, options), options.measure, terminal.progress)
    if not drifts:
        raise Unavailable(
            "Production was never measured on a query set. Measure it with: python -m core eval run QUERYSET"
        )
    value = [
        {
            "queryset": drift.queryset,
            "run": drift.now.id,
            "before": drift.before.id if drift.before else None,
            "lost": drift.lost,
            "comparison": strict.plain(drift.compared.overall) if drift.compared else None,
            "sentence": drift.sentence,
        }
        for drift in drifts
    ]
    terminal.show(value, [drift.sentence for drift in drifts])
    return 1 if any(drift.lost for drift in drifts) else 0
