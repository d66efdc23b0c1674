"""Gaps: what people looked for and did not find."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fastapi import APIRouter
from starlette.responses import Response

from core import strict
from core.access import Actor
from core.entrypoints.api.calls import Calls, Windowed
from core.entrypoints.api.forms import AssignmentForm, ClosedGap, GapForm, Number
from core.entrypoints.api.problems import documented
from core.services.knowledge.gaps import Gap

if TYPE_CHECKING:
    from core.bootstrap import App

router = APIRouter(tags=["gaps"])


@router.get("/gaps", response_model=list[Gap], responses=documented(304))
async def list_gaps(call: Calls, window: Windowed) -> Response:
    """Questions without an answer."""
    return await call.page(lambda app, actor: app.knowledge.gaps.open(actor), window)


@router.post("/gaps", status_code=201, response_model=Gap, responses=documented(409))
async def report_gap(call: Calls, form: GapForm) -> Response:
    """Keep a question for the owners."""

    def work(app: App, actor: Actor) -> Any:
        return strict.plain(app.knowledge.gaps.report(actor, form.query, form.note))

    return await call.answer(work, status=201)


@router.post("/gaps/{gap}/assign", response_model=Gap, responses=documented(404))
async def assign_gap(call: Calls, gap: Number, form: AssignmentForm) -> Response:
    """Let somebody look after a question."""
    return await call.answer(lambda app, actor: strict.plain(app.knowledge.gaps.assign(actor, gap, form.account)))


@router.post("/gaps/{gap}/close", response_model=ClosedGap, responses=documented(404))
async def close_gap(call: Calls, gap: Number) -> Response:
    """Mark a question as answered."""

    def work(app: App, actor: Actor) -> dict[str, int]:
        app.knowledge.gaps.close(actor, gap)
        return {"closed": gap}

    return await call.answer(work)
