"""`python -m bench.papers compliance|chunking|cascade|support|thesis`: replay a paper and write its report."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from bench.papers.context import PaperOptions
from bench.papers.markdown import markdown
from bench.papers.replays import REPLAYS, WrittenReport, estimate, replay
from core import strict
from core.access import Actor
from core.bootstrap import App, evaluation_workspace
from core.entrypoints.session import acting, open_app
from core.entrypoints.terminal import Terminal, table
from core.errors import ConcordError
from core.evaluation.querysets import beir
from core.evaluation.querysets.beir import Collection
from core.evaluation.querysets.queryset import Judgment, QuerySet, Question
from core.evaluation.reports.report import ReportTable, Text
from core.services.evaluation import collections
from core.services.models.call_estimates import total
from core.settings import load


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one replay; returns the exit code."""
    options = parser().parse_args(arguments)
    terminal = Terminal(as_json=False, quiet=options.quiet)
    try:
        lines = _replayed(options, terminal)
    except ConcordError as error:
        terminal.end_progress()
        print(error, file=sys.stderr)
        return 1
    terminal.show(None, lines)
    return 0


def parser() -> argparse.ArgumentParser:
    top = argparse.ArgumentParser(prog="python -m bench.papers", description=__doc__)
    shared = argparse.ArgumentParser(add_help=False)
    shared.add_argument("--home", type=Path, help="the workspace (default: data, or CONCORD_HOME)")
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
    shared.add_argument("--quiet", action="store_true", help="no progress on standard error")
    papers = top.add_subparsers(dest="paper", required=True)
    for name, study in REPLAYS.items():
        papers.add_parser(name, parents=[shared], help=study.about, description=study.about)
    return top


def _replayed(options: argparse.Namespace, terminal: Terminal) -> list[str]:
    app = open_app(load(home=options.home.resolve() if options.home else None))
    actor, queryset = acting(app, ""), options.queryset
    if options.beir:
        app, queryset = _beir(app, actor, beir.read(options.beir, sample=options.sample))
    chosen = PaperOptions(
        tuple(options.model),
        tuple(options.embedder),
        max(1, options.repeats),
        options.questions,
        options.documents,
        options.out,
    )
    if options.estimate:
        rows = estimate(app, options.paper, queryset, options.limit, chosen)
        return [f"{row.purpose}: {total([row])}" for row in rows] or ["No language model is asked."]
    written = replay(app, actor, options.paper, queryset, options.limit, terminal.progress, chosen)
    if options.markdown:
        options.markdown.parent.mkdir(parents=True, exist_ok=True)
        options.markdown.write_text(markdown(written.report), encoding="utf-8")
    return _lines(written)


def _lines(written: WrittenReport) -> list[str]:
    """What a replay found, and where its report is."""
    report = written.report
    texts = [part for part in report.parts if isinstance(part, Text)]
    boards = [part for part in report.parts if isinstance(part, ReportTable)][:1]
    lines = [report.title, *(line for text in texts for line in text.lines)]
    return [*lines, *(line for board in boards for line in table(board.rows, board.heads)), f"Report: {written.path}"]


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
