"""The OpenAPI document, and a page that shows it and sends requests, without anything from elsewhere."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from html import escape
from pathlib import Path
from typing import Any

from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi
from starlette.responses import HTMLResponse, JSONResponse, Response

from core.entrypoints.api import problems
from core.entrypoints.api.calls import KEY
from core.services.people.replies import MAX_KEY

PREFIX = "/api/v1"
_REF = "#/components/schemas/"
_HERE = Path(__file__).parent


def document(api: FastAPI) -> dict[str, Any]:
    """The OpenAPI document, made once."""
    if api.openapi_schema is None:
        servers: list[dict[str, str | Any]] = [{"url": PREFIX}]
        made = get_openapi(
            title=api.title, version=api.version, description=api.description, routes=api.routes, servers=servers
        )
        parts = made.setdefault("components", {})
        details = problems.ProblemDetails.model_json_schema(ref_template=_REF + "{model}")
        parts.setdefault("schemas", {}).update({**details.pop("$defs", {}), "ProblemDetails": details})
        parts["securitySchemes"] = {"token": {"type": "http", "scheme": "bearer", "description": "An access token."}}
        for methods in made["paths"].values():
            if "post" in methods:
                _take_key(methods["post"])
        api.openapi_schema = {**made, "security": [{"token": []}]}
    return api.openapi_schema


def _take_key(operation: dict[str, Any]) -> None:
    """Every POST takes a key, see `ApiCall`."""
    schema = {"type": "string", "minLength": 1, "maxLength": MAX_KEY}
    about = "A UUID, say: the same request with the same key gets the same answer for a day, and is done once."
    operation.setdefault("parameters", []).append({"name": KEY, "in": "header", "schema": schema, "description": about})
    operation["responses"].setdefault("409", problems.documented(409)[409])


@cache
def script() -> Response:
    return Response((_HERE / "reference.js").read_bytes(), media_type="text/javascript")


@cache
def openapi(api: FastAPI) -> Response:
    """The document as an answer: made once, since anybody may ask for it."""
    return JSONResponse(document(api))


@cache
def page(api: FastAPI) -> Response:
    """Every operation with its parameters and answers, and a form that sends it."""
    described = document(api)
    text = (_HERE / "reference.html").read_text(encoding="utf-8")
    parts = {"title": f"{api.title} API {api.version}", "about": api.description}
    for name, value in parts.items():
        text = text.replace(f"{{{{{name}}}}}", escape(value))
    text = text.replace("{{operations}}", "\n".join(_operations(described)))
    return HTMLResponse(text.replace("{{schemas}}", "\n".join(_schemas(described))))


def _operations(described: Mapping[str, Any]) -> Iterator[str]:
    tag = ""
    for path, methods in described["paths"].items():
        for method, operation in methods.items():
            if operation["tags"][0] != tag:
                tag = operation["tags"][0]
                yield f"<h2>{escape(tag.capitalize())}</h2>"
            yield _operation(method, path, operation)


def _operation(method: str, path: str, operation: Mapping[str, Any]) -> str:
    parameters = operation.get("parameters", [])
    rows = "".join(_row(parameter) for parameter in parameters)
    table = f"<table><tr><th>Parameter</th><th>In</th><th>Value</th><th></th></tr>{rows}</table>" if rows else ""
    body = operation.get("requestBody", {}).get("content", {}).get("application/json", {}).get("schema")
    sent = f"<label>Body: {_kind(body)}<textarea name='body' rows='6'>{{}}</textarea></label>" if body else ""
    answers = "".join(
        f"<tr><td>{status}</td><td>{escape(answer['description'])}</td><td>{_kinds(answer)}</td></tr>"
        for status, answer in operation["responses"].items()
    )
    return (
        f"<details id='{escape(operation['operationId'])}'><summary><code class='method'>{method.upper()}</code> "
        f"<code>{escape(path)}</code> {escape(operation['summary'])}</summary>"
        f"<p>{escape(operation.get('description', ''))}</p>"
        f"<form data-method='{method.upper()}' data-path='{escape(path)}'>{table}{sent}<button>Send</button></form>"
        "<output aria-live='polite'></output>"
        f"<table><tr><th>Answer</th><th></th><th></th></tr>{answers}</table></details>"
    )


def _row(parameter: Mapping[str, Any]) -> str:
    name, place, schema = escape(parameter["name"]), parameter["in"], parameter.get("schema", {})
    needed = " required" if parameter.get("required") else ""
    field = f"<input name='{name}' data-in='{place}' aria-label='{name}'{needed}>"
    about = escape(parameter.get("description", schema.get("description", "")))
    return (
        f"<tr><td><code>{name}</code>{' *' if needed else ''}</td><td>{place}</td><td>{_kind(schema)} "
        f"{field}</td><td>{about}</td></tr>"
    )


def _kinds(answer: Mapping[str, Any]) -> str:
    return ", ".join(_kind(content.get("schema", {})) for content in answer.get("content", {}).values())


def _kind(schema: Mapping[str, Any]) -> str:
    """A schema in a few words, with a link where it has a name."""
    if "$ref" in schema:
        name = escape(schema["$ref"].removeprefix(_REF))
        return f"<a href='#schema-{name}'>{name}</a>"
    if schema.get("type") == "array":
        return f"list of {_kind(schema.get('items', {}))}"
    if "anyOf" in schema:
        return " or ".join(_kind(each) for each in schema["anyOf"])
    if "enum" in schema:
        return escape(", ".join(map(str, schema["enum"])))
    return escape(str(schema.get("type", "anything")))


def _schemas(described: Mapping[str, Any]) -> Iterator[str]:
    for name, schema in sorted(described["components"]["schemas"].items()):
        rows = "".join(
            f"<tr><td><code>{escape(key)}</code></td><td>{_kind(value)}</td></tr>"
            for key, value in schema.get("properties", {}).items()
        )
        about = escape(schema.get("description", ""))
        yield (
            f"<details id='schema-{escape(name)}'><summary><code>{escape(name)}</code></summary>"
            f"<p>{about}</p><table>{rows}</table></details>"
        )
