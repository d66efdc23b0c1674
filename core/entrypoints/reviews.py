"""Changes on the command line: propose, discuss, approve, merge."""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from core.entrypoints.contracts.changes import as_json, chosen, comment_json, list_json
from core.entrypoints.record import Argument, CommandCall, Option, Shown, command, form
from core.entrypoints.terminal import table
from core.errors import BadInput, NotFound
from core.evaluation.impact import as_json as impact_json
from core.services.reviews.changes import Change
from core.services.reviews.diff import News

if TYPE_CHECKING:
    pass

_PAUSE = 0.1  # seconds between two looks at a job


FileInput = Annotated[tuple[str, ...], Option("a Markdown file (- for standard input)")]
PathInput = Annotated[tuple[str, ...], Option("where it belongs; one per --file")]
DeleteInput = Annotated[tuple[str, ...], Option("a document to delete", metavar="PATH")]
ReviewerInput = Annotated[tuple[str, ...], Option("whom to ask, by id, address or name", metavar="WHO")]
CoAuthorInput = Annotated[tuple[str, ...], Option("whom, by id, address or name", metavar="WHO")]
MessageInput = Annotated[str, Option("what to say", flags=("--message", "--body"))]


@form
class NewOptions:
    title: Annotated[str, Option("what it does")]
    file: FileInput = ()
    path: PathInput = ()
    delete: DeleteInput = ()
    message: Annotated[str, Option("why")] = ""


@form
class OneChange:
    change: Annotated[int, Argument("ID")]


@form
class EditOptions(OneChange):
    title: Annotated[str, Option("another title")] = ""
    file: FileInput = ()
    path: PathInput = ()
    delete: DeleteInput = ()
    message: Annotated[str, Option("why")] = ""


@form
class ChangeReviewers(OneChange):
    reviewer: ReviewerInput = ()


@form
class ChangeCoAuthors(OneChange):
    co_author: CoAuthorInput = ()


@form
class ChangeMessage(OneChange):
    message: MessageInput = ""


@form
class CommentOptions(OneChange):
    message: MessageInput = ""
    path: Annotated[tuple[str, ...], Option("the document that the comment is about")] = ()
    line: Annotated[int, Option("the line of it")] = 0
    last: Annotated[int, Option("the last line, for several")] = 0
    head: Annotated[str, Option("the head that was read; refused if the change was edited since")] = ""
    reply: Annotated[int, Option("answer this comment", metavar="N")] = 0


@form
class OneComment(OneChange):
    comment: Annotated[int, Argument("COMMENT")]


@form
class ResolveOptions(OneComment):
    reopen: Annotated[bool, Option("open it again")] = False


@form
class EditCommentOptions(OneComment):
    message: MessageInput = ""


@form
class LiftOptions(ChangeMessage):
    reviewer: Annotated[str, Option("only the request of this account", metavar="ACCOUNT")] = ""


@form
class SolveOptions(OneChange):
    choice: Annotated[
        tuple[str, ...], Option("mine, theirs, both, =TEXT or delete; one per conflict, in their order")
    ] = ()
    head: Annotated[str, Option("the newest commit of the change whose conflicts you saw", metavar="COMMIT")] = ""
    main: Annotated[str, Option("the commit of the main line whose conflicts you saw", metavar="COMMIT")] = ""


@form
class MergeOptions(OneChange):
    bypass: Annotated[str, Option("without the approvals it lacks (admins)", metavar="REASON")] = ""
    no_wait: Annotated[bool, Option("do not wait until it can be found")] = False


def _files(form: NewOptions | EditOptions) -> dict[str, bytes | None]:
    """Documents named by --file and --path, in pairs, and those to delete."""
    if len(form.file) != len(form.path):
        raise BadInput("Give one --path for each --file: where the document belongs in the knowledge base.")
    files: dict[str, bytes | None] = {}
    for file, path in zip(form.file, form.path, strict=True):
        try:
            files[path] = sys.stdin.buffer.read() if str(file) == "-" else Path(file).read_bytes()
        except OSError as error:
            raise NotFound(f"{file} cannot be read: {error.strerror}.") from None
    return files | dict.fromkeys(form.delete, None)


def _show(call: CommandCall, change: Change) -> Shown:
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
    lines += [f"  merged as {change.merged[:12]}"] if change.merged else []
    return Shown(as_json(call.app, call.actor, change), lines)


