"""The service itself: health, metrics, and the description of the API."""

from __future__ import annotations

import hmac
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from core.access import SYSTEM, Actor, require
from core.entrypoints.api import metrics as meters
from core.entrypoints.api import reference
from core.entrypoints.api.calls import Calls
from core.entrypoints.api.problems import documented
from core.entrypoints.api.schemas import HealthAnswer
from core.errors import Unauthenticated

if TYPE_CHECKING:
    from core.bootstrap import App

router = APIRouter(tags=["service"])
CLOSED = "Metrics are for whoever sends the token of CONCORD_METRICS_TOKEN, which whoever runs Concord sets."
OPEN: dict[str, Any] = {"security": []}  # needs no token
PLAIN: dict[int | str, dict[str, Any]] = {
    200: {"description": "Text in the format of Prometheus.", "content": {"text/plain": {"schema": {"type": "string"}}}}
}


@router.get("/health", response_model=HealthAnswer, responses=documented(304), openapi_extra=OPEN)
async def health(call: Calls) -> Response:
    """Whether the app serves. With a token also the generation and the commit that are served, and how the store is."""

    def may_see(app: App) -> bool:
        if named := bool(call.secret()):
            require(call.actor(app), "search")
        return named

    return await call.answer(lambda app, _: served(app, may_see), actor=SYSTEM)


def served(app: App, may_see: Callable[[App], bool]) -> dict[str, Any]:
    """What health says: that the index can be read, and to those who may see it what is served."""
    generation = app.index.generations.current(app.platform.settings.production().profile)
    if not may_see(app):
        return {"status": "ok"}
    number, commit = (generation.number, generation.commit) if generation else (None, None)
    store = app.index.following.state
    return {"status": "ok", "generation": number, "commit": commit, **({"store": store.word} if store else {})}


@router.get("/metrics", response_class=Response, responses={**PLAIN, **documented()})
async def metrics(call: Calls) -> Response:
    """What Prometheus reads, with the token of CONCORD_METRICS_TOKEN; closed to everybody where that is not set."""

    def work(app: App, _: Actor) -> Response:
        own = call.service.metrics_token
        if not own or not hmac.compare_digest(call.secret().encode(), own.encode()):
            raise Unauthenticated(CLOSED)
        return Response(call.service.meters.text(app), media_type=meters.MEDIA_TYPE)

    return await call.answer(work, actor=SYSTEM)


@router.get("/", include_in_schema=False)
async def root(request: Request) -> Response:
    """Where to read on."""
    places = {"docs": f"{reference.PREFIX}/docs", "openapi": f"{reference.PREFIX}/openapi.json"}
    return JSONResponse({"title": request.app.title, "version": request.app.version, **places})


@router.get("/openapi.json", include_in_schema=False)
async def openapi(request: Request) -> Response:
    return reference.openapi(request.app)


@router.get("/docs", include_in_schema=False)
async def docs(request: Request) -> Response:
    return reference.page(request.app)


@router.get("/docs.js", include_in_schema=False)
async def script(request: Request) -> Response:
    return reference.script()
