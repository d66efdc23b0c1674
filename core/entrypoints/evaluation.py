"""Commands that measure: query sets, generators, runs, comparisons, experiments."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from core import strict
from core.curation.billing import dollars_of
from core.entrypoints.commands import acting, open_app
from core.entrypoints.terminal import Terminal, table
from core.errors import BadInput, Unavailable
from core.evaluation import comparisons, pooling, report
from core.evaluation.exporting import RUN_FORMATS
from core.evaluation.runs import Run
from core.evaluation.writing import WRITERS
from core.services.experiments import EXPERIMENTS
from core.settings import Settings

SHOWN = ("nDCG@10", "Recall@10", "MRR@10", "P@5")


def register(add: Any) -> None:
    """The commands of `eval`."""
    _sets(add)
    run = add("run", eval_run, "run configurations over a query set; the same run again is free")
    run.add_argument("queryset", metavar="QUERYSET")
    run.add_argument("--config", action="append", default=[], help="a configuration; repeat for several")
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
    experiment = add("experiment", eval_experiment, f"a built-in experiment: {', '.join(EXPERIMENTS)}")
    experiment.add_argument("name", metavar="NAME")
    experiment.add_argument("--queryset", default="", help="which questions (default: known items, made if need be)")
    experiment.add_argument("--limit", type=int, default=0, help="only so many questions, evenly from every category")
    experiment.add_argument("--out", type=Path, default=None, help="where the HTML report goes (default: reports/)")
    experiment.add_argument("--markdown", type=Path, default=None, help="also write the tables as Markdown")
    drift = add("drift", eval_drift, "run production again where it was measured before, and name significant losses")
    drift.add_argument("--measure", default=comparisons.MEASURE, help="what is compared")


def _sets(add: Any) -> None:
    sets = add("querysets", eval_querysets, "query sets, or one of them with agreement and lost judgments")
    sets.add_argument("name", nargs="?", default="", metavar="NAME")
    generate = add("generate", eval_generate, "make a query set from the knowledge base")
    generate.add_argument("name", nargs="?", default="", metavar="NAME")
    generate.add_argument(
        "--kind", default="known-items", help="known-items, qa (needs a language model) or frontmatter"
    )
    generate.add_argument("--seed", type=int, default=42, help="the same seed gives the same questions")
    generate.add_argument("--per-category", type=int, default=120, help="at most so many of each category or kind")
    bring = add("import", eval_import, "a query set from BEIR, TREC, CSV or JSONL")
    bring.add_argument("path", type=Path, metavar="PATH")
    bring.add_argument("--format", default="", help="beir, trec, csv or jsonl (default: by its looks)")
    bring.add_argument("--name", default="", help="what to call it")
    bring.add_argument("--split", default="test", help="which qrels of a BEIR folder")
    give = add("export", eval_export, "a query set or a run as files")
    give.add_argument("name", metavar="NAME_OR_RUN")
    give.add_argument("out", type=Path, metavar="OUT")
    give.add_argument("--format", default="jsonl", help=f"{', '.join(WRITERS)}; for a run: trec-run, json or csv")
    judge = add("judge", eval_judge, "let the language model judge what runs found; labelled as such")
    judge.add_argument("queryset", metavar="QUERYSET")
    judge.add_argument("runs", nargs="+", metavar="RUN")
    judge.add_argument("--depth", type=int, default=5, help="passages per run and question")


# ---------------------------------------------------------------- query sets


def eval_querysets(settings: Settings, options: Namespace, terminal: Terminal) -> int:
    """Every query set, or one closer."""
    app = open_app(settings)
    if options.name:
        return _one_set(app, options.name, terminal)
    found = app.querysets.all()
    rows = [(one.name, one.questions, one.judgments, one.judges, one.created, one.about) for one in found]
    terminal.show(strict.plain(found), table(rows, ("name", "questions", "judgments", "judges", "created", "about")))
    return 0


def _one_set(app: Any, name: str, terminal: Terminal) -> int:
    found, agreed = app.querysets.get(name), app.querysets.agreement(name)
    lost = app.querysets.unmapped(name, app.searching.index())
    value = {
        "name": found.name,
        "about": found.about,
        "digest": found.digest,
        "questions": len(found.questions),
        "judgments": len(found.judgments),
        "agreement": strict.plain(agreed),
        "unmapped": [{"question": one.judgment.question, "path": one.judgment.path, "why": one.why} for one in lost],
    }
    lines = [f"{found.name}: {len(found.questions)} questions, {len(found.judgments)} judgments. {found.about}"]
    lines += [
        f"{' and '.join(one.judges)}: kappa {one.kappa:.2f} on {one.places} places"
        for one in agreed
        if one.kappa is not None
    ]
    lines += [f"not mapped  {one['question']}: {one['why']}" for one in value["unmapped"]]
    terminal.show(value, lines)
    return 0


def eval_generate(settings: Settings, options: Namespace, terminal: Terminal) -> int:
    """Questions from the knowledge base."""
    app = open_app(settings)
    bench = app.experiments.workbench
    refused: Mapping[str, int] = {}
    if options.kind == "known-items":
        made = bench.generate(
            acting(app, options), options.seed, options.per_category, options.name or options.kind, terminal.progress
        )
    elif options.kind == "qa":
        made, refused = bench.interview(
            acting(app, options), options.seed, options.per_category, options.name, terminal.progress
        )
    elif options.kind == "frontmatter":
        made = app.querysets.from_frontmatter(acting(app, options), options.name or options.kind)
    else:
        raise BadInput(f"There is no kind {options.kind!r}. Kinds: known-items, qa, frontmatter.")
    categories: dict[str, int] = {}
    for question in made.questions:
        categories[question.category] = categories.get(question.category, 0) + 1
    value = {
        "queryset": made.name,
        "questions": len(made.questions),
        "judgments": len(made.judgments),
        "categories": categories,
        "sources": sorted({one.source for one in made.judgments}),
        "refused": refused,
        "digest": made.digest,
    }
    lines = [f"{made.name}: {len(made.questions)} questions, {len(made.judgments)} judgments."]
    lines += [f"  {name or 'uncategorised':<20} {count}" for name, count in categories.items()]
    lines += [f"refused {count}: {why}" for why, count in refused.items()]
    terminal.show(value, lines)
    return 0


def eval_import(settings: Settings, options: Namespace, terminal: Terminal) -> int:
    """Bring a query set in; bad lines are named, the rest goes in."""
    app = open_app(settings)
    made, problems = app.querysets.read(acting(app, options), options.path, options.format, options.name, options.split)
    lines = [f"{made.name}: {len(made.questions)} questions, {len(made.judgments)} judgments."]
    lines += [f"left out  {one.file}, line {one.line}: {one.why}" for one in problems]
    value = {"queryset": made.name, "questions": len(made.questions), "judgments": len(made.judgments)}
    terminal.show({**value, "problems": strict.plain(problems)}, lines)
    return 0


def eval_export(settings: Settings, options: Namespace, terminal: Terminal) -> int:
    """Write a query set or a run."""
    app = open_app(settings)
    if options.format in ("trec-run", "json") or (
        options.format == "csv" and options.name not in {one.name for one in app.querysets.all()}
    ):
        run = app.runs.get(options.name)
        options.out.parent.mkdir(parents=True, exist_ok=True)
        options.out.write_text(RUN_FORMATS[options.format](run), encoding="utf-8")
        files: tuple[Path, ...] = (options.out,)
    else:
        files = app.querysets.write(options.name, options.out, options.format)
    terminal.show({"files": [str(path) for path in files]}, [f"Wrote {path}" for path in files])
    return 0


def eval_judge(settings: Settings, options: Namespace, terminal: Terminal) -> int:
    """A language model as a judge, labelled as such, with its agreement with people."""
    app = open_app(settings)
    llm = app.models.llm()
    runs = [app.runs.get(number) for number in options.runs]
    pool = pooling.pool(runs, app.searching.index(runs[0].profile), options.depth)
    judged, failed = app.querysets.judge_by_model(acting(app, options), options.queryset, pool, llm, terminal.progress)
    agreed = app.querysets.agreement(options.queryset)
    lines = [f"{llm.name} judged {judged} passages; {failed} answers could not be used."]
    lines += [f"{' and '.join(one.judges)}: kappa {one.kappa:.2f}" for one in agreed if one.kappa is not None]
    terminal.show({"judged": judged, "failed": failed, "agreement": strict.plain(agreed)}, lines)
    return 0


# ---------------------------------------------------------------- runs


def eval_run(settings: Settings, options: Namespace, terminal: Terminal) -> int:
    """Configurations over a query set, ranked."""
    app = open_app(settings)
    pairs = [(profile, config) for profile in options.profile or [""] for config in options.config or [""]]
    if options.background:
        job = app.runs.start(acting(app, options), options.queryset, pairs, options.unit)
        terminal.show({"job": job.id}, [f"Started as job {job.id}. Look at it with: python -m core jobs list"])
        return 0
    made = app.runs.measure(acting(app, options), options.queryset, pairs, options.unit, terminal.progress)
    order = comparisons.leaderboard(made, options.measure)
    if not order:
        raise BadInput(f"No run has the measure {options.measure!r}. They have: {', '.join(made[0].figures)}.")
    value = {
        "queryset": options.queryset,
        "unit": options.unit,
        "measure": options.measure,
        "runs": [_standing(one, options.by, options.measure) for one in order],
    }
    paid = any(run.cost for run in made)
    rows = [
        (
            one.run.id,
            one.run.name,
            *(f"{one.run.figures.get(name, 0.0):.4f}" for name in SHOWN),
            f"{one.figure.low:.3f}..{one.figure.high:.3f}",
            f"{one.run.times['total']['p50']:.2f}",
            *([dollars_of(1000 * one.run.cost)] if paid else []),
        )
        for one in order
    ]
    lines = table(rows, ("run", "configuration", *SHOWN, "95 %", "p50 ms", *(["per 1,000"] if paid else [])))
    lines += [f"{one.run.name}: {one.against_best.sentence}" for one in order if one.against_best]
    lines += [f"! {line}" for run in made for line in run.warnings]
    lost = made[0].unmapped
    lines += [f"! {len(lost)} judgments were not mapped; see: python -m core eval querysets NAME"] if lost else []
    terminal.show(value, lines)
    return 0


def _standing(one: comparisons.Standing, by: str, measure: str) -> dict[str, Any]:
    groups = comparisons.grouped(one.run, by, measure)
    return {
        **_run_json(one.run),
        "mean": one.figure.mean,
        "low": one.figure.low,
        "high": one.figure.high,
        "against_best": strict.plain(one.against_best),
        by: {name: {"mean": mean, "questions": count} for name, (mean, count) in groups.items()},
    }


def _run_json(run: Run) -> dict[str, Any]:
    facts = strict.plain(run)
    facts.pop("results")
    return {**facts, "name": run.name, "cost_per_1000": 1000 * run.cost}


def eval_runs(settings: Settings, options: Namespace, terminal: Terminal) -> int:
    """Runs that were kept."""
    found = open_app(settings).runs.all(options.queryset)
    rows = [
        (one.id, one.queryset, one.name, f"{one.figures.get('nDCG@10', 0.0):.4f}", one.questions, one.commit[:12], one.created)
        for one in found
    ]  # fmt: skip
    heads = ("run", "query set", "configuration", "nDCG@10", "questions", "commit", "created")
    terminal.show([_run_json(one) for one in found], table(rows, heads))
    return 0


def eval_compare(settings: Settings, options: Namespace, terminal: Terminal) -> int:
    """Two runs, question by question."""
    app = open_app(settings)
    found = comparisons.compare(app.runs.get(options.before), app.runs.get(options.after), options.measure)
    value = {
        "before": _run_json(found.before),
        "after": _run_json(found.after),
        "measure": found.measure,
        **strict.plain(found.overall),
        "categories": strict.plain(found.by_category),
        "questions": [{**strict.plain(row), "difference": row.difference} for row in found.rows],
        "note": found.note,
    }
    some = [row for row in found.rows if row.difference < 0][: options.worst]
    some += [row for row in found.rows if row.difference > 0][::-1][: options.worst]
    rows = [(f"{row.difference:+.3f}", f"{row.before:.3f}", f"{row.after:.3f}", row.text[:80]) for row in some]
    lines = [f"{found.after.name} against {found.before.name}, {found.measure}: {found.overall.sentence}"]
    lines += [found.spent, *([f"! {found.note}"] if found.note else [])]
    lines += [f"  {name}: {one.sentence}" for name, one in found.by_category.items()]
    terminal.show(value, [*lines, *table(rows, ("difference", "before", "after", "question"))])
    return 0


def eval_experiment(settings: Settings, options: Namespace, terminal: Terminal) -> int:
    """A built-in experiment and its report."""
    app = open_app(settings)
    made = app.experiments.run(
        acting(app, options), options.name, options.queryset, options.limit, options.out, terminal.progress
    )
    if options.markdown:
        options.markdown.parent.mkdir(parents=True, exist_ok=True)
        options.markdown.write_text(report.markdown(made.report), encoding="utf-8")
    texts = [part for part in made.report.parts if isinstance(part, report.Text)]
    boards = [part for part in made.report.parts if isinstance(part, report.Table)][:1]
    lines = [made.report.title, *(line for text in texts for line in text.lines)]
    lines += [line for board in boards for line in table(board.rows, board.heads)]
    terminal.show({"report": str(made.path), **made.report.values}, [*lines, f"Report: {made.path}"])
    return 0


def eval_drift(settings: Settings, options: Namespace, terminal: Terminal) -> int:
    """Exit 1 when production lost quality since it was last measured."""
    app = open_app(settings)
    found = app.production.check(acting(app, options), options.measure, terminal.progress)
    if not found:
        raise Unavailable(
            "Production was never measured on a query set. Measure it with: python -m core eval run QUERYSET"
        )
    value = [
        {
            "queryset": one.queryset,
            "run": one.now.id,
            "before": one.before.id if one.before else None,
            "lost": one.lost,
            "comparison": strict.plain(one.compared.overall) if one.compared else None,
            "sentence": one.sentence,
        }
        for one in found
    ]
    terminal.show(value, [one.sentence for one in found])
    return 1 if any(one.lost for one in found) else 0
