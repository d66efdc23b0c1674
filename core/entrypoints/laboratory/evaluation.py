"""Commands that measure: runs and comparisons."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

from core import strict
from core.cures import EVALUATE
from core.entrypoints.contracts.evaluation_json import comparison_json, run_json
from core.entrypoints.laboratory.querysets import ESTIMATE, show_estimate
from core.entrypoints.record import (
    Argument,
    Bounds,
    CommandCall,
    Key,
    Option,
    Rows,
    Shown,
    UseCaseCall,
    command,
    form,
    operation,
)
from core.entrypoints.session import introduced
from core.entrypoints.terminal import table
from core.errors import BadInput, Unavailable, one_of
from core.evaluation.measures.by_name import KEY, PASSAGES
from core.evaluation.querysets import beir
from core.evaluation.runs import comparisons
from core.evaluation.runs.run import Run, distinct, label
from core.llm.asking import dollars_of
from core.retrieval import config as configs
from core.retrieval.presets import spell
from core.services.evaluation import collections
from core.services.evaluation.runs import last_timed
from core.services.index import builder
from core.services.tuning.production import drifted

PRODUCTION, BEST = "production", "best"
RECENT, MOST = 500, 1000  # runs that somebody at a terminal sees, and that programs page through
SHOWN = ("nDCG@10", "Recall@10", "MRR@10", "P@5")


EstimateInput = Annotated[bool, Option(ESTIMATE)]


@form
class EvalBeirOptions:
    folder: Annotated[Path, Argument("DIR", "a folder in the form of BEIR: corpus.jsonl, queries.jsonl and qrels/")]
    profile: Annotated[str, Option("which profile to index with")] = ""
    config: Annotated[tuple[str, ...], Option("which configuration to score; repeat for a table")] = ()
    limit: Annotated[int, Option("only the first N judged queries")] = 0
    sample: Annotated[int, Option("only N judged queries, drawn by the seed")] = 0
    seed: Annotated[int, Option("the same seed draws the same queries")] = 42
    split: Annotated[str, Option("which qrels (default: test)")] = "test"


@form
class EvalRunOptions:
    queryset: Annotated[str, Argument("QUERYSET", "the name of a query set, as eval querysets lists it")]
    config: Annotated[
        tuple[str, ...],
        Option(f"{configs.help_text()}; repeat for several"),
    ] = ()
    profile: Annotated[tuple[str, ...], Option("which index; repeat for several")] = ()
    unit: Annotated[str, Option("what is ranked: document or passage")] = "document"
    measure: Annotated[str, Option("what the list is sorted by")] = comparisons.MEASURE
    by: Annotated[str, Option("also show means by category, folder or tag")] = "category"
    against: Annotated[
        str, Option("what every other one is compared with: production, where it is among them, or the best")
    ] = PRODUCTION
    background: Annotated[bool, Option("start a job instead of waiting")] = False
    estimate: EstimateInput = False


@form
class RunForm:
    """Configurations over a query set; what is in production if none is named."""

    queryset: Annotated[str, Key("its name")]
    configs: Annotated[
        tuple[str, ...], Key("names or JSON; what is in production if none"), Bounds(longest=8_000, many=20)
    ] = ()
    profiles: Annotated[tuple[str, ...], Key("in which indexes; the one in production if none"), Bounds(many=20)] = ()
    unit: Annotated[str, Key("what is ranked"), Bounds(choices=("document", "passage"))] = "document"


@form
class OneRun:
    run: Annotated[str, Argument(help="the id of a run")]


@form
class EvalRunsOptions:
    queryset: Annotated[str, Option("only of this query set")] = ""


@form
class EvalCompareOptions:
    before: Annotated[str, Argument("RUN", "the id of the run that it is compared with")]
    after: Annotated[str, Argument("RUN", "the id of the run that is compared")]
    measure: Annotated[str, Option("any measure that both runs have")] = comparisons.MEASURE
    worst: Annotated[int, Option("how many questions to list from either end", local=True)] = 10


@form
class EvalDriftOptions:
    measure: Annotated[str, Option("what is compared")] = comparisons.MEASURE


@command(
    "eval beir",
    "index a BEIR folder in a workspace of its own and score configurations",
    "evaluation.runs.measure",
    example="eval beir scifact --config bm25 --profile finer",
)
def eval_beir(call: CommandCall, form: EvalBeirOptions) -> Shown:
    """Score configurations on a BEIR folder; the index is kept for the next time."""
    from core.bootstrap import build, evaluation_workspace

    main = build(call.settings)
    collection = beir.read(form.folder, form.split, form.limit, form.sample, form.seed)
    app = evaluation_workspace(
        main, introduced(call.settings, call.user), f"beir-{collection.name}-{collection.digest}"
    )
    team_settings = (main if (call.settings.home / "kb.git").is_dir() else app).platform.settings
    profile = team_settings.profile(form.profile)
    serves = team_settings is main.platform.settings
    usual = team_settings.production().config if serves else configs.RECOMMENDED  # as a new workspace searches
    if not app.knowledge.repository.head():
        app.knowledge.documents.save(collections.AUTHOR, collection.files, [], f"Records of {collection.name}")
    built = app.index.builder.build(profile, progress=call.progress)
    index = app.index.generations.open(profile)
    about = {"dataset": collection.name, "split": form.split, "profile": profile.name}
    rows = []
    for text in form.config or [""]:
        config = collections.at_depth(text, configs.parse(text), usual.depth) if text else usual
        scores = collections.run(app.search.searcher, index, collection, config, call.progress)
        rows.append({**about, "config": label(config), **collections.report(collection, scores)})
    size: dict[str, Any] = {"documents": built.generation.documents, "chunks": built.generation.chunks}
    size |= {"index": builder.as_json(built) if built.fresh else None}
    value: Any = {**rows[0], **size} if len(rows) == 1 else {**about, "configs": rows, **size}
    return Shown(value, _beir_lines(rows))


def _beir_lines(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    """The five measures at 1, 5 and 10, then the time of each stage."""
    lines = [f"{rows[0]['dataset']}, {rows[0]['queries']} queries, profile {rows[0]['profile']}"]
    for k in collections.SHALLOW:
        names = [name for name in collections.MEASURED if name.endswith(f"@{k}")] + ["Recall@100"] * (k == 10)
        lines += table(
            [(row["config"], *(f"{row[name]:.4f}" for name in names)) for row in rows], ("configuration", *names)
        )
    stages = list(dict.fromkeys(stage for row in rows for stage in row["ms_per_query"]))
    spent = [
        (row["config"], *(f"{row['ms_per_query'].get(stage, 0.0):.2f}" for stage in stages), f"{row['seconds']:.1f}")
        for row in rows
    ]
    lines += table(spent, ("ms per query", *stages, "seconds in all"))
    lines += [
        f"{row['config']}: ranked {row['depth']} deep, as a search is served; only Recall@100 looks "
        f"{row['recall_depth']} deep."
        for row in rows
    ]
    return lines + [f"! {line}" for row in rows for line in row["warnings"]]


@command(
    "eval run",
    "run configurations over a query set; the same run again is free",
    "evaluation.runs.estimate",
    example="eval run few --config bm25",
)
def eval_run(call: CommandCall, form: EvalRunOptions) -> Shown:
    app = call.app
    pairs = _pairs(call, form.profile, form.config)
    if form.estimate:
        return show_estimate(app.evaluation.runs.estimate(call.actor, form.queryset, pairs))
    if form.background:
        return start_run(
            call, RunForm(queryset=form.queryset, configs=form.config, profiles=form.profile, unit=form.unit)
        )
    one_of(form.against, (PRODUCTION, BEST), "baseline")
    runs = app.evaluation.runs.measure(call.actor, form.queryset, pairs, form.unit, call.progress)
    production = app.evaluation.runs.serving(runs) if form.against == PRODUCTION else ""
    order, against = comparisons.leaderboard(runs, form.measure, production), PRODUCTION if production else BEST
    if not order:
        raise BadInput(f"No run has the measure {form.measure!r}. They have: {', '.join(runs[0].figures)}.")
    value = {
        "queryset": form.queryset,
        "unit": form.unit,
        "measure": form.measure,
        "runs": [_ranked(row, against, form.by, form.measure) for row in order],
    }
    paid, shown = any(run.cost for run in runs), _columns(form.measure)
    names, timed = distinct(runs, {run.id: run.name for run in runs}), last_timed(runs)
    rows = [
        (
            row.run.id,
            names[row.run.id],
            *(f"{row.run.figures.get(name, 0.0):.4f}" for name in shown),
            f"{row.figure.low:.3f}..{row.figure.high:.3f}",
            f"{row.run.times['total']['p50']:.2f}" if row.run.timed == timed else "-",
            *([dollars_of(1000 * row.run.cost)] if paid else []),
        )
        for row in order
    ]
    lines = table(rows, ("run", "configuration", *shown, "95 %", "p50 ms", *(["per 1,000"] if paid else [])))
    lines += [f"{names[row.run.id]} against {against}: {row.against.sentence}" for row in order if row.against]
    lines += _depths(runs, app.platform.settings.production().config.depth)
    lines += [f"! {line}" for run in runs for line in run.warnings]
    lost = runs[0].unmapped
    lines += [f"! {len(lost)} judgments were not mapped; see: python -m core eval querysets NAME"] if lost else []
    return Shown(value, lines)


@operation(
    "start_run",
    "POST /runs",
    "StartedJob",
    calls="evaluation.runs.start",
    status=202,
    example='POST /runs {"queryset": "few", "configs": ["bm25"]}',
)
def start_run(call: UseCaseCall, form: RunForm) -> Shown:
    """Run configurations over a query set, as a job."""
    pairs = _pairs(call, form.profiles, form.configs)
    job = call.app.evaluation.runs.start(call.actor, form.queryset, pairs, form.unit)
    return Shown({"job": job.id}, [f"Started as job {job.id}. Look at it with: python -m core jobs list"])


@operation("show_run", "GET /runs/{run}", "RunAnswer", calls="evaluation.runs.show", example="GET /runs/RUN")
def show_run(call: UseCaseCall, form: OneRun) -> Shown:
    """One run with its measures."""
    return Shown(run_json(call.app.evaluation.runs.show(call.actor, form.run)))


def _depths(runs: Sequence[Run], served: int) -> list[str]:
    """How deep runs looked where that is not as deep as production looks: promoted, they are served as they were
    measured.
    """
    named = distinct(runs, {run.id: run.name for run in runs})
    others = {named[run.id]: run.config.depth for run in runs if run.config.depth != served}
    return [f"{name}: ranked {depth} deep, production {served} deep." for name, depth in others.items()]


def _pairs(call: UseCaseCall, profiles: Sequence[str], texts: Sequence[str]) -> list[tuple[str, str]]:
    """Profiles and configurations to run; what names no depth is as deep as production, so that methods are
    compared.
    """
    served = call.app.platform.settings.production().config.depth
    deep = [spell(collections.at_depth(text, configs.parse(text), served)) if text else "" for text in texts or [""]]
    return [(profile, config) for profile in profiles or [""] for config in deep]


def _columns(measure: str) -> tuple[str, ...]:
    """What a list by a measure shows: the usual ones, or those over passages, and the measure in any case.

    >>> _columns("T1EM"), _columns("Recall@50")[0]
    (('T1EM', 'T1C', 'T1O', 'SpanMRR', 'nDCG@10'), 'Recall@50')
    """
    usual = (*KEY, SHOWN[0]) if measure in PASSAGES else SHOWN
    return usual if measure in usual else (measure, *usual)


def _ranked(row: comparisons.LeaderboardRow, against: str, by: str, measure: str) -> dict[str, Any]:
    groups = comparisons.grouped(row.run, by, measure)
    return {
        **run_json(row.run),
        "mean": row.figure.mean,
        "low": row.figure.low,
        "high": row.figure.high,
        f"against_{against}": strict.plain(row.against),
        by: {name: {"mean": mean, "questions": count} for name, (mean, count) in groups.items()},
    }


@operation("list_runs", "GET /runs", "[RunAnswer]", paged=True, example="GET /runs?queryset=few")
@command("eval runs", "runs that were kept, newest first", "evaluation.runs.listed")
def eval_runs(call: UseCaseCall, form: EvalRunsOptions) -> Shown:
    """Runs that were kept, newest first."""
    runs = call.app.evaluation.runs.listed(call.actor, form.queryset, RECENT if call.typed else MOST)
    rows = [
        (
            run.id,
            run.queryset,
            run.name,
            f"{run.figures.get('nDCG@10', 0.0):.4f}",
            run.questions,
            run.commit[:12],
            run.created,
        )
        for run in runs
    ]
    heads = ("run", "query set", "configuration", "nDCG@10", "questions", "commit", "created")
    return Shown(Rows(runs, run_json), table(rows, heads))


@operation("compare_runs", "GET /comparisons", "RunComparisonAnswer", example="GET /comparisons?before=RUN&after=OTHER")
@command(
    "eval compare",
    "two runs: difference, interval, wins, ties, losses",
    "evaluation.runs.show",
    example="eval compare RUN OTHER",
)
def eval_compare(call: UseCaseCall, form: EvalCompareOptions) -> Shown:
    """Two runs: difference, interval, wins, ties, losses."""
    before, after = (call.app.evaluation.runs.show(call.actor, run) for run in (form.before, form.after))
    comparison = comparisons.compare(before, after, form.measure)
    some = [row for row in comparison.rows if row.difference < 0][: form.worst]
    some += [row for row in comparison.rows if row.difference > 0][::-1][: form.worst]
    rows = [(f"{row.difference:+.3f}", f"{row.before:.3f}", f"{row.after:.3f}", row.text[:80]) for row in some]
    lines = [
        f"{comparison.after.name} against {comparison.before.name}, {comparison.measure}: {comparison.overall.sentence}"
    ]
    lines += [comparison.spent, *([f"! {comparison.note}"] if comparison.note else [])]
    lines += [f"  {name}: {difference.sentence}" for name, difference in comparison.by_category.items()]
    return Shown(comparison_json(comparison), [*lines, *table(rows, ("difference", "before", "after", "question"))])


@command(
    "eval drift",
    "run production again where it was measured before, and name significant losses",
    "tuning.production.check",
)
def eval_drift(call: CommandCall, form: EvalDriftOptions) -> Shown:
    """Exit 1 when production lost quality since it was last measured."""
    drifts = call.app.tuning.production.check(call.actor, form.measure, call.progress)
    if not drifts:
        raise Unavailable("Production was never measured on a query set.", EVALUATE)
    call.app.evaluation.jobs.keep_result(call.actor, "drift", drifted(drifts))
    value = [
        {
            "queryset": drift.queryset,
            "run": drift.now.id if drift.now else None,
            "before": drift.before.id if drift.before else None,
            "lost": drift.lost,
            "comparison": strict.plain(drift.compared.overall) if drift.compared else None,
            "sentence": drift.sentence,
        }
        for drift in drifts
    ]
    return Shown(value, [drift.sentence for drift in drifts], 1 if any(drift.lost for drift in drifts) else 0)