@form
class ChangesListOptions:
    state: Annotated[str, Option("open, draft, in review, changes requested, approved, merged, closed")] = ""
    mine: Annotated[bool, Option("only those of which the acting account is an author or co-author")] = False
    waiting: Annotated[bool, Option("only those that wait for the acting account")] = False
    asked: Annotated[bool, Option("only those that the acting account was asked to review")] = False
    text: Annotated[str, Option("only those with these words")] = ""


@command("change new", "start a change", "reviews.changes.propose")
def new(call: CommandCall, form: NewOptions) -> Shown:
    change = call.app.reviews.changes.propose(call.actor, form.title, _files(form), form.message)
    return _show(call, change)


@command("change edit", "add an edit; earlier approvals are void", "reviews.changes.show")
def edit(call: CommandCall, form: EditOptions) -> Shown:
    app = call.app
    actor, files = call.actor, _files(form)
    change = app.reviews.changes.show(actor, form.change)
    if form.title:
        change = app.reviews.changes.describe(actor, change.id, form.title, form.message or change.description)
    if files or not form.title:
        change = app.reviews.changes.edit(actor, change.id, files, form.message)
    return _show(call, change)


@command("change submit", "ask for review", "reviews.changes.submit")
def submit(call: CommandCall, form: ChangeReviewers) -> Shown:
    change = call.app.reviews.changes.submit(call.actor, form.change, form.reviewer)
    return _show(call, change)


@command("change ask", "ask more people to review it, or the same ones again", "reviews.changes.ask")
def ask(call: CommandCall, form: ChangeReviewers) -> Shown:
    return _show(call, call.app.reviews.changes.ask(call.actor, form.change, form.reviewer))


@command("change unask", "take back a request that nobody has answered", "reviews.changes.unask")
def unask(call: CommandCall, form: ChangeReviewers) -> Shown:
    change = call.app.reviews.changes.unask(call.actor, form.change, form.reviewer)
    return _show(call, change)


@command(
    "change invite", "let others work on it as its author does; admins take a change over so", "reviews.changes.invite"
)
def invite(call: CommandCall, form: ChangeCoAuthors) -> Shown:
    change = call.app.reviews.changes.invite(call.actor, form.change, form.co_author)
    return _show(call, change)


@command("change uninvite", "remove co-authors, or yourself", "reviews.changes.uninvite")
def uninvite(call: CommandCall, form: ChangeCoAuthors) -> Shown:
    change = call.app.reviews.changes.uninvite(call.actor, form.change, form.co_author)
    return _show(call, change)


@command("change withdraw", "take a change back to draft", "reviews.changes.withdraw")
def withdraw(call: CommandCall, form: OneChange) -> Shown:
    return _show(call, call.app.reviews.changes.withdraw(call.actor, form.change))


@command("change comment", "say something about it", "reviews.discussion.comment")
def comment(call: CommandCall, form: CommentOptions) -> Shown:
    path = form.path[0] if form.path else ""
    remark = call.app.reviews.discussion.comment(
        call.actor,
        form.change,
        form.message,
        path=path,
        line=form.line,
        last=form.last,
        thread=form.reply,
        head=form.head,
    )
    return Shown(comment_json(remark, form.change), [f"Comment {remark.id} on change {form.change}."])


@command("change resolve", "close a conversation", "reviews.discussion.resolve")
def resolve(call: CommandCall, form: ResolveOptions) -> Shown:
    call.app.reviews.discussion.resolve(call.actor, form.change, form.comment, done=not form.reopen)
    return _show(call, call.app.reviews.changes.show(call.actor, form.change))


@command("change apply", "take a suggestion over", "reviews.discussion.apply")
def apply(call: CommandCall, form: OneComment) -> Shown:
    return _show(call, call.app.reviews.discussion.apply(call.actor, form.change, form.comment))


@command("change approve", "say that its text may become part of the knowledge base", "reviews.discussion.approve")
def approve(call: CommandCall, form: ChangeMessage) -> Shown:
    return _show(call, call.app.reviews.discussion.approve(call.actor, form.change, form.message))


@command("change request-changes", "say what must be better first", "reviews.discussion.request_changes")
def request_changes(call: CommandCall, form: ChangeMessage) -> Shown:
    return _show(call, call.app.reviews.discussion.request_changes(call.actor, form.change, form.message))


@command("change take-back", "withdraw your approval or your request for changes", "reviews.discussion.take_back")
def take_back(call: CommandCall, form: OneChange) -> Shown:
    return _show(call, call.app.reviews.discussion.take_back(call.actor, form.change))


@command("change lift", "lift requests for changes, with the reason as message (admins)", "reviews.discussion.lift")
def lift(call: CommandCall, form: LiftOptions) -> Shown:
    lifted = call.app.reviews.discussion.lift(call.actor, form.change, form.message, form.reviewer)
    return _show(call, lifted)


