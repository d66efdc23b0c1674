"""Changes: propose, discuss, approve and merge them."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any

from core.curation.document.frontmatter import MAX_BYTES
from core.curation.review.proposals import MAX_TEXT, MAX_TITLE, checked_files, named_twice
from core.entrypoints.contracts.change_json import as_json, collision_json, comment_json, compared, line_json
from core.entrypoints.record import (
    Argument,
    Bounds,
    Key,
    Option,
    Rows,
    Shown,
    UseCaseCall,
    command,
    form,
    operation,
)
from core.entrypoints.terminal import table
from core.errors import BadInput, NotFound
from core.evaluation.impact import as_json as impact_json
from core.services.reviews.changes import Change, ChangeBasis
from core.services.reviews.diff import News
from core.services.reviews.discussion import CommentPlace
from core.services.reviews.facts import as_seen
from core.types import Frozen

_PAUSE = 0.1  # seconds between two looks at a job


ReviewerInput = Annotated[
    tuple[str, ...], Option("whom to ask, by id, address or name", metavar="WHO", key="reviewers")
]
MessageInput = Annotated[str, Option("what to say", flags=("--message", "--body")), Bounds(longest=MAX_TEXT)]
WhyInput = Annotated[str, Option("why"), Bounds(longest=MAX_TEXT)]
IF_MATCH = "If-Match"
SEEN = (
    "the ETag of the change, or its head in quotes: refused with 412 if it was edited since; any state if not "
    'given or "*"'
)
SeenInput = Annotated[str, Key(SEEN, header=IF_MATCH)]
STATES = ("", "open", "draft", "in review", "changes requested", "approved", "merged", "closed")
MOST_FILES = 200


@dataclass(frozen=True)
class FileForm:
    """A document of a change: its whole text, or null to delete it."""

    path: str
    text: str | None


FilesInput = Annotated[
    tuple[FileForm, ...],
    Key("documents by path with their whole text, null to delete one", key="files"),
    Bounds(longest=MAX_BYTES, many=MOST_FILES),
]


@form
class ProposalForm:
    """A new change."""

    title: Annotated[str, Option("what it does"), Bounds(longest=MAX_TITLE, shortest=1)]
    documents: Annotated[
        tuple[FileForm, ...],
        Key("documents by path with their whole text, null to delete one", key="files"),
        Bounds(longest=MAX_BYTES, many=MOST_FILES, few=1),
    ] = ()
    message: WhyInput = ""
    read: Annotated[
        Mapping[str, str],
        Key(
            'path to the `blob` of the text that was edited, "" if there was none: refused with 412 if it is another '
            "by now"
        ),
        Bounds(many=MOST_FILES),
    ] = Frozen()


@form
class OneChange:
    change: Annotated[int, Argument("ID", "the number of a change, as change list prints it")]


@form
class EditForm(OneChange):
    """Another edit of a change; with a title also another title, and the message is its description then."""

    title: Annotated[str, Option("another title"), Bounds(longest=MAX_TITLE)] = ""
    documents: FilesInput = ()
    message: WhyInput = ""
    head: SeenInput = ""


@form
class ReviewersForm(OneChange):
    """Whom to ask, by id, address or name."""

    reviewer: ReviewerInput = ()


@form
class CoAuthorsForm(OneChange):
    """Whom to invite or to remove, by id, address or name."""

    accounts: Annotated[tuple[str, ...], Key("whom, by id, address or name"), Bounds(few=1)]
    remove: Annotated[bool, Key("remove them instead")] = False


@form
class MessageForm(OneChange):
    """What to say."""

    message: MessageInput = ""


@form
class VerdictForm(OneChange):
    """A verdict on the text of a change."""

    verdict: Annotated[str, Key("what is said of it"), Bounds(choices=("approve", "request changes", "take back"))]
    message: MessageInput = ""
    head: SeenInput = ""


@form
class CommentForm(OneChange):
    """A comment on the change, on lines of one of its documents, or in answer to another comment."""

    message: Annotated[
        str, Option("what to say", flags=("--message", "--body")), Bounds(longest=MAX_TEXT, shortest=1)
    ] = ""
    path: Annotated[str, Option("the document that the comment is about")] = ""
    line: Annotated[int, Option("the line of it")] = 0
    last: Annotated[int, Option("the last line, for several")] = 0
    removed: Annotated[bool, Option("the lines are those of the text before the change")] = False
    head: Annotated[str, Option("the head that was read; refused if the change was edited since", header=IF_MATCH)] = ""
    reply: Annotated[int, Option("answer this comment", metavar="N")] = 0


@form
class MergeOptions(OneChange):
    bypass: Annotated[str, Option("without the approvals it lacks (admins)", metavar="REASON", local=True)] = ""
    no_wait: Annotated[bool, Option("do not wait until it can be found", local=True)] = False
    head: SeenInput = ""


def _files(form: ProposalForm | EditForm) -> dict[str, bytes | None]:
    """Documents by path with their text."""
    files: dict[str, bytes | None] = {}
    for each in form.documents:
        if each.path in files:
            raise BadInput(named_twice(each.path))
        files[each.path] = None if each.text is None else each.text.encode()
    return files


def _show(call: UseCaseCall, change: Change) -> Shown:
    return Shown(as_json(call.app, call.actor, change), lambda: _lines(change))


def _lines(change: Change) -> list[str]:
    lines = [f"Change {change.id}: {change.title}", f"{change.state}, by {change.author_name}, {change.updated}"]
    lines += [f"  co-author {co_author.name}, invited by {co_author.inviter}" for co_author in change.co_authors]
    lines += [f"  {edit.kind:8} {edit.path}" for edit in change.documents]
    lines += [f"  asked {request.name}: {request.answer or 'no answer yet'}" for request in change.asked]
    lines += [f"  the review rules name {name}, and nobody is called so" for name in change.unknown]
    lines += [f"  approved by {name}" for name in change.approvals]
    lines += [f"  {block.name} ({block.who}) asks for: {block.note}" for block in change.blocks]
    lines += [f"  - {sentence}" for sentence in change.requirements]
    lines += [f"  warning: {sentence}" for sentence in change.warnings]
    fix = [finding for finding in change.findings if finding.severity == "warning"] if change.open else []
    lines += [f"  fix {finding.path}, line {finding.line}: {finding.message}" for finding in fix]
    return lines + ([f"  merged as {change.merged[:12]}"] if change.merged else [])


@form
class ChangesListOptions:
    state: Annotated[
        str, Option("open, draft, in review, changes requested, approved, merged, closed"), Bounds(choices=STATES)
    ] = ""
    mine: Annotated[bool, Option("only those of which the acting account is an author or co-author")] = False
    waiting: Annotated[bool, Option("only those that wait for the acting account")] = False
    asked: Annotated[bool, Option("only those that the acting account was asked to review")] = False
    text: Annotated[str, Option("only those with these words")] = ""


@operation(
    "propose_change",
    "POST /changes",
    "ChangeAnswer",
    status=201,
    head=True,
    calls="reviews.changes.propose",
    example='POST /changes {"title": "Count twice", "files": [{"path": "finance/drawers.md", "text": "# '
    'Drawers\\n\\nCount twice.\\n"}]}',
)
def new(call: UseCaseCall, form: ProposalForm) -> Shown:
    """Propose a change of one or more documents. It is a draft until it is submitted for review."""
    files = _files(form)
    change = call.app.reviews.changes.propose(call.actor, form.title, files, form.message, ChangeBasis(read=form.read))
    return _show(call, change)._replace(location=f"changes/{change.id}")


@operation(
    "edit_change",
    "POST /changes/{change}/edits",
    "ChangeAnswer",
    head=True,
    calls="reviews.changes.show",
    example='POST /changes/5/edits {"files": [{"path": "finance/drawers.md", "text": "# Drawers\\n\\nCount three '
    'times.\\n"}]}',
)
def edit(call: UseCaseCall, form: EditForm) -> Shown:
    """Add an edit, or give another title. Earlier approvals are void."""
    changes, actor, files = call.app.reviews.changes, call.actor, _files(form)
    change = changes.show(actor, form.change)
    files = checked_files(files) if files else {}  # before the title: what is refused changes nothing
    as_seen(change.head, form.head)
    if form.title:
        change = changes.describe(actor, change.id, form.title, form.message or change.description)
    if files or not form.title:
        change = changes.edit(actor, change.id, files, form.message, expected=change.head)
    return _show(call, change)


@operation(
    "submit_change",
    "POST /changes/{change}/submit",
    "ChangeAnswer",
    head=True,
    calls="reviews.changes.submit",
    example='POST /changes/5/submit {"reviewers": ["reviewer"]}',
)
def submit(call: UseCaseCall, form: ReviewersForm) -> Shown:
    """Ask for review."""
    change = call.app.reviews.changes.submit(call.actor, form.change, form.reviewer)
    return _show(call, change)


@operation(
    "invite_co_authors",
    "POST /changes/{change}/co-authors",
    "ChangeAnswer",
    calls="reviews.changes.invite",
    head=True,
    example='POST /changes/2/co-authors {"accounts": ["author2"]}',
)
def invite_or_remove(call: UseCaseCall, form: CoAuthorsForm) -> Shown:
    """Invite others to work on it as its author does, or remove them. Whoever is no author of a change comments with a
    suggestion.
    """
    changes = call.app.reviews.changes
    return _show(call, (changes.uninvite if form.remove else changes.invite)(call.actor, form.change, form.accounts))


@operation(
    "withdraw_change",
    "POST /changes/{change}/withdraw",
    "ChangeAnswer",
    head=True,
    calls="reviews.changes.withdraw",
    example="POST /changes/2/withdraw",
)
def withdraw(call: UseCaseCall, form: OneChange) -> Shown:
    """Take it back to draft."""
    return _show(call, call.app.reviews.changes.withdraw(call.actor, form.change))


@operation(
    "comment_on_change",
    "POST /changes/{change}/comments",
    "PlacedComment",
    status=201,
    calls="reviews.discussion.comment",
    example='POST /changes/2/comments {"message": "Why?"}',
)
def comment(call: UseCaseCall, form: CommentForm) -> Shown:
    """Say something about a change, about lines of it, or in answer to a comment."""
    remark = call.app.reviews.discussion.comment(
        call.actor,
        form.change,
        form.message,
        CommentPlace(form.path, form.line, form.last, form.removed),
        thread=form.reply,
        head=form.head,
    )
    return Shown(comment_json(remark, form.change))


@operation(
    "judge_change",
    "POST /changes/{change}/verdicts",
    "ChangeAnswer",
    calls="reviews.discussion.approve",
    head=True,
    example='POST /changes/2/verdicts {"verdict": "approve"}',
)
def verdict(call: UseCaseCall, form: VerdictForm) -> Shown:
    """Approve a change, request changes, or take one's verdict back."""
    talk = call.app.reviews.discussion
    if form.verdict == "take back":
        return _show(call, talk.take_back(call.actor, form.change))
    judge = talk.approve if form.verdict == "approve" else talk.request_changes
    return _show(call, judge(call.actor, form.change, form.message, head=form.head))


