"""A command is a record: its words, what help says, the form it fills, the use case it calls, and the function that runs it.

The parser, docs/reference/commands.md and docs/reference/rights.md are made from the records; `run` is the only caller of their
functions.
"""

from __future__ import annotations

import inspect
from argparse import ArgumentParser, Namespace
from collections.abc import Callable, Sequence
from dataclasses import MISSING, dataclass, fields
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar, dataclass_transform, get_args, get_origin, get_type_hints

from core.access import Actor
from core.entrypoints import session
from core.entrypoints.terminal import Terminal
from core.settings import Settings

if TYPE_CHECKING:
    from core.bootstrap import App

Kind = TypeVar("Kind")
Run = TypeVar("Run", bound=Callable[..., Any])
SOME, ANY, MAYBE = "+", "*", "?"  # how many values an argument takes, where it is not one


class Shown(NamedTuple):
    """What a command found: JSON for programs, lines for people, and the exit code."""

    value: Any
    lines: Sequence[str]
    code: int = 0


@dataclass(frozen=True, slots=True)
class Option:
    """An input with a name on the command line: --field-name unless `flags` say otherwise."""

    help: str | None
    flags: tuple[str, ...] = ()
    metavar: str | None = None
    choices: tuple[str, ...] | None = None
    one_of: str = ""  # of options that name the same here only one may be given


@dataclass(frozen=True, slots=True)
class Argument:
    """An input that is known by its place."""

    metavar: str | None = None
    help: str | None = None
    nargs: str | None = None
    choices: tuple[str, ...] | None = None


class CommandCall:
    """One use of a command: its workspace, who acts, and where progress goes."""

    def __init__(self, settings: Settings, user: str, terminal: Terminal, *, home: bool = False) -> None:
        self.settings, self.user, self.terminal = settings, user, terminal
        self.home = home  # whether the workspace was named on the command line
        self.progress = terminal.progress

    @cached_property
    def app(self) -> App:
        """The workspace, which must be there."""
        return session.open_app(self.settings)

    @cached_property
    def actor(self) -> Actor:
        """Who acts, in the workspace."""
        return session.acting(self.app, self.user)


@dataclass(frozen=True, slots=True)
class Command:
    """A command of the command line."""

    name: str  # its words, such as "change approve"
    about: str  # what help says; of a single word it stands in `commands.COMMANDS`
    calls: str  # the use case behind it, such as "reviews.discussion.approve"
    needs: str  # the action it needs, where that is not the one of the use case
    form: type | None  # a frozen dataclass, each field with an Option or an Argument
    function: Callable[..., Shown | None]

    def run(self, call: CommandCall, options: Namespace) -> int:
        """Run it and show what it found; returns the exit code."""
        filled = [self.form(**_filled(self.form, options))] if self.form else []
        shown = self.function(call, *filled)
        if shown is None:
            return 0
        call.terminal.show(shown.value, shown.lines)
        return shown.code

    def add_to(self, parser: ArgumentParser) -> None:
        """Give the parser the inputs of the form."""
        exclusive: dict[str, Any] = {"": parser}
        for name, kind, source, default in inputs(self.form) if self.form else ():
            if isinstance(source, Argument):
                _add_argument(parser, name, kind, source, default)
                continue
            if source.one_of not in exclusive:
                exclusive[source.one_of] = parser.add_mutually_exclusive_group()
            _add_option(exclusive[source.one_of], name, kind, source, default)
        parser.set_defaults(run=self)


@dataclass_transform(frozen_default=True, kw_only_default=True)
def form(kind: type[Kind]) -> type[Kind]:
    """A frozen dataclass of inputs, each `Annotated` with its Option or Argument."""
    return dataclass(frozen=True, kw_only=True)(kind)


COMMANDS: dict[str, Command] = {}  # those of the modules that were imported, by their words


def command(name: str, about: str = "", calls: str = "", *, needs: str = "") -> Callable[[Run], Run]:
    """Make a function the command of this name. The type of its second parameter, if it has one, is its form."""

    def made(function: Run) -> Run:
        given = list(inspect.signature(function, eval_str=True).parameters.values())[1:]
        COMMANDS[name] = Command(name, about, calls, needs, given[0].annotation if given else None, function)
        return function

    return made


def inputs(form: type) -> list[tuple[str, type, Option | Argument, Any]]:
    """The fields of a form: name, type, where it comes from, and its default. Arguments first, then its own options, then shared ones."""
    hints = get_type_hints(form, include_extras=True)
    own, found = form.__annotations__, []
    for field in fields(form):
        hint, source = get_args(hints[field.name])
        found.append((field.name, hint, source, field.default))
    return sorted(
        found, key=lambda one: isinstance(one[2], Option) + (isinstance(one[2], Option) and one[0] not in own)
    )


def _filled(form: type, options: Namespace) -> dict[str, Any]:
    values = {}
    for name, kind, _, _ in inputs(form):
        given = getattr(options, name)
        values[name] = tuple(given or ()) if get_origin(kind) is tuple else given
    return values


def _add_argument(parser: ArgumentParser, name: str, kind: Any, source: Argument, default: Any) -> None:
    more: dict[str, Any] = {"metavar": source.metavar} if source.metavar else {}
    more |= {"nargs": source.nargs, "default": default} if source.nargs and default is not MISSING else {}
    more |= {"nargs": source.nargs} if source.nargs else {}
    parser.add_argument(name, type=_one(kind), help=source.help, choices=source.choices, **more)


def _add_option(parser: Any, name: str, kind: Any, source: Option, default: Any) -> None:
    flags = source.flags or (f"--{name.replace('_', '-')}",)
    if kind is bool:
        parser.add_argument(*flags, dest=name, action="store_true", help=source.help)
        return
    more: dict[str, Any] = {"action": "append"} if get_origin(kind) is tuple else {"choices": source.choices}
    more |= {"metavar": source.metavar} if source.metavar else {}
    needed = default is MISSING
    start = None if needed or get_origin(kind) is tuple else default
    parser.add_argument(*flags, dest=name, type=_one(kind), default=start, required=needed, help=source.help, **more)


def _one(kind: Any) -> Any:
    """The type of one value.

    >>> _one(tuple[int, ...]), _one(float | None), _one(str)
    (<class 'int'>, <class 'float'>, None)
    """
    kinds = [each for each in get_args(kind) if each not in (type(None), ...)]
    one = kinds[0] if kinds else kind
    return None if one is str else one
