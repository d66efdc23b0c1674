"""Query sets on the command line: list, generate, import, export, judge."""

from __future__ import annotations

from argparse import Namespace
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from core import strict
from core.access import Actor
from core.entrypoints.session import acting, open_app
from core.entrypoints.terminal import Terminal, table
from core.errors import BadInput, NotFound
from core.evaluation.querysets.export_querysets import WRITERS
from core.evaluation.querysets.import_querysets import ARROW
from core.evaluation.querysets.queryset import Judgment, by_question
from core.evaluation.querysets.ratings import AnswerQuality, PoolSummary, Share
from core.evaluation.runs import pooling
from core.evaluation.runs.export_runs import RUN_FORMATS
from core.services.evaluation.jobs import worded_by_rules
from core.services.models.estimates import CallEstimate, total
from core.settings import Settings

if TYPE_CHECKING:
    from core.bootstrap import App

ESTIMATE = "say what language models would be asked and what that costs, and stop"


def register(add: Any) -> None:
    sets = add("querysets", eval_querysets, "query sets, or one of them with agreement and lost judgments")
    sets.add_argument("name", nargs="?", default="", metavar="NAME")
    sets.add_argument("--questions", action="store_true", help="also every question with its id and its judgments")
    generate = add("generate", eval_generate, "make a query set from the knowledge base")
    generate.add_argument("--estimate", action="store_true", help=ESTIMATE)
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
    judge.add_argument("--estimate", action="store_true", help="say what the model would be asked, and stop")

    rename = add("rename", eval_rename, "another name for a query set; its runs go with it")
    rename.add_argument("queryset", metavar="QUERYSET")
    rename.add_argument("new", metavar="NEW")
    guard = add("guard", eval_guard, "ask every change the questions of a query set, or no longer")
    guard.add_argument("queryset")
    guard.add_argument("--off", action="store_true", help="no longer")
    question = add("question", eval_question, "add, edit or remove one question of a query set")
    question.add_argument("queryset", metavar="QUERYSET")
    question.add_argument("text", metavar="TEXT", nargs="?", default="")
    question.add_argument("--id", default="", help="the question to edit or remove (default: add a new one)")
    question.add_argument("--category", default="", help="what it is counted under")
    question.add_argument("--remove", action="store_true", help="remove the question with its judgments")
    judgment = add("judgment", eval_judgment, "add, edit or remove one judgment of a query set")
    judgment.add_argument("queryset", metavar="QUERYSET")
    judgment.add_argument("question", metavar="QUESTION", help="its id, as querysets NAME --questions lists it")
    judgment.add_argument("path", metavar="PATH", help="the document's path or id")
    judgment.add_argument("grade", metavar="GRADE", nargs="?", type=float, default=None, help="0 to 3")
    judgment.add_argument("--heading", default="", help="titles with › between them (default: the whole document)")
    judgment.add_argument("--quote", default="", help="the exact words that answer")
    judgment.add_argument("--note", default="", help="why this grade")
    judgment.add_argument("--remove", action="store_true", help="remove the judgment of this place, whoever gave it")


def eval_rename(settings: Settings, options: Namespace, terminal: Terminal) -> int:
    app = open_app(settings)
    queryset = app.evaluation.editor.rename(acting(app, options), options.queryset, options.new)
    terminal.show({"queryset": queryset.name}, [f"{options.queryset} is now called {queryset.name}."])
    return 0


def eval_guard(settings: Settings, options: Namespace, terminal: Terminal) -> int:
    app = open_app(settings)
    app.evaluation.querysets.guard(acting(app, options), options.queryset, not options.off)
    sentence = "no longer asks" if options.off else "asks every change"
    terminal.show(
        {"queryset": options.queryset, "guard": not options.off}, [f"{options.queryset} {sentence} its questions."]
    )
    return 0


def eval_question(settings: Settings, options: Namespace, terminal: Terminal) -> int:
    app = open_app(settings)
    editor, actor = app.evaluation.editor, acting(app, options)
    if options.remove:
        editor.remove_question(actor, options.queryset, options.id)
        terminal.show({"removed": options.id}, [f"The question {options.id} was removed with its judgments."])
        return 0
    if options.id:
        question = editor.edit_question(actor, options.queryset, options.id, options.text, options.category)
    else:
        question = editor.add_question(actor, options.queryset, options.text, options.category)
    terminal.show(strict.plain(question), [f"{question.id}: {question.text}"])
    return 0