@operation(
    "merge_change",
    "POST /changes/{change}/merge",
    "ChangeAnswer",
    lane="slow",
    head=True,
    example="POST /changes/1/merge {}",
)
@command(
    "change merge", "make it part of the knowledge base", "reviews.merger.merge", example="change merge 1 --no-wait"
)
def merge(call: UseCaseCall, form: MergeOptions) -> Shown:
    """Make it part of the knowledge base. It can be found once the index has it, which a job sees to."""
    change = call.app.reviews.merger.merge(call.actor, form.change, bypass=form.bypass, head=form.head)
    if call.typed and not form.no_wait:
        _wait(call)
    return _show(call, change)


@operation(
    "measure_impact", "POST /changes/{change}/impact", "ImpactAnswer", lane="slow", example="POST /changes/2/impact"
)
@command(
    "change impact", "what it does to search, before and after", "reviews.impacts.measure", example="change impact 2"
)
def impact(call: UseCaseCall, form: OneChange) -> Shown:
    """Measure what a change does to search, unless that is known; this can take a while."""
    measured = call.app.reviews.impacts.measure(call.actor, form.change, call.progress)
    lines = [measured.sentence, *measured.notes]
    lines += [f"{name}: {verdict.sentence}" for name, verdict in measured.verdicts.items()]
    if measured.rows:
        lines += ["", *table(measured.rows, ("question", "of", "before", "after", "outcome"))]
    return Shown(impact_json(measured), lines)


