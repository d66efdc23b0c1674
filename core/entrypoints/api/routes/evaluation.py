"""Query sets, runs over them, and the jobs that work on them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

from fastapi import APIRouter, Query
from starlette.responses import Response

from core import strict
from core.access import Actor
from core.entrypoints.api.calls import Calls, Windowed
from core.entrypoints.api.forms import (
    Name,
    Number,
    QuerySetWhole,
    RunAnswer,
    RunComparisonAnswer,
    RunForm,
    StartedJob,
    WordQuery,
)
from core.entrypoints.api.problems import documented
from core.entrypoints.contracts import evaluation as shown
from core.evaluation.runs import comparisons
from core.services.evaluation.querysets import QuerySetSummary
from core.services.jobs.jobs import Job

if TYPE_CHECKING:
    from core.bootstrap import App

router = APIRouter(tags=["evaluation"])
MOST = 1000  # jobs and runs that are looked through


@router.get("/querysets", response_model=list[QuerySetSummary], responses=documented(304))
async def list_querysets(call: Calls, window: Windowed) -> Response:
    """Every query set, newest first."""
    return await call.page(lambda app, actor: app.evaluation.querysets.listed(actor), window)


@router.get("/querysets/{queryset}", response_model=QuerySetWhole, responses=documented(304, 404))
async def show_queryset(
    call: Calls,
    queryset: Name,
    questions: Annotated[bool, Query(description="Also every question with its judgments.")] = False,
) -> Response:
    """A query set, how far its judges agree, and which judgments find no place."""
    return await call.answer(lambda app, actor: shown.one_json(app, actor, queryset, questions=questions))


@router.get("/runs", response_model=list[RunAnswer], responses=documented(304))
async def list_runs(call: Calls, window: Windowed, queryset: WordQuery = "") -> Response:
    """Runs that were kept, newest first."""

    def work(app: App, actor: Actor) -> Any:
        return app.evaluation.runs.listed(actor, queryset, MOST)

    return await call.page(work, window, lambda part: [shown.run_json(run) for run in part])


@router.post("/runs", status_code=202, response_model=StartedJob, responses=documented(404, 409))
async def start_run(call: Calls, form: RunForm) -> Response:
    """Run configurations over a query set, as a job."""
    pairs = [(profile, config) for profile in form.profiles or [""] for config in form.configs or [""]]

    def work(app: App, actor: Actor) -> dict[str, int]:
        return {"job": app.evaluation.runs.start(actor, form.queryset, pairs, form.unit).id}

    return await call.answer(work, status=202)


@router.get("/runs/{run}", response_model=RunAnswer, responses=documented(304, 404))
async def show_run(call: Calls, run: Name) -> Response:
    """One run with its measures."""
    return await call.answer(lambda app, actor: shown.run_json(app.evaluation.runs.show(actor, run)))


@router.get("/comparisons", response_model=RunComparisonAnswer, responses=documented(304, 404))
async def compare_runs(
    call: Calls, before: WordQuery, after: WordQuery, measure: WordQuery = comparisons.MEASURE
) -> Response:
    """Two runs: difference, interval, wins, ties, losses."""

    def work(app: App, actor: Actor) -> Any:
        one, other = (app.evaluation.runs.show(actor, run) for run in (before, after))
        return shown.comparison_json(comparisons.compare(one, other, measure))

    return await call.answer(work)


@router.get("/jobs", response_model=list[Job], responses=documented(304))
async def list_jobs(call: Calls, window: Windowed) -> Response:
    """Running and past jobs, newest first."""
    return await call.page(lambda app, actor: app.platform.jobs.listed(actor, MOST), window)


@router.get("/jobs/{job}", response_model=Job, responses=documented(304, 404))
async def show_job(call: Calls, job: Number) -> Response:
    """One job and how far it is."""
    return await call.answer(lambda app, actor: strict.plain(app.platform.jobs.show(actor, job)))
