"""A use case at its doors is a record: the words of its command, its operation of the HTTP API, the form it fills, the
use case of the services that it calls, and the function that runs it.

The parser, /api/v1 with its OpenAPI document, clients/concord_client.py and the pages of docs/reference are made from
the records.
"""

from __future__ import annotations

import inspect
from argparse import ArgumentParser, Namespace
from collections.abc import Callable, Sequence
from dataclasses import MISSING, dataclass, fields
from functools import cached_property
from operator import attrgetter
from typing import (
    TYPE_CHECKING,
    Any,
    NamedTuple,
    Protocol,
    TypedDict,
    TypeVar,
    Unpack,
    dataclass_transform,
    get_args,
    get_origin,
    get_type_hints,
)

from core import strict
from core.access import FREE, Actor, reading_as, require, use_case_of
from core.entrypoints import session
from core.entrypoints.terminal import Terminal
from core.settings import Settings

if TYPE_CHECKING:
    from core.bootstrap import App
    from core.ports import Progress

Kind = TypeVar("Kind")
Run = TypeVar("Run", bound=Callable[..., Any])
SOME, ANY, MAYBE = "+", "*", "?"  # how many values an argument takes, where it is not one


class Rows(NamedTuple):
    """A list, and how each of its items is shown: programs ask for a part of it."""

    items: Sequence[Any]
    show: Callable[[Any], Any] = strict.plain
    together: Callable[[Sequence[Any]], list[Any]] | None = (
        None  # shows some of them, where that is cheaper than one by one
    )

    def part(self, start: int = 0, count: int | None = None) -> list[Any]:
        """Some of the items as JSON; all of them if not said otherwise."""
        some = self.items[start : None if count is None else start + count]
        return self.together(some) if self.together else [self.show(item) for item in some]


class Shown(NamedTuple):
    """What was found: JSON for programs, lines for people, and the exit code."""

    value: Any
    lines: Sequence[str] | Callable[[], Sequence[str]] = ()
    code: int = 0
    location: str = ""  # of what was made, below the API
    fits: bool | None = None  # of a search: whether something answers it, which the API counts


@dataclass(frozen=True, slots=True)
class Option:
    """An input with a name on the command line: --field-name unless `flags` say otherwise."""

    help: str | None
    flags: tuple[str, ...] = ()
    metavar: str | None = None
    choices: tuple[str, ...] | None = None
    one_of: str = ""  # of options that name the same here only one may be given
    key: str = ""  # what programs call it, if not as the field
    header: str = ""  # the header in which programs send it
    local: bool = False  # for the command line alone


@dataclass(frozen=True, slots=True)
class Argument:
    """An input that is known by its place."""

    metavar: str | None = None
    help: str | None = None
    nargs: str | None = None
    choices: tuple[str, ...] | None = None
    key: str = ""


@dataclass(frozen=True, slots=True)
class Key:
    """An input that programs alone give."""

    help: str
    header: str = ""
    key: str = ""


@dataclass(frozen=True, slots=True)
class Bounds:
    """What programs may send for an input."""

    longest: int = 400  # characters of a text
    shortest: int = 0
    least: int = 0  # of a number
    most: int = 2_147_483_647
    many: int = 50  # values of a list
    few: int = 0
    choices: tuple[str, ...] = ()
    pattern: str = ""


class UseCaseCall(Protocol):
    """One use of a use case."""

    @property
    def app(self) -> App:
        """The workspace."""

    @property
    def actor(self) -> Actor:
        """Who acts."""

    @property
    def progress(self) -> Progress:
        """Where progress goes."""

    @property
    def typed(self) -> bool:
        """Whether somebody typed it, and waits at the terminal."""


class CommandCall:
    """One use of a command: its workspace, who acts, and where progress goes."""

    typed = True

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
class UseCaseRecord:
    """What a door needs to know to run it."""

    name: str  # the words of the command, such as "change approve", or the name of the operation, such as list_gaps
    about: str  # what help says
    calls: str  # the use case of the services, such as "reviews.discussion.approve"
    needs: str  # the action it needs, where that is not the one of the use case
    form: type | None  # a frozen dataclass, each field with an Option, an Argument or a Key
    function: Callable[..., Shown | None]
    example: str  # one use of it on the starter knowledge base: words of a command, or a request with its body

    def run(self, call: UseCaseCall, form: Any) -> Shown | None:
        """Run it. The right that only this record names is asked here; every other one by the use case that it
        calls.
        """
        if self.needs and self.calls:
            require(call.actor, self.needs)
        return self.function(call, form) if self.form else self.function(call)