@operation(
    "change_impact",
    "GET /changes/{change}/impact",
    "ImpactAnswer",
    calls="reviews.impacts.show",
    example="GET /changes/2/impact",
)
def impact_so_far(call: UseCaseCall, form: OneChange) -> Shown:
    """What a change does to search, as it was measured last; `head` and `main` say on which texts."""
    measured = call.app.reviews.impacts.show(call.actor, form.change)
    if measured is None:
        raise NotFound(f"The impact of change {form.change} was not measured yet. POST here measures it.")
    return Shown(impact_json(measured))


def _wait(call: UseCaseCall) -> None:
    """Wait until no index build is left to do."""
    app = call.app
    job = app.platform.workspace.catch_up()
    while job and (job := app.platform.jobs.show(call.actor, job.id)).open:
        call.progress(job.done, job.total, job.message or "Indexing")
        time.sleep(_PAUSE)
        app.platform.jobs.tend()


@operation(
    "close_change",
    "POST /changes/{change}/close",
    "ChangeAnswer",
    head=True,
    calls="reviews.changes.close",
    example="POST /changes/2/close {}",
)
def close(call: UseCaseCall, form: MessageForm) -> Shown:
    """Give it up."""
    return _show(call, call.app.reviews.changes.close(call.actor, form.change, form.message))


