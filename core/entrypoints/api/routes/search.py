"""Search, and what explains it: configurations side by side, and the way of one document."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

from fastapi import APIRouter, Depends, Query
from starlette.responses import Response

from core import strict
from core.access import Actor, require
from core.entrypoints import playground
from core.entrypoints.api.calls import Calls
from core.entrypoints.api.forms import (
    CitedAnswer,
    CompareAnswer,
    ConfigQuery,
    Configuration,
    QuestionQuery,
    SearchAnswer,
    Several,
    WordQuery,
)
from core.entrypoints.api.problems import documented
from core.entrypoints.search import searched
from core.services.playground.where import Diagnosis
from core.services.search import answers
from core.services.search.searcher import as_json
from core.types import Filters

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
    generation = app.index.generations.current(production.profile)
    place = generation.folder if generation else ""
    return [place, production.config, production.threshold, str(app.search.page.clock.today())]


@router.get("/search", response_model=SearchAnswer, responses=documented(304, 404))
async def search(
    call: Calls,
    filters: Filtered,
    q: QuestionQuery,
    k: Annotated[int, Query(ge=0, le=1000, description="How many hits; as many as in production if not given.")] = 0,
    profile: WordQuery = "",
    config: ConfigQuery = "",
    as_of: Annotated[WordQuery, Query(description="As it was at the end of a day (2026-03-31), or at a commit.")] = "",
    asked: Annotated[bool, Query(description="A person asked this: keep it among the asked questions.")] = False,
) -> Response:
    """Passages of the approved documents that answer a question."""

    def work(app: App, actor: Actor) -> dict[str, Any]:
        require(actor, "search")
        result, suggestions = searched(app, q, profile, config, filters, k, as_of)
        call.service.meters.searches.labels("yes" if result.fits else "no").inc()
        if asked:
            app.search.queries.keep(actor, q)
        return as_json(result, suggestions)

    return await call.answer(work, tag=None if profile or as_of else served, lane="slow" if as_of else "quick")


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
        columns = playground.columns_of(app, config, profile)
        compared = app.playground.comparer.run(actor, q, columns, filters)
        return playground.compare_json(compared, playground.scores_of(app, actor, compared))

    return await call.answer(work)


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
        column = playground.column_of(app, config, profile)
        return strict.plain(app.playground.locator.where(actor, q, document, column, filters))

    return await call.answer(work)
