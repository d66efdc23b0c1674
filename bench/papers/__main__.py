"""`python -m bench.papers compliance|chunking|cascade|support|thesis`: replay a paper and write its report.

`alpha` and `prompt` train what the papers train and the product does not: kinds of learned alpha, and reranking
prompts.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from bench.papers import prompts
from bench.papers.context import PaperOptions
from bench.papers.learners import LEARNERS, network
from bench.papers.markdown import markdown
from bench.papers.prompts import PromptSettings
from bench.papers.replays import REPLAYS, estimate, replay
from core import strict
from core.access import Actor
from core.bootstrap import App, evaluation_workspace
from core.entrypoints.session import acting, open_app
from core.entrypoints.terminal import Terminal, table
from core.errors import ConcordError
from core.evaluation.querysets import beir
from core.evaluation.querysets.beir import Collection
from core.evaluation.querysets.queryset import Judgment, QuerySet, Question
from core.evaluation.reports.report import Report, ReportTable, Text, html
from core.retrieval import config as configs
from core.services.evaluation import collections
from core.services.models.call_estimates import total
from core.settings import load

OUT = Path(__file__).resolve().parent.parent / "out" / "papers"


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; returns the exit code."""
    options = parser().parse_args(arguments)
    terminal = Terminal(as_json=False, quiet=options.quiet)
    try:
        app = open_app(load(home=options.home.resolve() if options.home else None))
        lines = options.run(app, acting(app, ""), options, terminal)
    except ConcordError as error:
        terminal.end_progress()
        print(error, file=sys.stderr)
        return 1
    terminal.show(None, lines)
    return 0


def parser() -> argparse.ArgumentParser:
    top = argparse.ArgumentParser(prog="python -m bench.papers", description=__doc__)
    every = argparse.ArgumentParser(add_help=False)
    every.add_argument("--home", type=Path, help="the workspace (default: data, or CONCORD_HOME)")
    every.add_argument("--quiet", action="store_true", help="no progress on standard error")
    papers = top.add_subparsers(required=True)
    for name, study in REPLAYS.items():
        of_paper = papers.add_parser(name, parents=[every, _of_replay()], help=study.about, description=study.about)
        of_paper.set_defaults(run=_replayed, paper=name)
    alpha = papers.add_parser("alpha", parents=[every], help="train a model of alpha that the playground can run")
    alpha.add_argument("queryset")
    alpha.add_argument("--kind", choices=[*LEARNERS, "mlp"], default="xgboost")
    alpha.add_argument("--config", default="tm2c2-0.5", help="the search that it is trained for")
    alpha.set_defaults(run=_alpha)
    prompt = papers.add_parser("prompt", parents=[every], help="let a language model rewrite its reranking prompt")
    prompt.add_argument("queryset")
    prompt.add_argument("--start", default="one-shot", help="the prompt to start from")
    prompt.add_argument("--samples", type=int, default=prompts.SAMPLES, help="questions that are looked at")
    prompt.add_argument("--rounds", type=int, default=prompts.ROUNDS, help="failures that are shown to the model")
    prompt.set_defaults(run=_prompt)
    return top


def _of_replay() -> argparse.ArgumentParser:
    """The options of every replay."""
    shared = argparse.ArgumentParser(add_help=False)
    shared.add_argument("--queryset", default="", help="which questions (default: known items, made if need be)")
    shared.add_argument("--limit", type=int, default=0, help="only so many questions, evenly from every category")
    shared.add_argument("--questions", type=int, default=0, help="make so many known items; the benchmark has 1706")
    shared.add_argument("--documents", type=int, default=0, help="only so many documents, in a workspace of their own")
    shared.add_argument("--model", action="append", default=[], help="a language model to compare; repeat for several")
    shared.add_argument("--embedder", action="append", default=[], help="one more embedder to compare")
    shared.add_argument("--repeats", type=int, default=3, help="how often the calls of the main row are made")
    shared.add_argument("--beir", type=Path, metavar="DIR", help="replay it on a BEIR folder instead of the workspace")
    shared.add_argument("--sample", type=int, default=0, help="with --beir: only so many judged queries")
    shared.add_argument("--out", type=Path, help="where the HTML report goes (default: bench/out/papers/)")
    shared.add_argument("--markdown", type=Path, help="also write the tables as Markdown")
    shared.add_argument("--estimate", action="store_true", help="say what language models would be asked, and stop")
    return shared


