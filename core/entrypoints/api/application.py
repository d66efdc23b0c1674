"""The API as one application: `create` gives what a server mounts under /api/v1."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

from fastapi import FastAPI
from fastapi.exceptions import RequestValidationError
from fastapi.routing import APIRoute
from starlette.exceptions import HTTPException
from starlette.middleware.exceptions import ExceptionMiddleware
from starlette.middleware.gzip import GZipMiddleware
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Match, Mount, Route

from core import __version__
from core.access import Actor
from core.entrypoints.api import operations, problems, reference, service
from core.entrypoints.api.calls import DOOR, FAULT, Service
from core.entrypoints.api.gateway import Gateway
from core.entrypoints.api.metrics import Meters
from core.entrypoints.front_desk import FrontDesk
from core.entrypoints.limits import TokenBuckets
from core.entrypoints.record import Operation
from core.errors import ConcordError
from core.settings import Settings

if TYPE_CHECKING:
    from core.bootstrap import App

READS = ("GET", "HEAD")
_NO_JSON = "The body is not marked as JSON. Send it with the header Content-Type: application/json."
ABOUT = (
    "Search, read and change the knowledge base with an access token. Answers have the keys of the command line's "
    "--json; refusals are problem details with the sentence that pages and command line show."
)


def create(
    opened: Callable[[], App],
    settings: Settings,
    visitor: Callable[[str, App], Actor | None] = lambda secret, app: None,
    own: Iterable[Operation] = (),
) -> FastAPI:
    """`opened` gives the workspace, which is opened at the first request. `visitor` is who holds the token of a page:
    its components read with it, and use what is `own` of pages."""
    api = FastAPI(
        title="Concord",
        version=__version__,
        description=ABOUT,
        openapi_url=None,
        redirect_slashes=False,
        generate_unique_id_function=lambda route: route.name,
    )
    api.state.service = Service(
        FrontDesk(opened, DOOR, TokenBuckets(settings.api_rate)), Meters(), settings.metrics_token, visitor
    )
    api.add_middleware(Gateway, service=api.state.service)
    for error, handler in ((RequestValidationError, _wrong), (HTTPException, _refused), (ConcordError, _unusable)):
        api.add_exception_handler(error, handler)
    api.state.routers = (operations.router(own), service.router)
    for router in api.state.routers:
        api.include_router(router)
    return api


def mounted(api: FastAPI) -> Mount:
    """Where a server finds the API. A line break in an address belongs to it, too: the API says that nothing is
    there.
    """
    mount = Mount(reference.PREFIX, api)
    mount.path_regex = re.compile(mount.path_regex.pattern, re.DOTALL)
    return mount


class ApiDoor:
    """ASGI middleware: requests to the API go past what only pages need, and searches past the framework, too.

    Both take as long as a small search. Answers are compressed at level 1: level 9 saves an eighth of the bytes for
    three times the time.
    """

    def __init__(self, app: Any, api: FastAPI) -> None:
        self.app, self.api = app, api
        self.mounted = _compressed(mounted(api))
        self.search = _compressed(Gateway(ExceptionMiddleware(_searched, api.exception_handlers), api.state.service))
        self.searches = {f"{reference.PREFIX}{route.path}": route for route in _routes(api) if _past(route)}

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        path = scope["path"] if scope["type"] == "http" else ""
        if path in self.searches and scope["method"] in READS:
            await self.search({**scope, "app": self.api, "route": self.searches[path]}, receive, send)
        elif path == reference.PREFIX:
            await self.mounted({**scope, "path": f"{path}/", "raw_path": f"{path}/".encode()}, receive, send)
        elif path.startswith(f"{reference.PREFIX}/"):
            await self.mounted(scope, receive, send)
        else:
            await self.app(scope, receive, send)


async def _searched(scope: Any, receive: Any, send: Any) -> None:
    answer = await scope["route"].endpoint(Request(scope, receive))
    await answer(scope, receive, send)


def _past(route: Route | APIRoute) -> bool:
    """Whether a search goes past the framework."""
    return isinstance(route.endpoint, operations.Direct)


def _compressed(app: Any) -> GZipMiddleware:
    return GZipMiddleware(app, minimum_size=1000, compresslevel=1)


def _id(request: Request) -> str:
    return str(request.scope.get("concord.request", ""))


async def _wrong(request: Request, error: Exception) -> Response:
    """Parameters and bodies that do not have their documented form."""
    if int(request.headers.get("content-length") or 0) and "json" not in request.headers.get("content-type", ""):
        return problems.answer(422, _NO_JSON, _id(request))
    wrong = [
        {"where": ".".join(str(step) for step in part["loc"]), "why": str(part["msg"])}
        for part in (error.errors() if isinstance(error, RequestValidationError) else ())
    ]
    detail = " ".join(f"{part['where']}: {part['why'].rstrip('.')}." for part in wrong[:3])
    return problems.answer(422, detail, _id(request), errors=wrong)


async def _refused(request: Request, error: Exception) -> Response:
    """What the framework refuses: no such address, no such method, a body that is no JSON."""
    if not isinstance(error, HTTPException):
        return problems.answer(500, FAULT, _id(request))
    if error.status_code == 405:
        allow = ", ".join(_methods(request))
        return problems.answer(405, f"This address takes {allow}.", _id(request), {"Allow": allow})
    said = "There is nothing at this address." if error.status_code == 404 else f"{error.detail}"
    return problems.answer(error.status_code, said, _id(request), error.headers)


def _methods(request: Request) -> list[str]:
    """What an address takes: several operations may share it, and the framework asks the first alone."""
    found = [route.methods for route in _routes(request.app) if _fits(route, request)]
    methods = {method for each in found for method in each or ()}
    return sorted(methods | {"HEAD"} if "GET" in methods else methods)


def _routes(api: FastAPI) -> list[Route | APIRoute]:
    return [route for router in api.state.routers for route in router.routes if isinstance(route, Route | APIRoute)]


def _fits(route: BaseRoute, request: Request) -> bool:
    return route.matches(request.scope)[0] is not Match.NONE


async def _unusable(request: Request, error: Exception) -> Response:
    if isinstance(error, ConcordError):
        return problems.refused(error, _id(request))
    return problems.answer(500, str(error), _id(request))
