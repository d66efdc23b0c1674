"""The approved documents: list, read as of any day, versions, links, and whether they are still right."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

from fastapi import APIRouter, Query
from starlette.responses import Response

from core.access import Actor, require
from core.entrypoints.api.calls import Calls, Windowed
from core.entrypoints.api.forms import (
    LARGEST,
    ConfirmationAnswer,
    ConfirmationForm,
    DiffAnswer,
    DocumentLine,
    DocumentName,
    DocumentVersion,
    FreshnessAnswer,
    LinksAnswer,
    WholeDocument,
    WordQuery,
)
from core.entrypoints.api.problems import documented
from core.entrypoints.contracts import documents as shown

if TYPE_CHECKING:
    from core.bootstrap import App

router = APIRouter(tags=["documents"])
Version = Annotated[int, Query(ge=0, le=LARGEST, description="A version; the newest, or the one before it, if 0.")]


def head(app: App) -> str:
    """What every read of the newest state depends on."""
    return app.knowledge.repository.head()


def day(app: App) -> list[str]:
    return [head(app), str(app.search.page.clock.today())]


@router.get("/documents", response_model=list[DocumentLine], responses=documented(304))
async def list_documents(
    call: Calls, window: Windowed, folder: Annotated[WordQuery, Query(description="Only below this folder.")] = ""
) -> Response:
    """Every document, by path."""

    def work(app: App, actor: Actor) -> Any:
        require(actor, "read documents")
        return shown.below(app.knowledge.documents.all(), folder)

    return await call.page(work, window, lambda part: [shown.as_json(document) for document in part])


@router.get("/documents/{document:path}", response_model=WholeDocument, responses=documented(304, 404))
async def read_document(
    call: Calls,
    document: DocumentName,
    as_of: Annotated[WordQuery, Query(description="As it was at the end of a day (2026-03-31), or at a commit.")] = "",
) -> Response:
    """One document with its text, as it is now or as it was."""

    def work(app: App, actor: Actor) -> dict[str, Any]:
        require(actor, "read documents")
        documents = app.knowledge.documents
        return shown.whole_json(documents.show_at(actor, document, as_of) if as_of else documents.show(document))

    return await call.answer(work, tag=None if as_of else head)


@router.get("/history/{document:path}", response_model=list[DocumentVersion], responses=documented(304, 404))
async def document_history(call: Calls, window: Windowed, document: DocumentName) -> Response:
    """The versions of a document, newest first."""

    def work(app: App, actor: Actor) -> Any:
        require(actor, "read documents")
        return app.knowledge.documents.history(document)

    return await call.page(work, window, shown.history_json)


@router.get("/diff/{document:path}", response_model=DiffAnswer, responses=documented(304, 404))
async def document_diff(call: Calls, document: DocumentName, old: Version = 0, new: Version = 0) -> Response:
    """What changed between two versions of a document."""

    def work(app: App, actor: Actor) -> dict[str, Any]:
        require(actor, "read documents")
        return shown.diff_json(*shown.difference(app.knowledge.documents, document, old, new))

    return await call.answer(work, tag=head)


@router.get("/links/{document:path}", response_model=LinksAnswer, responses=documented(304, 404))
async def document_links(call: Calls, document: DocumentName) -> Response:
    """Where a document leads, and what links to it."""

    def work(app: App, actor: Actor) -> Any:
        require(actor, "read documents")
        return shown.links_json(app.knowledge.documents, document)

    return await call.answer(work, tag=head)


@router.get("/freshness", response_model=FreshnessAnswer, responses=documented(304))
async def freshness(call: Calls) -> Response:
    """Documents that are due for review or have no owner."""

    def work(app: App, actor: Actor) -> dict[str, Any]:
        require(actor, "read documents")
        return shown.freshness_json(app.knowledge.freshness.attention())

    return await call.answer(work, tag=day)


@router.post("/confirmations", status_code=201, response_model=ConfirmationAnswer, responses=documented(404, 409))
async def confirm_document(call: Calls, form: ConfirmationForm) -> Response:
    """Say that a document is still right."""

    def work(app: App, actor: Actor) -> dict[str, Any]:
        return shown.confirmed(app, actor, form.document, form.until)

    return await call.answer(work, status=201)
