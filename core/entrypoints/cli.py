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
    accounts,
    answers,
    ask,
    audit,
    deliveries,
    disagreements,
    documents,
    evaluation,
    freshness,
    gaps,
    graph,
    home,
    inbox,
    index,
    jobs,
    ledger,
    methods,
    models,
    playground,
    questions,
    remote,
    reviews,
    search,
    session,
    sessions,
    store,
    tokens,
    tuning,
    upload,
    words,
    workspace,
)
from core.entrypoints.mcp import command as mcp
from core.entrypoints.terminal import Terminal
from core.errors import ConcordError, storage_failure
from core.settings import load

PARTS: tuple[Any, ...] = (
    workspace,
    upload,
    search,
    ask,
    questions,
    playground,
    documents,
    gaps,
    home,
    freshness,
    disagreements,
    answers,
    words,
    graph,
    reviews,
    remote,
    inbox,
    deliveries,
    accounts,
    sessions,
    tokens,
    audit,
    index,
    store,
    jobs,
    models,
    methods,
    evaluation,
    tuning,
    ledger,
    mcp,
)  # in the order in which help lists their commands


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; returns the exit code."""
    options = parser().parse_args(arguments)
    terminal = Terminal(as_json=options.json, quiet=options.quiet)
    try:
        settings = load(home=options.home.resolve() if options.home else None)
        session.introduce(settings, options)
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
    except Exception as error:
        sentence = storage_failure(error) or (_unusable(error) if isinstance(error, OSError) else None)
        if sentence is None:
            raise
        terminal.end_progress()
        print(sentence, file=sys.stderr)
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
    for part in PARTS:
        part.register(adder)
    return top


def _shared(home: Any, json: Any, quiet: Any, user: Any) -> argparse.ArgumentParser:
    """Options that work before and after a command's name."""
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
    """Adds commands with the shared options."""

    def __init__(self, group: Any, shared: argparse.ArgumentParser) -> None:
        self.group, self.shared = group, shared

    def __call__(self, name: str, run: Any, about: str) -> argparse.ArgumentParser:
        command: argparse.ArgumentParser = self.group.add_parser(
            name, help=about, description=about, parents=[self.shared]
        )
        command.set_defaults(run=run)
        return command

    def group_of(self, name: str, about: str) -> _Adder:
        """A command with subcommands."""
        command = self.group.add_parser(name, help=about, description=about, parents=[self.shared])
        return _Adder(command.add_subparsers(dest="subcommand", required=True, metavar="COMMAND"), self.shared)