@command("change edit-comment", "put other words into a comment of yours", "reviews.discussion.edit_comment")
def edit_comment(call: CommandCall, form: EditCommentOptions) -> Shown:
    call.app.reviews.discussion.edit_comment(call.actor, form.change, form.comment, form.message)
    return _show(call, call.app.reviews.changes.show(call.actor, form.change))


@command("change delete-comment", "delete a comment of yours, or any (admins)", "reviews.discussion.delete_comment")
def delete_comment(call: CommandCall, form: OneComment) -> Shown:
    call.app.reviews.discussion.delete_comment(call.actor, form.change, form.comment)
    return _show(call, call.app.reviews.changes.show(call.actor, form.change))


@command("change merge", "make it part of the knowledge base", "reviews.merger.merge")
def merge(call: CommandCall, form: MergeOptions) -> Shown:
    """Merge, and wait until the change can be found."""
    change = call.app.reviews.merger.merge(call.actor, form.change, bypass=form.bypass)
    if not form.no_wait:
        _wait(call)
    return _show(call, change)


@command("change impact", "what it does to search, before and after", "reviews.impacts.measure")
def impact(call: CommandCall, form: OneChange) -> Shown:
    """Show the impact of a change; measure it first if that was not done on this text."""
    measured = call.app.reviews.impacts.measure(call.actor, form.change, call.progress)
    lines = [measured.sentence, *measured.notes]
    lines += [f"{name}: {verdict.sentence}" for name, verdict in measured.verdicts.items()]
    if measured.rows:
        lines += ["", *table(measured.rows, ("question", "of", "before", "after", "outcome"))]
    return Shown(impact_json(measured), lines)


def _wait(call: CommandCall) -> None:
    """Wait until no index build is left to do."""
    app = call.app
    job = app.platform.workspace.catch_up()
    while job and (job := app.platform.jobs.show(call.actor, job.id)).open:
        call.progress(job.done, job.total, job.message or "Indexing")
        time.sleep(_PAUSE)
        app.platform.jobs.tend()


@command("change close", "give it up", "reviews.changes.close")
def close(call: CommandCall, form: ChangeMessage) -> Shown:
    return _show(call, call.app.reviews.changes.close(call.actor, form.change, form.message))


@command("change reopen", "take a closed change up again", "reviews.changes.reopen")
def reopen(call: CommandCall, form: OneChange) -> Shown:
    return _show(call, call.app.reviews.changes.reopen(call.actor, form.change))


@command("change revert", "propose to undo a merged change", "reviews.merger.revert")
def revert(call: CommandCall, form: OneChange) -> Shown:
    return _show(call, call.app.reviews.merger.revert(call.actor, form.change))


@command("change show", "one change with its discussion", "reviews.changes.show")
def show(call: CommandCall, form: OneChange) -> Shown:
    return _show(call, call.app.reviews.changes.show(call.actor, form.change))


@command("change list", "changes, the one last touched first", "reviews.looks.news")
def changes_list(call: CommandCall, form: ChangesListOptions) -> Shown:
    listed = chosen(call.app, call.actor, **vars(form))
    news = call.app.reviews.looks.news(call.actor, listed)
    rows = [
        (change.id, change.state, change.author_name, len(change.documents), _news(news.get(change.id)), change.title)
        for change in listed
    ]
    return Shown(list_json(listed, news), table(rows, ("id", "state", "author", "docs", "news", "title")))


def _news(news: News | None) -> str:
    """What is new to the acting account, in a column."""
    if news is None or not (news.edits or news.comments or not news.seen):
        return ""
    return f"{news.edits} edits, {news.comments} comments" if news.seen else "not seen"


@command("change solve", "decide about conflicts", "reviews.merger.collisions")
def solve(call: CommandCall, form: SolveOptions) -> Shown:
    """One --choice per conflict, in the order of `change conflicts`."""
    app = call.app
    actor, left = call.actor, list(form.choice)
    choices: dict[str, tuple[str, ...]] = {}
    collisions = app.reviews.merger.collisions(actor, form.change)
    for collision in collisions:
        wanted = 1 if left[:1] == ["delete"] else sum(part.conflict for part in collision.parts)
        choices[collision.path], left = tuple(left[:wanted]), left[wanted:]
    head, main = (app.knowledge.repository.resolve(seen) if seen else "" for seen in (form.head, form.main))
    if collisions:
        head, main = head or collisions[0].head, main or collisions[0].main
    return _show(call, app.reviews.merger.solve(actor, form.change, choices, head=head, main=main))
