"""A way past the framework for operations that are asked often: it takes as long as a small search around each of them."""

from __future__ import annotations

from typing import Any, TypeVar
from urllib.parse import parse_qsl

from fastapi.exceptions import RequestValidationError
from pydantic import BaseModel, ValidationError
from starlette.requests import Request

from core.entrypoints.programs import refuse_unknown

F = TypeVar("F", bound=BaseModel)


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
