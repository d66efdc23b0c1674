"""Search, and what explains it: configurations side by side, and the way of one document."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Annotated, Any

from fastapi import APIRouter, Depends, Query
from starlette.requests import Request
from starlette.responses import Response

from core import strict
from core.access import Actor, require
from core.entrypoints.api import quick
from core.entrypoints.api.calls import ApiCall, Calls
from core.entrypoints.api.forms import (
    CitedAnswer,
    CompareAnswer,
    ConfigQuery,
    Configuration,
    QuestionQuery,
    SearchAnswer,
    SearchForm,
    Several,
    WordQuery,
)
from core.entrypoints.api.problems import documented
from core.entrypoints.contracts import search as shown
from core.entrypoints.contracts.search import searched
from core.services.playground.where import Diagnosis
from core.services.search import answers
from core.services.search.searcher import as_json
from core.types import Filters, SearchConfig

if TYPE_CHECKING:
    from core.bootstrap import App

router = APIRouter(tags=["search"])


async def filters_of(
    type: Several = (),
    status: Several = (),
    tag: Several = (),
    owner: Several = (),
    folder: Several = (),
    doc: Several = (),
    history: Annotated[bool, Query(description="Also retired, superseded and not yet effective documents.")] = False,
) -> Filters:
    """Only documents like these; several of one kind are alternatives."""
    return Filters(type, status, tag, owner, folder, doc, history=history)


Filtered = Annotated[Filters, Depends(filters_of)]


def served(app: App) -> list[Any]:
    """The state that a search depends on: what is served, how, and the day."""
    production = app.platform.settings.production()
    served = app.search.searcher.opened(production.profile)[0].generation
    place, day = (served.number, served.digest, served.commit), str(app.search.page.clock.today())
    return [*place, _digest(production.config), production.threshold, day]


@lru_cache(maxsize=8)
def _digest(config: SearchConfig) -> str:
    return strict.digest(config)


@router.get(
    "/search",
    response_model=SearchAnswer,
    responses=documented(304, 404),
    openapi_extra={"parameters": quick.parameters(SearchForm)},
)
async def search(request: Request) -> Response:
    """Passages of the approved documents that answer a question."""
    return await searched_for(request)


async def searched_for(request: Request) -> Response:
    """The same without what the framework does around an operation."""
    call, form = ApiCall(request), quick.read(SearchForm, request)
    filters = Filters(form.type, form.status, form.tag, form.owner, form.folder, form.doc, history=form.history)

    def work(app: App, actor: Actor) -> dict[str, Any]:
        require(actor, "search")
        result, suggestions = searched(app, form.q, form.profile, form.config, filters, form.k, form.as_of)
        call.service.meters.searches.labels("yes" if result.fits else "no").inc()
        if form.asked:
            app.search.queries.keep(actor, form.q)
        return as_json(result, suggestions)

    known = not (form.profile or form.as_of or form.asked)
    return await call.answer(work, tag=served if known else None, lane="slow" if form.as_of else "search")


@router.get("/answer", response_model=CitedAnswer, responses=documented(304, 404))
async def answer(
    call: Calls,
    q: QuestionQuery,
    type: Several = (),
    tag: Several = (),
    owner: Several = (),
    folder: Several = (),
    doc: Several = (),
    as_of: Annotated[WordQuery, Query(description="As it was at the end of a day (2026-03-31), or at a commit.")] = "",
) -> Response:
    """An answer with citations from documents in effect. It asks the configured language model, which may cost money."""
    chosen = Filters(types=type, tags=tag, owners=owner, folders=folder, docs=doc)
    work = lambda app, actor: answers.as_json(app.search.answerer.answer(actor, q, chosen, as_of))
    return await call.answer(work, lane="slow")


@router.get("/compare", response_model=CompareAnswer, responses=documented(304, 404))
async def compare(
    call: Calls,
    filters: Filtered,
    q: QuestionQuery,
    config: Annotated[tuple[Configuration, ...], Query(max_length=4, description="A name or JSON, up to four.")] = (),
    profile: Annotated[Several, Query(description="One for all, or one for each configuration; local@7 is local with change 7.")] = (),
) -> Response:  # fmt: skip
    """Several configurations side by side; without any, both legs alone and what is in production."""

    def work(app: App, actor: Actor) -> dict[str, Any]:
        require(actor, "compare configurations")
        columns = shown.columns_of(app, config, profile)
        compared = app.playground.comparer.run(actor, q, columns, filters)
        return shown.compare_json(compared, shown.scores_of(app, actor, compared))

    return await call.answer(work, lane="slow")


@router.get("/where", response_model=Diagnosis, responses=documented(304, 404))
async def where(
    call: Calls,
    filters: Filtered,
    q: QuestionQuery,
    document: WordQuery,
    profile: WordQuery = "",
    config: ConfigQuery = "",
) -> Response:
    """Where a document ranks for a question and why, and what would bring it into the list."""

    def work(app: App, actor: Actor) -> Any:
        require(actor, "compare configurations")
        column = shown.column_of(app, config, profile)
        return strict.plain(app.playground.locator.where(actor, q, document, column, filters))

    return await call.answer(work, lane="slow")
