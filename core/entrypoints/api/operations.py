"""The operations of the API, made from the records: each reads its form from path, query, headers and body, and
answers as
`--json` does."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import MISSING, dataclass, is_dataclass
from functools import cache, lru_cache
from importlib import import_module
from typing import TYPE_CHECKING, Annotated, Any, Literal, get_args, get_origin, get_type_hints
from urllib.parse import parse_qsl

from fastapi import APIRouter, Header, Path, Query
from fastapi.exceptions import RequestValidationError
from pydantic import BaseModel, Field, ValidationError, create_model
from starlette.requests import Request
from starlette.responses import Response

from core import strict
from core.access import Actor, require
from core.curation.document.names import MAX_PATH_BYTES
from core.entrypoints import record, rooms
from core.entrypoints.api import schemas
from core.entrypoints.api.calls import ApiCall, Calls, Window, Windowed
from core.entrypoints.api.problems import documented
from core.entrypoints.api.reference import PREFIX
from core.entrypoints.contracts.change_json import as_json
from core.entrypoints.record import Bounds, Input, Operation, Option, Shown, action_of, inputs
from core.entrypoints.refusals import refuse_unknown
from core.types import SearchConfig

if TYPE_CHECKING:
    from core.bootstrap import App
    from core.ports import Progress

PRINTABLE = r"^[^\x00]*$"  # a NUL is no part of any text
LIMIT_OF_HEADER = 200
_IN_PATH = re.compile(r"{(\w+)(?::path)?}")
_ELSEWHEN = ("as_of", "asked", "profile")  # inputs whose answer depends on more than what is served now


@dataclass(frozen=True, slots=True)
class ApiUse:
    """One use of an operation."""

    app: App
    actor: Actor
    typed: bool = False

    @property
    def progress(self) -> Progress:
        return lambda done, total, what: None


def operations() -> Iterator[tuple[str, Operation]]:
    """Every operation with the part of the API that it belongs to: the module that holds its record."""
    for module in rooms.with_operations():
        yield from ((module.rpartition(".")[2], each) for each in of_module(rooms.load(module)))


def of_module(module: str) -> Iterator[Operation]:
    """The operations whose records stand in a module."""
    name = import_module(module).__name__
    yield from (each for each in record.OPERATIONS.values() if each.function.__module__ == name)


def router(own: Iterable[Operation] = ()) -> APIRouter:
    """A route per operation; `own` are those of pages."""
    made = APIRouter()
    for part, operation in (*operations(), *(("page", each) for each in own)):
        made.add_api_route(
            operation.path,
            Direct(operation) if operation.lane == "search" else _endpoint(operation),
            methods=[operation.verb],
            name=operation.name,
            description=operation.about,
            status_code=operation.status,
            response_model=schemas.model(operation.reply) if operation.reply else None,
            include_in_schema=not operation.own_page,
            responses=documented(*_refusals(operation)),
            tags=[part],
            openapi_extra={"parameters": _documented(operation)} if operation.lane == "search" else None,
        )
    return made


def _refusals(operation: Operation) -> Iterator[int]:
    """What else it may answer: not modified, not found, in the way of something, edited since."""
    if operation.verb == "GET":
        yield 304
    if not operation.paged or _IN_PATH.search(operation.path):
        yield 404
    if operation.verb == "POST":
        yield 409
    if {"read", "head"} & {each.name for each in _inputs(operation)}:
        yield 412


# ---------------------------------------------------------------- what goes in


@cache
def _inputs(operation: Operation) -> tuple[Input, ...]:
    """What programs may give."""
    every = inputs(operation.form) if operation.form else ()
    return tuple(each for each in every if not (isinstance(each.source, Option) and each.source.local))


def key_of(each: Input) -> str:
    """What programs call an input."""
    return each.source.key or each.name


def header_of(each: Input) -> str:
    """The header that an input is sent in; "" for others."""
    return "" if isinstance(each.source, record.Argument) else each.source.header


def needed(each: Input) -> bool:
    """Whether it must be given: what may not be empty has no default."""
    return each.default is MISSING or bool(each.bounds.shortest or each.bounds.few)


def kinds(operation: Operation) -> tuple[list[Input], list[Input], list[Input], list[Input]]:
    """The inputs by where programs send them: in the path, in the query, in headers, in the body."""
    in_path = set(_IN_PATH.findall(operation.path))
    found: tuple[list[Input], list[Input], list[Input], list[Input]] = ([], [], [], [])
    for each in _inputs(operation):
        found[_place(each, operation, in_path)].append(each)
    return found


def _place(each: Input, operation: Operation, in_path: Collection[str]) -> int:
    if each.name in in_path:
        return 0
    if header_of(each):
        return 2
    return 1 if operation.verb == "GET" else 3


def about(operation: Operation, each: Input) -> str:
    """What an input is, as a sentence."""
    said = each.source.help or ""
    return f"{said[:1].upper()}{said[1:]}." if said else ""


def _kind(each: Input) -> Any:
    """The type that is validated, with its bounds."""
    return _bounded(each.kind, each.bounds)


def _bounded(kind: Any, bounds: Bounds) -> Any:
    if bounds.choices:
        return Literal[bounds.choices]
    if kind is str:
        return Annotated[
            str,
            Field(
                min_length=bounds.shortest or None,
                max_length=bounds.longest,
                pattern=bounds.pattern or PRINTABLE,
            ),
        ]
    if kind is int:
        return Annotated[int, Field(ge=bounds.least, le=bounds.most)]
    several = Field(min_length=bounds.few or None, max_length=bounds.many)
    if get_origin(kind) is tuple:
        return Annotated[tuple[_bounded(get_args(kind)[0], Bounds(bounds.longest)), ...], several]  # type: ignore[misc]
    if isinstance(get_origin(kind), type) and issubclass(get_origin(kind), Mapping):
        if get_args(kind)[1] is Any:
            return dict[str, Any]
        return Annotated[dict[_bounded(str, Bounds()), _bounded(str, Bounds())], several]  # type: ignore[misc]
    if isinstance(kind, type) and is_dataclass(kind):
        return _document(kind, bounds)
    return next((_bounded(one, bounds) for one in get_args(kind) if one is not type(None)), kind)


@cache
def _document(kind: type, bounds: Bounds) -> type[BaseModel]:
    """A document of a change: its path, and its text within bounds."""
    limits = {"path": Bounds(longest=MAX_PATH_BYTES, shortest=1), "text": bounds}
    fields: dict[str, Any] = {
        name: (_bounded(str, limits[name]) | None if hint == str | None else _bounded(str, limits[name]), ...)
        for name, hint in get_type_hints(kind).items()
    }
    return create_model(kind.__name__, __base__=schemas.Form, __doc__=kind.__doc__, **fields)


def _default(each: Input) -> Any:
    """Where a number is not given: 0, which stands for that."""
    if needed(each):
        return ...
    if isinstance(each.default, Mapping):
        return dict(each.default)
    return 0 if each.default is None and int in get_args(each.kind) else each.default


@cache
def _model(operation: Operation, place: int) -> type[BaseModel] | None:
    """The inputs of one place as one model, under the names that programs use."""
    given = kinds(operation)[place]
    fields: dict[str, Any] = {
        key_of(each): (Annotated[_kind(each), Field(description=about(operation, each))], _default(each))
        for each in given
    }
    if not fields or operation.form is None:
        return None
    return create_model(operation.form.__name__, __base__=schemas.Form, __doc__=_said(operation.form), **fields)


def _said(form: type) -> str:
    """The docstring of a form, unless it is the one that a dataclass makes."""
    said = form.__doc__ or ""
    return "" if said.startswith(f"{form.__name__}(") else said


def _form(operation: Operation, call: ApiCall, given: Mapping[str, Any]) -> Any:
    """The form as its record has it."""
    if operation.form is None:
        return None
    values: dict[str, Any] = {}
    for each in _inputs(operation):
        if header_of(each):
            values[each.name] = call.expected_head()
        elif key_of(each) in given:
            value = given[key_of(each)]
            values[each.name] = each.default if value == 0 and each.default is None else value
    return operation.form(**values)


# ---------------------------------------------------------------- routes


def _endpoint(operation: Operation) -> Callable[..., Any]:
    """A route whose signature says to the framework what the form says."""
    in_path, in_query, in_headers, _ = kinds(operation)
    body = _model(operation, 3)
    parameters = [_parameter("call", Calls)]
    parameters += [_parameter("window", Windowed)] if operation.paged else []
    for each in in_path:
        least = max(1, each.bounds.least) if each.kind is int else 0
        kind = Annotated[int, Field(ge=least, le=each.bounds.most)] if each.kind is int else _kind(each)
        parameters.append(_parameter(each.name, Annotated[kind, Path(description=about(operation, each))]))
    for each in in_query:
        place = Query(alias=key_of(each), description=about(operation, each))
        parameters.append(_parameter(key_of(each), Annotated[_kind(each), place], _default(each)))
    for each in in_headers:
        place = Header(alias=header_of(each), max_length=LIMIT_OF_HEADER, description=about(operation, each))
        parameters.append(_parameter("if_match", Annotated[str | None, place], None))
    parameters += [_parameter("form", body)] if body else []

    async def endpoint(call: ApiCall, **given: Any) -> Response:
        filled = given.pop("form", None)
        values = {**given, **({key: getattr(filled, key) for key in type(filled).model_fields} if filled else {})}
        return await answered(operation, call, values, given.get("window"))

    endpoint.__signature__ = inspect.Signature(  # type: ignore[attr-defined]
        sorted(parameters, key=lambda each: each.default is not each.empty)
    )
    endpoint.__name__ = operation.name
    return endpoint


def _parameter(name: str, kind: Any, default: Any = ...) -> inspect.Parameter:
    default = inspect.Parameter.empty if default is ... else default
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, annotation=kind, default=default)


async def answered(
    operation: Operation, call: ApiCall, given: Mapping[str, Any], window: Window | None = None
) -> Response:
    """Run an operation for whoever the token names."""
    form, call.own_page = _form(operation, call, given), operation.own_page

    def work(app: App, actor: Actor) -> Any:
        if action := action_of(operation, app):
            require(actor, action)
        shown = operation.run(ApiUse(app, actor), form)
        return _told(operation, call, shown or Shown(None))

    def again(app: App, actor: Actor, number: int) -> Any:
        value = as_json(app, actor, app.reviews.changes.show(actor, number or form.change))
        return _told(operation, call, Shown(value)._replace(location=f"changes/{number}" if number else ""))

    call.again = again if operation.head else None
    if window is not None:
        return await call.page(work, window)
    elsewhen = any(getattr(form, name, None) for name in _ELSEWHEN)
    lane = "slow" if getattr(form, "as_of", "") and operation.lane == "search" else operation.lane
    return await call.answer(
        work,
        tag=STATES[operation.state] if operation.state and not elsewhen else None,
        status=operation.status,
        lane=lane,
    )


def _told(operation: Operation, call: ApiCall, shown: Shown) -> Any:
    """The value, and what headers say of it."""
    value = shown.value
    if operation.head:
        call.headers["ETag"] = f'"{value["head"]}-{strict.digest(value)}"'
    if shown.location:
        call.headers["Location"] = f"{PREFIX}/{shown.location}"
    if shown.fits is not None:
        call.service.meters.searches.labels("yes" if shown.fits else "no").inc()
    return value.part() if isinstance(value, record.Rows) and not operation.paged else value


# ---------------------------------------------------------------- past the framework


@dataclass(frozen=True)
class Direct:
    """A search, which is asked often, without what the framework does around it: that takes as long as a small
    search.
    """

    operation: Operation

    async def __call__(self, request: Request) -> Response:
        form = _model(self.operation, 1)
        assert form
        return await answered(self.operation, ApiCall(request), vars(_read(form, request)))


def _read(form: type[BaseModel], request: Request) -> BaseModel:
    """The parameters as the form, or the refusal that every other operation gives."""
    given: dict[str, list[str]] = {}
    for name, value in parse_qsl(request.scope["query_string"].decode("latin-1"), keep_blank_values=True):
        given.setdefault(name, []).append(value)
    refuse_unknown(given, form.model_fields)
    lists = _lists(form)
    try:
        return form.model_validate({name: values if name in lists else values[-1] for name, values in given.items()})
    except ValidationError as error:
        raise RequestValidationError(
            [{**wrong, "loc": ("query", *wrong["loc"])} for wrong in error.errors(include_url=False)]
        ) from None


@cache
def _lists(form: type[BaseModel]) -> frozenset[str]:
    return frozenset(name for name, field in form.model_fields.items() if field.default == ())


def _documented(operation: Operation) -> list[dict[str, Any]]:
    """The fields of a form as an OpenAPI document describes query parameters."""
    form = _model(operation, 1)
    assert form
    schema = form.model_json_schema()
    return [
        {"name": name, "in": "query", "required": name in schema["required"], "schema": field}
        for name, field in schema["properties"].items()
    ]


# ---------------------------------------------------------------- what answers depend on


def _head(app: App) -> object:
    return app.knowledge.repository.head()


def _day(app: App) -> object:
    return [_head(app), str(app.search.page.clock.today())]


def _served(app: App) -> object:
    """What is served, how, and the day."""
    production = app.platform.settings.production()
    served = app.search.searcher.opened(production.profile)[0].generation
    place, day = (served.number, served.digest, served.commit), str(app.search.page.clock.today())
    return [*place, _digest(production.config), production.threshold, day]


@lru_cache(maxsize=8)
def _digest(config: SearchConfig) -> str:
    return strict.digest(config)


STATES: Mapping[str, Callable[[App], object]] = {"head": _head, "day": _day, "served": _served}
