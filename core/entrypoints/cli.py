"""The command line: set up, operate, import, search, evaluate and tune; with `--json` its output is a contract that
others script against.

Exit codes: 0 done, 1 refused or failed with a sentence on standard error, 2 wrong usage, 3 a workspace of an earlier
version.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Collection, Sequence
from difflib import get_close_matches
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from core import __version__
from core.entrypoints import rooms
from core.errors import ConcordError, Outdated, storage_failure

if TYPE_CHECKING:
    from core.entrypoints.record import Command

PROGRAM = "python -m core"
EARLIER = 3  # exit code: the workspace is of an earlier version, and was not opened


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; returns the exit code."""
    words = sys.argv[1:] if arguments is None else arguments
    options = parser(words).parse_args(words)
    if options.command is None:
        parser(words).print_help()
        return 0
    from core.entrypoints import session  # what help and a wrong word do without
    from core.entrypoints.record import CommandCall
    from core.entrypoints.terminal import Terminal
    from core.settings import load

    terminal = Terminal(as_json=options.json, quiet=options.quiet)
    try:
        settings = load(home=options.home.resolve() if options.home else None)
        call = CommandCall(settings, options.user, terminal, home=bool(options.home))
        if options.user and session.exists(settings):
            _ = call.actor  # an unknown or inactive --as is refused before the command begins
        code: int = options.run.use(call, options)
        return code
    except ConcordError as error:
        terminal.end_progress()
        print(error.at_terminal(), file=sys.stderr)
        return EARLIER if isinstance(error, Outdated) else 1
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


def parser(words: Collection[str] | None = None) -> argparse.ArgumentParser:
    """The whole command line, or the options of only those commands whose names are among the words."""
    names = frozenset(rooms.by_word())
    return _parser(names if words is None else names.intersection(words))


@cache
def _parser(asked: frozenset[str]) -> argparse.ArgumentParser:
    """One that holds the options of these; building it takes longer than most commands that it reads."""
    top = _Parser(
        prog=PROGRAM,
        usage=f"{PROGRAM} [options] COMMAND ...",
        description="Concord: a knowledge base that a team reviews like code, with search that it can measure.",
        epilog=_commands(),
        formatter_class=argparse.RawDescriptionHelpFormatter,
        parents=[_shared(home=None, json=False, quiet=False, user="")],
    )
    top.add_argument("--version", action="version", version=f"Concord {__version__}")
    adder = _Adder(
        top.add_subparsers(prog=PROGRAM, dest="command", metavar="COMMAND", help=argparse.SUPPRESS),
        _shared(home=argparse.SUPPRESS, json=argparse.SUPPRESS, quiet=argparse.SUPPRESS, user=argparse.SUPPRESS),
    )
    for word, outlines in rooms.by_word().items():
        if word in asked:
            adder.add(word, [record_of(outline) for outline in outlines])
        else:
            adder.group.choices[word] = top  # the name alone: nobody typed it
    return top


def _commands() -> str:
    """Every command, by what people want to do; a group with the names of its commands."""
    lines = [f"{PROGRAM} COMMAND --help says more of one."]
    known = rooms.by_word()
    for title, modules in rooms.ROOMS.items():
        here = {each.name.partition(" ")[0] for module in modules for each in rooms.outlines(module)}
        lines += ["", f"{title}:", *(_line(word, outlines) for word, outlines in known.items() if word in here)]
    return "\n".join(lines)


def _line(word: str, outlines: Sequence[rooms.CommandOutline]) -> str:
    if outlines[0].name == word:
        return f"  {word:<14} {outlines[0].about}"
    return f"  {word:<14} {', '.join(outline.name.partition(' ')[2] for outline in outlines)}"


def record_of(outline: rooms.CommandOutline) -> Command:
    """The record of a command, whose module is imported."""
    from core.entrypoints.record import COMMANDS

    rooms.load(outline.module)
    return COMMANDS[outline.name]


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


class _Parser(argparse.ArgumentParser):
    """Says what a misspelled command may have meant."""

    def _check_value(self, action: argparse.Action, value: Any) -> None:
        if isinstance(action, argparse._SubParsersAction) and value not in action.choices:
            near = get_close_matches(str(value), list(action.choices), n=1)
            hint = f"Did you mean {near[0]!r}?" if near else f"All of them: {self.prog} --help"
            raise argparse.ArgumentError(None, f"There is no command {value!r}. {hint}")
        super()._check_value(action, value)


class _Adder:
    """Adds commands with the shared options."""

    def __init__(self, group: Any, shared: argparse.ArgumentParser) -> None:
        self.group, self.shared = group, shared

    def add(self, word: str, records: Sequence[Command]) -> None:
        """A command, or a group of commands below this word."""
        if records[0].name == word:
            records[0].add_to(self._parser(self.group, word, records[0].about))
            return
        below = self.group.add_parser(word, parents=[self.shared]).add_subparsers(
            dest="subcommand", required=True, metavar="COMMAND"
        )
        for record in records:
            record.add_to(self._parser(below, record.name.partition(" ")[2], record.about))

    def _parser(self, group: Any, name: str, about: str) -> argparse.ArgumentParser:
        parser: argparse.ArgumentParser = group.add_parser(name, help=about, description=about, parents=[self.shared])
        return parser
