"""A way past the framework for operations that are asked often: it takes as long as a small search around each of them."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any, TypeVar
from urllib.parse import parse_qsl

from fastapi.exceptions import RequestValidationError
from pydantic import BaseModel, ValidationError
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Match, Route

from core.entrypoints.api.calls import refuse_unknown

F = TypeVar("F", bound=BaseModel)


class QuickRoute(Route):
    """An operation that reads its request itself. The framework's own route beside it is the one that is described."""

    def __init__(self, path: str, answer: Callable[[Request], Awaitable[Response]]) -> None:
        super().__init__(path, _Straight(answer))
        self.methods = {"GET"}

    def matches(self, scope: Any) -> tuple[Match, Any]:
        match, child = super().matches(scope)
        return match, {**child, "route": self}


class _Straight:
    def __init__(self, answer: Callable[[Request], Awaitable[Response]]) -> None:
        self.answer = answer

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        await (await self.answer(Request(scope, receive)))(scope, receive, send)


def read(form: type[F], request: Request) -> F:
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


def parameters(form: type[BaseModel]) -> list[dict[str, Any]]:
    """The fields of a form as an OpenAPI document describes query parameters."""
    schema = form.model_json_schema()
    return [
        {"name": name, "in": "query", "required": name in schema["required"], "schema": field}
        for name, field in schema["properties"].items()
    ]


def _lists(form: type[BaseModel]) -> frozenset[str]:
    return frozenset(name for name, field in form.model_fields.items() if field.default == ())
