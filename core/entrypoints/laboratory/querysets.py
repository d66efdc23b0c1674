"""Query sets on the command line: list, generate, import, export, judge."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from core import strict
from core.access import Actor
from core.entrypoints.contracts.evaluation_json import one_json
from core.entrypoints.record import (
    MAYBE,
    SOME,
    Argument,
    CommandCall,
    Option,
    Rows,
    Shown,
    UseCaseCall,
    command,
    form,
    operation,
)
from core.entrypoints.terminal import table
from core.errors import BadInput
from core.evaluation.generators.known_items import KnownItemSettings
from core.evaluation.generators.qa import QaSettings
from core.evaluation.querysets.export_querysets import WRITERS
from core.evaluation.querysets.ratings import PoolSummary
from core.evaluation.runs import pooling
from core.evaluation.runs.run import RUN_FORMATS
from core.services.evaluation.measurement_jobs import worded_by_rules
from core.services.models.call_estimates import CallEstimate, total

if TYPE_CHECKING:
    from core.bootstrap import App

ESTIMATE = "say what language models would be asked and what that costs, and stop"


@form
class EvalQuerysetsOptions:
    name: Annotated[str, Argument("NAME", "one query set, to see more of it (default: all)", nargs=MAYBE)] = ""
    questions: Annotated[bool, Option("also every question with its id and its judgments")] = False


@form
class OneQuerySet:
    queryset: Annotated[str, Argument(help="the name of a query set, as eval querysets lists it")]
    questions: Annotated[bool, Option("also every question with its judgments")] = False


@form
class EvalGenerateOptions:
    estimate: Annotated[bool, Option(ESTIMATE)] = False
    name: Annotated[str, Argument("NAME", "the name of the new query set (default: its kind)", nargs=MAYBE)] = ""
    kind: Annotated[str, Option("known-items, qa (needs a language model) or frontmatter")] = "known-items"
    seed: Annotated[int, Option("the same seed gives the same questions")] = 42
    per_category: Annotated[int, Option("at most so many of each category or kind")] = 120


@form
class EvalImportOptions:
    path: Annotated[Path, Argument("PATH", "the file or folder to read")]
    format: Annotated[str, Option("beir, trec, csv or jsonl (default: by its looks)")] = ""
    name: Annotated[str, Option("what to call it")] = ""
    split: Annotated[str, Option("which qrels of a BEIR folder")] = "test"


@form
class EvalExportOptions:
    name: Annotated[str, Argument("NAME_OR_RUN", "a query set by its name, or a run by its id")]
    out: Annotated[Path, Argument("OUT", "the file or folder to write")]
    format: Annotated[str, Option(f"{', '.join(WRITERS)}; for a run: trec-run, json or csv")] = "jsonl"


@form
class EvalJudgeOptions:
    queryset: Annotated[str, Argument("QUERYSET", "the name of a query set, as eval querysets lists it")]
    runs: Annotated[tuple[str, ...], Argument("RUN", "ids of runs, as eval runs prints them", nargs=SOME)]
    depth: Annotated[int, Option("passages per run and question")] = 5
    estimate: Annotated[bool, Option("say what the model would be asked, and stop")] = False


@command(
    "eval querysets",
    "query sets, or one of them with agreement and lost judgments",
    "evaluation.querysets.listed",
    example="eval querysets answers",
)
def eval_querysets(call: CommandCall, form: EvalQuerysetsOptions) -> Shown:
    if form.name:
        return show_queryset(call, OneQuerySet(queryset=form.name, questions=form.questions))
    return list_querysets(call)


@operation(
    "list_querysets",
    "GET /querysets",
    "[QuerySetSummary]",
    calls="evaluation.querysets.listed",
    paged=True,
    example="GET /querysets",
)
def list_querysets(call: UseCaseCall) -> Shown:
    """Every query set, newest first."""
    querysets = call.app.evaluation.querysets.listed(call.actor)
    rows = [
        (queryset.name, queryset.questions, queryset.judgments, queryset.judges, queryset.created, queryset.about)
        for queryset in querysets
    ]
    return Shown(Rows(querysets), table(rows, ("name", "questions", "judgments", "judges", "created", "about")))


@operation(
    "show_queryset",
    "GET /querysets/{queryset}",
    "QuerySetWhole",
    calls="evaluation.querysets.show",
    example="GET /querysets/answers?questions=true",
)
def show_queryset(call: UseCaseCall, form: OneQuerySet) -> Shown:
    """A query set, how far its judges agree, and which judgments find no place."""
    value = one_json(call.app, call.actor, form.queryset, questions=form.questions)
    return Shown(value, lambda: _one_set(call.app, call.actor, value))


def _one_set(app: App, actor: Actor, value: Mapping[str, Any]) -> list[str]:
    agreed = app.evaluation.querysets.agreement(actor, value["name"])
    lines = [f"{value['name']}: {value['questions']} questions, {value['judgments']} judgments. {value['about']}"]
    lines += [
        f"{' and '.join(pair.judges)}: kappa {pair.kappa:.2f} on {pair.places} places"
        for pair in agreed
        if pair.kappa is not None
    ]
    lines += _pool_lines(app.evaluation.querysets.pool_summary(actor, value["name"]))
    lines += [f"left out  {problem['file']}, line {problem['line']}: {problem['why']}" for problem in value["left_out"]]
    lines += [f"not mapped  {judgment['question']}: {judgment['why']}" for judgment in value["unmapped"]]
    for asked in value.get("listed", ()):
        lines.append(f"{asked['id']}  {asked['text']}")
        lines += [f"    {given['grade']:g}  {given['path']}  {given['note']}".rstrip() for given in asked["judgments"]]
    return lines


def _pool_lines(summary: PoolSummary) -> list[str]:
    """Whether answers were good, and how often a judge added a passage; nothing where nobody said."""
    lines = []
    for quality in summary.answers:
        lines.append(f"{quality.kind}: good for {quality.good} questions, partly for {quality.partly}")
        lines += [
            f"  {' and '.join(pair.judges)}: kappa {pair.kappa:.2f} on {pair.places} answers"
            for pair in quality.judges
            if pair.kappa is not None
        ]
    if summary.added.of:
        lines.append(
            f"judges added a passage for {summary.added} questions, a new document for {summary.new_documents}"
        )
    return lines


def show_estimate(rows: Sequence[CallEstimate]) -> Shown:
    """What language models would be asked, instead of asking them."""
    lines = [f"{row.purpose}: {total([row])}" for row in rows]
    return Shown(
        [strict.plain(row) for row in rows], [*lines, total(rows)] if rows else ["No language model is asked."]
    )


@command(
    "eval generate",
    "make a query set from the knowledge base",
    "evaluation.jobs.estimate",
    example="eval generate known --kind frontmatter",
)
def eval_generate(call: CommandCall, form: EvalGenerateOptions) -> Shown:
    app = call.app
    generator = app.evaluation.generator
    refused, left_out = dict[str, int](), dict[str, str]()
    if form.estimate:
        rows = app.evaluation.jobs.estimate(call.actor, form.kind, form.per_category)
        return show_estimate(rows)
    if form.kind == "known-items":
        by_rules = Counter[str]()
        items = KnownItemSettings(form.seed, form.per_category, form.name or form.kind)
        queryset = generator.known_items(call.actor, items, call.progress, by_rules)
        refused, left_out = worded_by_rules(by_rules), generator.left_out(queryset)
    elif form.kind == "qa":
        asked = QaSettings(form.seed, form.per_category, form.name or QaSettings().name)
        made = generator.qa(call.actor, asked, call.progress)
        queryset, refused, left_out = made.queryset, dict(made.refused), dict(made.left_out)
    elif form.kind == "frontmatter":
        queryset = app.evaluation.querysets.from_frontmatter(call.actor, form.name or form.kind)
    else:
        raise BadInput(f"There is no kind {form.kind!r}. Kinds: known-items, qa, frontmatter.")
    categories: dict[str, int] = {}
    for question in queryset.questions:
        categories[question.category] = categories.get(question.category, 0) + 1
    value = {
        "queryset": queryset.name,
        "questions": len(queryset.questions),
        "judgments": len(queryset.judgments),
        "categories": categories,
        "sources": sorted({judgment.source for judgment in queryset.judgments}),
        "refused": refused,
        "left_out": left_out,
        "digest": queryset.digest,
    }
    lines = [f"{queryset.name}: {len(queryset.questions)} questions, {len(queryset.judgments)} judgments."]
    lines += [f"  {name or 'uncategorised':<20} {count}" for name, count in categories.items()]
    lines += [f"refused {count}: {why}" for why, count in refused.items()]
    lines += [f"left out {kind}: {why}." for kind, why in left_out.items()]
    return Shown(value, lines)


@command(
    "eval import",
    "a query set from BEIR, TREC, CSV or JSONL",
    "evaluation.querysets.read",
    example="eval import questions.csv --name typed",
)
def eval_import(call: CommandCall, form: EvalImportOptions) -> Shown:
    """Bad lines are named, the rest is imported."""
    queryset, problems = call.app.evaluation.querysets.read(call.actor, form.path, form.format, form.name, form.split)
    left = f", {len(problems)} lines left out" if problems else ""
    lines = [f"{queryset.name}: {len(queryset.questions)} questions, {len(queryset.judgments)} judgments{left}."]
    lines += [f"left out  {problem.file}, line {problem.line}: {problem.why}" for problem in problems]
    value = {"queryset": queryset.name, "questions": len(queryset.questions), "judgments": len(queryset.judgments)}
    return Shown({**value, "problems": strict.plain(problems)}, lines)


@command(
    "eval export",
    "a query set or a run as files",
    "evaluation.querysets.listed",
    example="eval export answers answers.jsonl",
)
def eval_export(call: CommandCall, form: EvalExportOptions) -> Shown:
    app = call.app
    actor = call.actor
    known = {queryset.name for queryset in app.evaluation.querysets.listed(actor)}
    if form.format in ("trec-run", "json") or (form.format == "csv" and form.name not in known):
        run = app.evaluation.runs.show(actor, form.name)
        form.out.parent.mkdir(parents=True, exist_ok=True)
        form.out.write_text(RUN_FORMATS[form.format](run), encoding="utf-8")
        files: tuple[Path, ...] = (form.out,)
    else:
        files = app.evaluation.querysets.write(actor, form.name, form.out, form.format)
    return Shown({"files": [str(path) for path in files]}, [f"Wrote {path}" for path in files])


@command(
    "eval judge",
    "let the language model judge what runs found; labelled as such",
    "evaluation.runs.show",
    example="eval judge answers RUN --estimate",
)
def eval_judge(call: CommandCall, form: EvalJudgeOptions) -> Shown:
    """Grades by a language model, labelled as such, and its agreement with people."""
    app = call.app
    actor = call.actor
    runs = [app.evaluation.runs.show(actor, number) for number in form.runs]
    llm = app.models.registry.llm()
    index = app.search.searcher.index(runs[0].profile)
    asked = {ident: result.question for run in runs for ident, result in run.results.items()}
    added = app.playground.pools.added_chunks(actor, list(asked.values()), index)
    pool = pooling.pool(runs, index, form.depth, added=added)
    if form.estimate:
        return show_estimate(app.evaluation.runs.estimate_judging(actor, form.queryset, pool))
    judged, failed = app.evaluation.querysets.judge_by_model(actor, form.queryset, pool, llm, call.progress)
    agreed = app.evaluation.querysets.agreement(actor, form.queryset)
    lines = [f"{llm.name} judged {judged} passages; {sum(failed.values())} could not be judged."]
    caveat = app.models.fitness.caveat(llm.name, llm.server, "judge")
    lines += [f"{count} times: {why}" for why, count in failed.items()] + ([caveat] if caveat else [])
    lines += [f"{' and '.join(pair.judges)}: kappa {pair.kappa:.2f}" for pair in agreed if pair.kappa is not None]
    row = {"judged": judged, "failed": sum(failed.values()), "why": dict(failed), "agreement": strict.plain(agreed)}
    row["caveat"] = caveat
    return Shown(row, lines)