def _replayed(app: App, actor: Actor, options: argparse.Namespace, terminal: Terminal) -> list[str]:
    queryset, asked = options.queryset, (tuple(options.model), tuple(options.embedder), max(1, options.repeats))
    if options.beir:
        app, queryset = _beir(app, actor, beir.read(options.beir, sample=options.sample))
    chosen = PaperOptions(*asked, options.questions, options.documents)
    if options.estimate:
        rows = estimate(app, options.paper, queryset, options.limit, chosen)
        return [f"{row.purpose}: {total([row])}" for row in rows] or ["No language model is asked."]
    report = replay(app, actor, options.paper, queryset, options.limit, terminal.progress, chosen)
    file = f"{options.paper}-{report.facts['commit'][:12]}-{report.facts['query set digest']}.html"
    path = options.out or OUT / file
    _write(path, html(report))
    if options.markdown:
        _write(options.markdown, markdown(report))
    return [*_lines(report), f"Report: {path}"]


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def _lines(report: Report) -> list[str]:
    """What a replay found."""
    texts = [part for part in report.parts if isinstance(part, Text)]
    boards = [part for part in report.parts if isinstance(part, ReportTable)][:1]
    lines = [report.title, *(line for text in texts for line in text.lines)]
    return [*lines, *(line for board in boards for line in table(board.rows, board.heads))]


def _alpha(app: App, actor: Actor, options: argparse.Namespace, terminal: Terminal) -> list[str]:
    """A model of one of the thesis's kinds; `tune learn` trains ridge."""
    index = app.search.searcher.index()
    learner = LEARNERS.get(options.kind) or network(app.search.searcher.weighers(index).embed)
    config = configs.parse(options.config)
    made = app.tuning.training.train(
        actor, options.queryset, config=config, learner=learner, progress=terminal.progress
    )
    name = made.trained.model.name
    return [
        f"{name}: R2 on test {made.trained.r2['test']:.3f}.",
        f"Against the fixed alpha {made.best_fixed:g}: {made.against_best_fixed.sentence}",
        *([f"! {made.trained.warning}"] if made.trained.warning else []),
        (
            f'The playground runs it with: {{"base": "{options.config}", "alpha_from": "learned", "alpha_model":'
            f' "{name}"}}'
        ),
    ]


def _prompt(app: App, actor: Actor, options: argparse.Namespace, terminal: Terminal) -> list[str]:
    """The prompt that was kept, where one was better than the one it started from."""
    settings = PromptSettings(options.start, samples=options.samples, rounds=options.rounds)
    made = prompts.tune(app, actor, options.queryset, settings, progress=terminal.progress)
    rows = [(n, f"{tried.recall:.4f}", tried.failures, tried.analysis[:80]) for n, tried in enumerate(made.rounds)]
    lines = [made.sentence, *table(rows, ("round", "recall at 10", "failures", "why it was rewritten"))]
    if made.kept:
        lines += [made.kept.task, f'The playground runs it with: {{"rerank_prompt": "{made.kept.title}"}}']
    return lines


def _beir(main: App, actor: Actor, collection: Collection) -> tuple[App, str]:
    """A workspace with the records of a collection, and the name of its queries there."""
    app = evaluation_workspace(main, actor, f"beir-{collection.name}-{collection.digest}")
    if not app.knowledge.repository.head():
        app.knowledge.documents.save(collections.AUTHOR, collection.files, [], f"Records of {collection.name}")
    return app, app.evaluation.querysets.keep(collections.AUTHOR, queries(collection)).name


def queries(collection: Collection) -> QuerySet:
    """The queries of a collection as a query set."""
    documents = {record: doc for doc, record in collection.records.items()}
    questions = tuple(Question(query, text, collection.name) for query, text in collection.queries.items())
    judgments = tuple(
        Judgment(query, documents[record], grade=grade, source="qrels")
        for query, gains in collection.qrels.items()
        for record, grade in gains.items()
        if record in documents
    )
    name = f"{collection.name.lower()}-{strict.digest(list(collection.queries), 6)}"
    return QuerySet(name, questions, judgments, f"{len(questions)} queries of {collection.name}")


if __name__ == "__main__":
    sys.exit(main())