def eval_judgment(settings: Settings, options: Namespace, terminal: Terminal) -> int:
    app = open_app(settings)
    actor, name = acting(app, options), options.queryset
    path = next((doc.path for doc in app.knowledge.documents.all() if options.path in (doc.path, doc.id)), options.path)
    heading = tuple(step.strip() for step in options.heading.split(ARROW.strip()) if step.strip())
    place = Judgment(options.question, path, heading, options.quote, note=options.note)
    same = [
        known
        for known in app.evaluation.querysets.show(actor, name).judgments
        if (known.question, known.path, known.heading, known.quote) == (options.question, path, heading, options.quote)
    ]
    if options.remove:
        if not same:
            raise NotFound(f"Nobody judged this place of {path!r} for the question {options.question!r}.")
        for known in same:
            app.evaluation.editor.remove_judgment(actor, name, known)
        terminal.show({"removed": strict.plain(same)}, [f"Removed {len(same)} judgments of {path}."])
        return 0
    if options.grade is None:
        raise BadInput("Give a grade from 0 to 3 after the document.")
    given = app.evaluation.editor.put_judgment(actor, name, replace(place, grade=options.grade))
    terminal.show(strict.plain(given), [f"{given.path}: {given.grade:g}."])
    return 0


def eval_querysets(settings: Settings, options: Namespace, terminal: Terminal) -> int:
    app = open_app(settings)
    if options.name:
        return _one_set(app, acting(app, options), options, terminal)
    querysets = app.evaluation.querysets.listed(acting(app, options))
    rows = [
        (queryset.name, queryset.questions, queryset.judgments, queryset.judges, queryset.created, queryset.about)
        for queryset in querysets
    ]
    terminal.show(
        strict.plain(querysets), table(rows, ("name", "questions", "judgments", "judges", "created", "about"))
    )
    return 0


def _one_set(app: App, actor: Actor, options: Namespace, terminal: Terminal) -> int:
    value = one_json(app, actor, options.name, questions=options.questions)
    agreed = app.evaluation.querysets.agreement(actor, options.name)
    lines = [f"{value['name']}: {value['questions']} questions, {value['judgments']} judgments. {value['about']}"]
    lines += [
        f"{' and '.join(pair.judges)}: kappa {pair.kappa:.2f} on {pair.places} places"
        for pair in agreed
        if pair.kappa is not None
    ]
    lines += _pool_lines(app.evaluation.querysets.pool_summary(actor, options.name))
    lines += [f"left out  {problem['file']}, line {problem['line']}: {problem['why']}" for problem in value["left_out"]]
    lines += [f"not mapped  {judgment['question']}: {judgment['why']}" for judgment in value["unmapped"]]
    for asked in value.get("listed", ()):
        lines.append(f"{asked['id']}  {asked['text']}")
        lines += [f"    {given['grade']:g}  {given['path']}  {given['note']}".rstrip() for given in asked["judgments"]]
    terminal.show(value, lines)
    return 0


def one_json(app: App, actor: Actor, name: str, *, questions: bool) -> dict[str, Any]:
    """The contract of `eval querysets NAME --json`; with `questions` also each of them with its judgments."""
    querysets = app.evaluation.querysets
    queryset, judged_pools = querysets.show(actor, name), querysets.pool_summary(actor, name)
    lost = querysets.unmapped(actor, name, app.search.searcher.index(words=True))
    value: dict[str, Any] = {
        "name": queryset.name,
        "about": queryset.about,
        "digest": queryset.digest,
        "questions": len(queryset.questions),
        "judgments": len(queryset.judgments),
        "agreement": strict.plain(querysets.agreement(actor, name)),
        "answers": [_quality_json(quality) for quality in judged_pools.answers],
        "added": _share_json(judged_pools.added),
        "new_documents": _share_json(judged_pools.new_documents),
        "left_out": strict.plain(querysets.problems(actor, name)),
        "unmapped": [
            {"question": judgment.judgment.question, "path": judgment.judgment.path, "why": judgment.why}
            for judgment in lost
        ],
    }
    if questions:
        judged = by_question(queryset.judgments)
        value["listed"] = [
            {**strict.plain(asked), "judgments": strict.plain(judged.get(asked.id, []))} for asked in queryset.questions
        ]
    return value


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


