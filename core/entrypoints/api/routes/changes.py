"""Changes: propose, discuss, judge, merge. If-Match names the text that was read."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated, Any, Literal

from fastapi import APIRouter, Query
from starlette.responses import Response

from core import strict
from core.access import Actor
from core.curation.review.proposals import checked_files, named_twice
from core.entrypoints.api.calls import ApiCall, Calls, Windowed
from core.entrypoints.api.forms import (
    ChangeAnswer,
    ChangeDiff,
    ChangeLine,
    CoAuthorsForm,
    CommentForm,
    ConflictAnswer,
    EditForm,
    FileForm,
    ImpactAnswer,
    MessageForm,
    Number,
    PlacedComment,
    ProposalForm,
    ReviewersForm,
    Seen,
    VerdictForm,
    WordQuery,
)
from core.entrypoints.api.problems import documented
from core.entrypoints.contracts import changes as shown
from core.errors import BadInput, NotFound
from core.evaluation.impact import as_json as impact_json
from core.services.reviews.changes import Change
from core.services.reviews.facts import as_seen

if TYPE_CHECKING:
    from core.bootstrap import App

router = APIRouter(tags=["changes"])
State = Literal["", "open", "draft", "in review", "changes requested", "approved", "merged", "closed"]
Move = Callable[["App", Actor], Change]


@router.get("/changes", response_model=list[ChangeLine], responses=documented(304))
async def list_changes(
    call: Calls,
    window: Windowed,
    state: State = "",
    mine: Annotated[bool, Query(description="Only those of the account.")] = False,
    waiting: Annotated[bool, Query(description="Only those that wait for the account.")] = False,
    asked: Annotated[bool, Query(description="Only those that the account was asked to review.")] = False,
    text: Annotated[WordQuery, Query(description="Only those with these words.")] = "",
) -> Response:
    """Changes, the one last touched first."""

    def work(app: App, actor: Actor) -> Any:
        listed = shown.chosen(app, actor, state=state, mine=mine, waiting=waiting, asked=asked, text=text)
        return shown.list_json(listed, app.reviews.looks.news(actor, listed))

    return await call.page(work, window)


@router.post("/changes", status_code=201, response_model=ChangeAnswer, responses=documented(404, 409, 412))
async def propose_change(call: Calls, form: ProposalForm) -> Response:
    """Propose a change of one or more documents. It is a draft until it is submitted for review."""

    def move(app: App, actor: Actor) -> Change:
        change = app.reviews.changes.propose(actor, form.title, _files(form.files), form.message, read=form.read)
        call.headers["Location"] = f"{call.request.url.path}/{change.id}"
        return change

    return await _moved(call, move, status=201)


@router.get("/changes/{change}", response_model=ChangeAnswer, responses=documented(304, 404))
async def show_change(call: Calls, change: Number) -> Response:
    """One change with its discussion. Its ETag goes into If-Match."""
    return await _moved(call, lambda app, actor: app.reviews.changes.show(actor, change))


@router.get("/changes/{change}/diff", response_model=ChangeDiff, responses=documented(304, 404))
async def change_diff(
    call: Calls,
    change: Number,
    since_look: Annotated[bool, Query(description="Only what is new since the account's last look.")] = False,
) -> Response:
    """What a change does, line by line; remembers that the account looked."""
    return await call.answer(lambda app, actor: shown.compared(app, actor, change, since_look=since_look)[0])


@router.get("/changes/{change}/conflicts", response_model=list[ConflictAnswer], responses=documented(304, 404))
async def change_conflicts(call: Calls, change: Number) -> Response:
    """What must be decided before it can be merged."""

    def work(app: App, actor: Actor) -> Any:
        return [shown.collision_json(each) for each in app.reviews.merger.collisions(actor, change)]

    return await call.answer(work)


@router.get("/changes/{change}/impact", response_model=ImpactAnswer, responses=documented(304, 404))
async def change_impact(call: Calls, change: Number) -> Response:
    """What a change does to search, as it was measured last; `head` and `main` say on which texts."""

    def work(app: App, actor: Actor) -> Any:
        measured = app.reviews.impacts.show(actor, change)
        if measured is None:
            raise NotFound(f"The impact of change {change} was not measured yet. POST here measures it.")
        return impact_json(measured)

    return await call.answer(work)


@router.post("/changes/{change}/impact", response_model=ImpactAnswer, responses=documented(404, 409))
async def measure_impact(call: Calls, change: Number) -> Response:
    """Measure what a change does to search, unless that is known; this can take a while."""
    return await call.answer(lambda app, actor: impact_json(app.reviews.impacts.measure(actor, change)), lane="slow")


@router.post("/changes/{change}/edits", response_model=ChangeAnswer, responses=documented(404, 409, 412))
async def edit_change(call: Calls, change: Number, form: EditForm, if_match: Seen = None) -> Response:
    """Add an edit, or give another title. Earlier approvals are void."""
    seen = call.expected_head()

    def move(app: App, actor: Actor) -> Change:
        known, files = app.reviews.changes.show(actor, change), _files(form.files)
        files = checked_files(files) if files else {}  # before the title: what is refused changes nothing
        as_seen(known.head, seen)
        if form.title:
            known = app.reviews.changes.describe(actor, change, form.title, form.message or known.description)
        if files or not form.title:
            known = app.reviews.changes.edit(actor, change, files, form.message, expected=known.head)
        return known

    return await _moved(call, move)


@router.post("/changes/{change}/submit", response_model=ChangeAnswer, responses=documented(404, 409))
async def submit_change(call: Calls, change: Number, form: ReviewersForm) -> Response:
    """Ask for review."""
    return await _moved(call, lambda app, actor: app.reviews.changes.submit(actor, change, form.reviewers))


@router.post("/changes/{change}/co-authors", response_model=ChangeAnswer, responses=documented(404, 409))
async def invite_co_authors(call: Calls, change: Number, form: CoAuthorsForm) -> Response:
    """Invite others to work on it as its author does, or remove them. Whoever is no author of a change comments with a suggestion."""

    def move(app: App, actor: Actor) -> Change:
        changes = app.reviews.changes
        return (changes.uninvite if form.remove else changes.invite)(actor, change, form.accounts)

    return await _moved(call, move)


@router.post("/changes/{change}/withdraw", response_model=ChangeAnswer, responses=documented(404, 409))
async def withdraw_change(call: Calls, change: Number) -> Response:
    """Take it back to draft."""
    return await _moved(call, lambda app, actor: app.reviews.changes.withdraw(actor, change))


@router.post("/changes/{change}/close", response_model=ChangeAnswer, responses=documented(404, 409))
async def close_change(call: Calls, change: Number, form: MessageForm) -> Response:
    """Give it up."""
    return await _moved(call, lambda app, actor: app.reviews.changes.close(actor, change, form.message))


@router.post("/changes/{change}/reopen", response_model=ChangeAnswer, responses=documented(404, 409))
async def reopen_change(call: Calls, change: Number) -> Response:
    """Take a closed change up again."""
    return await _moved(call, lambda app, actor: app.reviews.changes.reopen(actor, change))


@router.post("/changes/{change}/revert", status_code=201, response_model=ChangeAnswer, responses=documented(404, 409))
async def revert_change(call: Calls, change: Number) -> Response:
    """Propose to undo a merged change."""
    return await _moved(call, lambda app, actor: app.reviews.merger.revert(actor, change), status=201)


@router.post(
    "/changes/{change}/comments", status_code=201, response_model=PlacedComment, responses=documented(404, 409, 412)
)
async def comment_on_change(call: Calls, change: Number, form: CommentForm, if_match: Seen = None) -> Response:
    """Say something about a change, about lines of it, or in answer to a comment."""
    seen, place = call.expected_head(), {"line": form.line, "last": form.last, "thread": form.reply}

    def work(app: App, actor: Actor) -> Any:
        talk = app.reviews.discussion
        remark = talk.comment(actor, change, form.message, path=form.path, **place, head=seen)
        return shown.comment_json(remark, change)

    return await call.answer(work, status=201)


@router.post("/changes/{change}/verdicts", response_model=ChangeAnswer, responses=documented(404, 409, 412))
async def judge_change(call: Calls, change: Number, form: VerdictForm, if_match: Seen = None) -> Response:
    """Approve a change, request changes, or take one's verdict back."""
    seen = call.expected_head()

    def move(app: App, actor: Actor) -> Change:
        talk = app.reviews.discussion
        if form.verdict == "take back":
            return talk.take_back(actor, change)
        judge = talk.approve if form.verdict == "approve" else talk.request_changes
        return judge(actor, change, form.message, head=seen)

    return await _moved(call, move)


@router.post("/changes/{change}/merge", response_model=ChangeAnswer, responses=documented(404, 409, 412))
async def merge_change(call: Calls, change: Number, if_match: Seen = None) -> Response:
    """Make it part of the knowledge base. It can be found once the index has it, which a job sees to."""
    seen = call.expected_head()
    return await _moved(call, lambda app, actor: app.reviews.merger.merge(actor, change, head=seen), lane="slow")


async def _moved(call: ApiCall, move: Move, status: int = 200, lane: str = "quick") -> Response:
    """The change as a move leaves it; its ETag is its head, then what else there is to see."""

    def work(app: App, actor: Actor) -> dict[str, Any]:
        change = move(app, actor)
        value = shown.as_json(app, actor, change)
        call.headers["ETag"] = f'"{change.head}-{strict.digest(value)}"'
        return value

    return await call.answer(work, status=status, lane=lane)


def _files(forms: list[FileForm]) -> dict[str, bytes | None]:
    files: dict[str, bytes | None] = {}
    for form in forms:
        if form.path in files:
            raise BadInput(named_twice(form.path))
        files[form.path] = None if form.text is None else form.text.encode()
    return files
