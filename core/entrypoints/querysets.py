"""Query sets on the command line: list, generate, import, export, judge."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from core import strict
from core.access import Actor
from core.entrypoints.session import acting, open_app
from core.entrypoints.terminal import Terminal, table
from core.errors import BadInput
from core.evaluation.querysets.export_querysets import WRITERS
from core.evaluation.runs import pooling
from core.evaluation.runs.export_runs import RUN_FORMATS
from core.settings import Settings

if TYPE_CHECKING:
    from core.bootstrap import App


def register(add: Any) -> None:
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


def eval_querysets(settings: Settings, options: Namespace, terminal: Terminal) -> int:
    app = open_app(settings)
    if options.name:
        return _one_set(app, acting(app, options), options.name, terminal)
    querysets = app.evaluation.querysets.listed(acting(app, options))
    rows = [
        (queryset.name, queryset.questions, queryset.judgments, queryset.judges, queryset.created, queryset.about)
        for queryset in querysets
    ]
    terminal.show(
        strict.plain(querysets), table(rows, ("name", "questions", "judgments", "judges", "created", "about"))
    )
    return 0


def _one_set(app: App, actor: Actor, name: str, terminal: Terminal) -> int:
    queryset, agreed = app.evaluation.querysets.show(actor, name), app.evaluation.querysets.agreement(actor, name)
    lost = app.evaluation.querysets.unmapped(actor, name, app.search.searcher.index())
    value = {
        "name": queryset.name,
        "about": queryset.about,
        "digest": queryset.digest,
        "questions": len(queryset.questions),
        "judgments": len(queryset.judgments),
        "agreement": strict.plain(agreed),
        "unmapped": [
            {"question": judgment.judgment.question, "path": judgment.judgment.path, "why": judgment.why}
            for judgment in lost
        ],
    }
    lines = [
        f"{queryset.name}: {len(queryset.questions)} questions, {len(queryset.judgments)} judgments. {queryset.about}"
    ]
    lines += [
        f"{' and '.join(pair.judges)}: kappa {pair.kappa:.2f} on {pair.places} places"
        for pair in agreed
        if pair.kappa is not None
    ]
    lines += [f"not mapped  {judgment['question']}: {judgment['why']}" for judgment in value["unmapped"]]
    terminal.show(value, lines)
    return 0


def eval_generate(settings: Settings, options: Namespace, terminal: Terminal) -> int:
    app = open_app(settings)
    context = app.evaluation.experiments.context
    refused: Mapping[str, int] = {}
    if options.kind == "known-items":
        queryset = context.generate(
            acting(app, options), options.seed, options.per_category, options.name or options.kind, terminal.progress
        )
    elif options.kind == "qa":
        queryset, refused = context.generate_qa(
            acting(app, options), options.seed, options.per_category, options.name, terminal.progress
        )
    elif options.kind == "frontmatter":
        queryset = app.evaluation.querysets.from_frontmatter(acting(app, options), options.name or options.kind)
    else:
        raise BadInput(f"There is no kind {options.kind!r}. Kinds: known-items, qa, frontmatter.")
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
        "digest": queryset.digest,
    }
    lines = [f"{queryset.name}: {len(queryset.questions)} questions, {len(queryset.judgments)} judgments."]
    lines += [f"  {name or 'uncategorised':<20} {count}" for name, count in categories.items()]
    lines += [f"refused {count}: {why}" for why, count in refused.items()]
    terminal.show(value, lines)
    return 0


def eval_import(settings: Settings, options: Namespace, terminal: Terminal) -> int:
    """Bad lines are named, the rest is imported."""
    app = open_app(settings)
    queryset, problems = app.evaluation.querysets.read(
        acting(app, options), options.path, options.format, options.name, options.split
    )
    lines = [f"{queryset.name}: {len(queryset.questions)} questions, {len(queryset.judgments)} judgments."]
    lines += [f"left out  {problem.file}, line {problem.line}: {problem.why}" for problem in problems]
    value = {"queryset": queryset.name, "questions": len(queryset.questions), "judgments": len(queryset.judgments)}
    terminal.show({**value, "problems": strict.plain(problems)}, lines)
    return 0


def eval_export(settings: Settings, options: Namespace, terminal: Terminal) -> int:
    app = open_app(settings)
    actor = acting(app, options)
    known = {queryset.name for queryset in app.evaluation.querysets.listed(actor)}
    if options.format in ("trec-run", "json") or (options.format == "csv" and options.name not in known):
        run = app.evaluation.runs.show(actor, options.name)
        options.out.parent.mkdir(parents=True, exist_ok=True)
        options.out.write_text(RUN_FORMATS[options.format](run), encoding="utf-8")
        files: tuple[Path, ...] = (options.out,)
    else:
        files = app.evaluation.querysets.write(actor, options.name, options.out, options.format)
    terminal.show({"files": [str(path) for path in files]}, [f"Wrote {path}" for path in files])
    return 0


def eval_judge(settings: Settings, options: Namespace, terminal: Terminal) -> int:
    """Grades by a language model, labelled as such, and its agreement with people."""
    app = open_app(settings)
    actor = acting(app, options)
    runs = [app.evaluation.runs.show(actor, number) for number in options.runs]
    llm = app.models.registry.llm()
    pool = pooling.pool(runs, app.search.searcher.index(runs[0].profile), options.depth)
    judged, failed = app.evaluation.querysets.judge_by_model(actor, options.queryset, pool, llm, terminal.progress)
    agreed = app.evaluation.querysets.agreement(actor, options.queryset)
    lines = [f"{llm.name} judged {judged} passages; {failed} answers could not be used."]
    lines += [f"{' and '.join(pair.judges)}: kappa {pair.kappa:.2f}" for pair in agreed if pair.kappa is not None]
    terminal.show({"judged": judged, "failed": failed, "agreement": strict.plain(agreed)}, lines)
    return 0