def _share_json(share: Share) -> dict[str, Any]:
    return {"count": share.count, "of": share.of, "share": share.share, "interval": list(share.interval)}


def _quality_json(quality: AnswerQuality) -> dict[str, Any]:
    good, judges = _share_json(quality.good), strict.plain(quality.judges)
    return {"kind": quality.kind, "good": good, "partly": quality.partly, "agreement": judges}


def show_estimate(terminal: Terminal, rows: Sequence[CallEstimate]) -> int:
    """What language models would be asked, instead of asking them."""
    lines = [f"{row.purpose}: {total([row])}" for row in rows]
    terminal.show(
        [strict.plain(row) for row in rows], [*lines, total(rows)] if rows else ["No language model is asked."]
    )
    return 0


def eval_generate(settings: Settings, options: Namespace, terminal: Terminal) -> int:
    app = open_app(settings)
    context = app.evaluation.experiments.context
    refused, left_out = dict[str, int](), dict[str, str]()
    if options.estimate:
        rows = app.evaluation.jobs.estimate(acting(app, options), options.kind, options.per_category)
        return show_estimate(terminal, rows)
    if options.kind == "known-items":
        by_rules = Counter[str]()
        name = options.name or options.kind
        queryset = context.generate(
            acting(app, options), options.seed, options.per_category, name, terminal.progress, by_rules
        )
        refused, left_out = worded_by_rules(by_rules), context.left_out(queryset)
    elif options.kind == "qa":
        made = context.generate_qa(
            acting(app, options), options.seed, options.per_category, options.name, terminal.progress
        )
        queryset, refused, left_out = made.queryset, dict(made.refused), dict(made.left_out)
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
        "left_out": left_out,
        "digest": queryset.digest,
    }
    lines = [f"{queryset.name}: {len(queryset.questions)} questions, {len(queryset.judgments)} judgments."]
    lines += [f"  {name or 'uncategorised':<20} {count}" for name, count in categories.items()]
    lines += [f"refused {count}: {why}" for why, count in refused.items()]
    lines += [f"left out {kind}: {why}." for kind, why in left_out.items()]
    terminal.show(value, lines)
    return 0


def eval_import(settings: Settings, options: Namespace, terminal: Terminal) -> int:
    """Bad lines are named, the rest is imported."""
    app = open_app(settings)
    queryset, problems = app.evaluation.querysets.read(
        acting(app, options), options.path, options.format, options.name, options.split
    )
    left = f", {len(problems)} lines left out" if problems else ""
    lines = [f"{queryset.name}: {len(queryset.questions)} questions, {len(queryset.judgments)} judgments{left}."]
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
    index = app.search.searcher.index(runs[0].profile)
    asked = {ident: result.question for run in runs for ident, result in run.results.items()}
    added = app.playground.pools.added_chunks(actor, list(asked.values()), index)
    pool = pooling.pool(runs, index, options.depth, added=added)
    if options.estimate:
        return show_estimate(terminal, app.evaluation.runs.estimate_judging(actor, options.queryset, pool))
    judged, failed = app.evaluation.querysets.judge_by_model(actor, options.queryset, pool, llm, terminal.progress)
    agreed = app.evaluation.querysets.agreement(actor, options.queryset)
    lines = [f"{llm.name} judged {judged} passages; {sum(failed.values())} could not be judged."]
    caveat = app.models.fitness.caveat(llm.name, llm.server, "judge")
    lines += [f"{count} times: {why}" for why, count in failed.items()] + ([caveat] if caveat else [])
    lines += [f"{' and '.join(pair.judges)}: kappa {pair.kappa:.2f}" for pair in agreed if pair.kappa is not None]
    row = {"judged": judged, "failed": sum(failed.values()), "why": dict(failed), "agreement": strict.plain(agreed)}
    row["caveat"] = caveat
    terminal.show(row, lines)
    return 0