@operation(
    "reopen_change",
    "POST /changes/{change}/reopen",
    "ChangeAnswer",
    head=True,
    calls="reviews.changes.reopen",
    example="POST /changes/3/reopen",
)
def reopen(call: UseCaseCall, form: OneChange) -> Shown:
    """Take a closed change up again."""
    return _show(call, call.app.reviews.changes.reopen(call.actor, form.change))


@operation(
    "revert_change",
    "POST /changes/{change}/revert",
    "ChangeAnswer",
    status=201,
    head=True,
    calls="reviews.merger.revert",
    example="POST /changes/4/revert",
)
def revert(call: UseCaseCall, form: OneChange) -> Shown:
    """Propose to undo a merged change."""
    return _show(call, call.app.reviews.merger.revert(call.actor, form.change))


@operation("show_change", "GET /changes/{change}", "ChangeAnswer", head=True, example="GET /changes/2")
@command("change show", "one change with its discussion", "reviews.changes.show", example="change show 2")
def show(call: UseCaseCall, form: OneChange) -> Shown:
    """One change with its discussion. Its ETag goes into If-Match."""
    return _show(call, call.app.reviews.changes.show(call.actor, form.change))


@operation("list_changes", "GET /changes", "[ChangeLine]", paged=True, example="GET /changes?state=open")
@command("change list", "changes, the one last touched first", "reviews.looks.news")
def changes_list(call: UseCaseCall, form: ChangesListOptions) -> Shown:
    """Changes, the one last touched first."""
    listed, looks = _chosen(call, form), call.app.reviews.looks

    def shown(changes: Sequence[Change]) -> list[Any]:
        news = looks.news(call.actor, changes)
        return [line_json(change, news) for change in changes]

    def lines() -> list[str]:
        changes = list(listed)
        return _list_lines(changes, looks.news(call.actor, changes))

    return Shown(Rows(listed, together=shown), lines)


def _chosen(call: UseCaseCall, form: ChangesListOptions) -> Sequence[Change]:
    changes = call.app.reviews.changes
    if form.asked:
        return changes.asked_of(call.actor)
    if form.waiting:
        return changes.waiting_for(call.actor)
    return changes.listed(call.actor, state=form.state, author=call.actor.id if form.mine else "", text=form.text)


def _list_lines(listed: Sequence[Change], news: Mapping[int, News]) -> list[str]:
    rows = [
        (change.id, change.state, change.author_name, len(change.documents), _news(news.get(change.id)), change.title)
        for change in listed
    ]
    return table(rows, ("id", "state", "author", "docs", "news", "title"))


def _news(news: News | None) -> str:
    """What is new to the acting account, in a column."""
    if news is None or not (news.edits or news.comments or not news.seen):
        return ""
    return f"{news.edits} edits, {news.comments} comments" if news.seen else "not seen"


@form
class DiffOptions(OneChange):
    since_look: Annotated[bool, Option("only what changed since your last look")] = False


@operation(
    "change_diff", "GET /changes/{change}/diff", "ChangeDiff", calls="reviews.looks.look", example="GET /changes/2/diff"
)
def diff(call: UseCaseCall, form: DiffOptions) -> Shown:
    """What a change does, line by line; remembers that the account looked."""
    return Shown(compared(call.app, call.actor, form.change, since_look=form.since_look))


@operation(
    "change_conflicts",
    "GET /changes/{change}/conflicts",
    "[ConflictAnswer]",
    calls="reviews.merger.collisions",
    example="GET /changes/2/conflicts",
)
def conflicts(call: UseCaseCall, form: OneChange) -> Shown:
    """What must be decided before it can be merged."""
    collisions = call.app.reviews.merger.collisions(call.actor, form.change)
    return Shown([collision_json(collision) for collision in collisions])