@dataclass(frozen=True, slots=True)
class Operation(UseCaseRecord):
    """An operation of the HTTP API."""

    address: str  # verb and path: "GET /changes/{change}"
    reply: str  # the name of a model in `api.schemas`; "[...]" around it for a list
    status: int = 200
    lane: str = "quick"  # the threads that work on it
    state: str = ""  # what its answer depends on: served, head, day; the answer itself if not said
    paged: bool = False  # whether a part of the list can be asked for
    head: bool = False  # whether its ETag starts with the head of the change it gives
    own_page: bool = False  # whether it is for components, with the token of their page, and in no description

    @property
    def verb(self) -> str:
        return self.address.partition(" ")[0]

    @property
    def path(self) -> str:
        return self.address.partition(" ")[2]


class ServedOptions(TypedDict, total=False):
    """How an operation is served, where it is not as most are; see `Operation`."""

    status: int
    lane: str
    state: str
    paged: bool
    head: bool
    own_page: bool


@dataclass(frozen=True, slots=True)
class Command(UseCaseRecord):
    """A command of the command line."""

    def use(self, call: CommandCall, options: Namespace) -> int:
        """Run it and show what it found; returns the exit code."""
        with reading_as(lambda: call.actor):
            return self._use(call, options)

    def _use(self, call: CommandCall, options: Namespace) -> int:
        shown = self.run(call, self.form(**_filled(self.form, options)) if self.form else None)
        if shown is None:
            return 0
        value = shown.value.part() if isinstance(shown.value, Rows) else shown.value
        call.terminal.show(value, shown.lines() if callable(shown.lines) else shown.lines)
        return shown.code

    def add_to(self, parser: ArgumentParser) -> None:
        """Give the parser the inputs of the form."""
        exclusive: dict[str, Any] = {"": parser}
        for name, kind, source, default, _ in inputs(self.form) if self.form else ():
            if isinstance(source, Key):
                continue
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
OPERATIONS: dict[str, Operation] = {}  # likewise, by their names


def command(name: str, about: str, calls: str = "", *, needs: str = "", example: str = "") -> Callable[[Run], Run]:
    """Make a function the command of this name. The type of its second parameter, if it has one, is its form."""

    def made(function: Run) -> Run:
        COMMANDS[name] = Command(name, about, calls, needs, _form_of(function), function, example or name)
        return function

    return made


def operation(
    name: str,
    address: str,
    reply: str,
    *,
    calls: str = "",
    needs: str = "",
    example: str = "",
    **served: Unpack[ServedOptions],
) -> Callable[[Run], Run]:
    """Make a function an operation of the HTTP API: what is a command as well stands above `@command`, and calls the
    same.
    """

    def made(function: Run) -> Run:
        typed = next((found for found in COMMANDS.values() if found.function is function), None)
        about = inspect.getdoc(function) or (typed.about if typed else "")
        calling, needing = (typed.calls, typed.needs) if typed else (calls, needs)
        form = _form_of(function)
        OPERATIONS[name] = Operation(
            name, about, calling, needing, form, function, example or address, address, reply, **served
        )
        return function

    return made


def action_of(record: UseCaseRecord, app: object) -> str:
    """The action that somebody must be allowed to use it; "" where every account may."""
    if record.needs or not record.calls:
        return record.needs
    mark = use_case_of(attrgetter(record.calls)(app))
    return "" if mark is None or mark.needs in FREE else mark.needs


def _form_of(function: Callable[..., Any]) -> type | None:
    given = list(inspect.signature(function, eval_str=True).parameters.values())[1:]
    return given[0].annotation if given else None


class Input(NamedTuple):
    """A field of a form."""

    name: str
    kind: Any
    source: Option | Argument | Key
    default: Any
    bounds: Bounds


def inputs(form: type) -> list[Input]:
    """The fields of a form. Arguments first, then its own options, then shared ones."""
    hints = get_type_hints(form, include_extras=True)
    own, found = form.__annotations__, []
    for field in fields(form):
        hint, source, *bounds = get_args(hints[field.name])
        found.append(Input(field.name, hint, source, field.default, bounds[0] if bounds else Bounds()))
    return sorted(
        found,
        key=lambda one: 0 if isinstance(one.source, Argument) else 1 + (one.name not in own),
    )


def _filled(form: type, options: Namespace) -> dict[str, Any]:
    values = {}
    for name, kind, source, _, _ in inputs(form):
        if isinstance(source, Key):
            continue
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
