"""HTTP routes: health for load balancers, and what components draw without a rerun. What programs read as well is in /api/v1."""

from __future__ import annotations

import logging
import time
from collections.abc import Awaitable, Callable
from functools import wraps
from typing import Any

import anyio
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from core.access import Actor, allowed, reading_as, require
from core.entrypoints.api import application
from core.entrypoints.limits import Turns
from core.entrypoints.mcp.endpoint import McpEndpoint
from core.errors import Busy, ConcordError, Refused
from core.services.search.searcher import pending_json
from core.settings import load
from pages.ui import pictures, vectors
from pages.ui.components import editor_view
from pages.ui.components.search_view import answer, filters_from
from pages.ui.playground import view_data
from pages.ui.server import direct, request_body, unsubscribe
from pages.ui.sign_in import cookies
from pages.ui.sign_in.routes import ROUTES as SIGN_IN
from pages.ui.workspace import current_app

_TURNS = Turns(4)  # requests of one account at a time
_COMPARERS = Turns(1)  # comparisons of one account at a time: each may rerank thousands of passages
_COMPARED = anyio.CapacityLimiter(2)  # and of all
_PAST = anyio.CapacityLimiter(
    2
)  # searches of earlier states at a time: opening one may take long, and searches do not wait for it
_LOG = logging.getLogger(__name__)


async def health(request: Request) -> Response:
    """Whether the app is up; what it serves only for those who may see the index."""
    try:
        return JSONResponse(await anyio.to_thread.run_sync(lambda: _state(request)))
    except ConcordError as error:
        _LOG.error("The app is not healthy: %s", error)
    except Exception:
        _LOG.exception("The app is not healthy.")
    return JSONResponse({"status": "down"}, status_code=503)


def _state(request: Request) -> dict[str, Any]:
    app = current_app()
    generation = app.index.generations.current(app.platform.settings.production().profile)
    actor = _account(request)
    if actor is None or not allowed(actor, "see the index"):
        return {"status": "ok"}
    number, commit = (generation.number, generation.commit) if generation else (None, None)
    store = app.index.following.state
    return {"status": "ok", "generation": number, "commit": commit, **({"store": store.word} if store else {})}


def _account(request: Request) -> Actor | None:
    """The account that the request's token names."""
    token = request.headers.get("authorization", "").removeprefix("Bearer ").strip()
    return direct.holder(token, current_app())


Handler = Callable[[Request, Actor], Awaitable[Response]]


def needs(action: str, turns: Turns = _TURNS) -> Callable[[Handler], Callable[[Request], Awaitable[Response]]]:
    """Ask who calls before a handler runs; whatever it refuses is a sentence with a 4xx."""

    def checked(handler: Handler) -> Callable[[Request], Awaitable[Response]]:
        @wraps(handler)
        async def call(request: Request) -> Response:
            actor = await anyio.to_thread.run_sync(_account, request)
            if actor is None:
                return _refused(401, "There is no token, or it is too old. Load the page again.")
            try:
                require(actor, action)
                if action != "search":
                    current_app().platform.memory.require_room("only searches are answered")
                async with turns.of(actor.id):
                    with reading_as(actor):
                        return await handler(request, actor)
            except ClientDisconnect:
                return Response(status_code=499)  # a newer move of the same knob took its place; nobody reads this
            except request_body.Unreadable as error:
                return _refused(error.status, str(error))
            except Busy as error:
                return _refused(429, str(error))
            except Refused as error:
                return _refused(403, str(error))
            except ConcordError as error:
                return _refused(400, str(error))

        return call

    return checked


@needs("search")
async def find(request: Request, actor: Actor) -> Response:
    """The search box as the user types: the same results as the page."""
    parameters = request.query_params
    filters, as_of = filters_from(parameters.getlist, parameters.get("history") == "true"), parameters.get("as_of", "")
    work = lambda: answer(current_app(), parameters.get("q", ""), filters, as_of)
    began = time.perf_counter()
    found = await _computed(request, work, _PAST if as_of else None)
    seconds = time.perf_counter() - began
    API.state.service.meters.request("GET", "find", found.status_code, seconds)
    facts = {"status": found.status_code, "ms": round(1000 * seconds, 1), "who": actor.id}
    _LOG.info("Searched: %(status)d in %(ms).1f ms, by %(who)s", facts, extra={"facts": facts})
    return found


@needs("keep asked questions")
async def asked(request: Request, actor: Actor) -> Response:
    """A question that somebody has finished typing, and later that a hit was opened; kept without names."""
    body = await request_body.json_object(request)
    keep, question, opened = current_app().search.queries.keep, str(body.get("q", "")), body.get("opened")
    document = opened if isinstance(opened, str) else ""
    return await _computed(request, lambda: {"kept": keep(actor, question, opened=bool(opened), document=document)})


@needs("search")
async def meaning(request: Request, actor: Actor) -> Response:
    """How far vectors are that are still being computed; null when all are there."""
    return await _computed(request, lambda: pending_json(vectors.pending(current_app())))


@needs("compare configurations", _COMPARERS)
async def playground(request: Request, actor: Actor) -> Response:
    """The playground's knobs as they move: ranked from the cache."""
    body = await request_body.json_object(request)
    return await _computed(request, lambda: view_data.update(actor, body), _COMPARED)


async def codemirror(request: Request) -> Response:
    """The library of the editor, which browsers keep: its address changes with its content."""
    headers = {"Content-Encoding": "gzip", "Cache-Control": "public, max-age=31536000, immutable"}
    return Response(editor_view.bundle()[0], headers=headers, media_type="text/javascript")


ROUTES = [
    Route("/api/health", health),
    Route(editor_view.ROUTE, codemirror),
    Route("/api/find", find),
    Route("/api/pending", meaning),
    Route("/api/asked", asked, methods=["POST"]),
    Route("/api/playground", playground, methods=["POST"]),
    *pictures.ROUTES,
    *unsubscribe.ROUTES,
    *SIGN_IN,
]

ASSISTANTS = McpEndpoint(lambda: current_app(), load().url, load().api_rate)
MOUNTS = [Route(cookies.at("/mcp"), ASSISTANTS)]  # with access tokens of its own
API = application.create(lambda: current_app(), load(), direct.holder)


async def _computed(
    request: Request, work: Callable[[], Any], limiter: anyio.CapacityLimiter | None = None
) -> Response:
    """The result of `work` as JSON; both in a thread, so that other requests do not wait."""
    zipped = "gzip" in request.headers.get("accept-encoding", "")
    return await anyio.to_thread.run_sync(lambda: direct.packed(work(), zipped), limiter=limiter)


def _refused(status: int, reason: str) -> Response:
    return JSONResponse({"error": reason}, status_code=status)
