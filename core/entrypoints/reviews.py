"""Changes on the command line: propose, discuss, approve, merge."""

from __future__ import annotations

import sys
import time
from argparse import ArgumentParser, Namespace
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from core import strict
from core.access import Actor
from core.entrypoints import change_texts
from core.entrypoints.session import acting, open_app
from core.entrypoints.terminal import Terminal, table
from core.errors import BadInput, NotFound
from core.evaluation.impact import as_json as impact_json
from core.services.reviews.changes import Change
from core.services.reviews.diff import News
from core.services.reviews.discussion import Comment
from core.settings import Settings

if TYPE_CHECKING:
    from core.bootstrap import App

_PAUSE = 0.1  # seconds between two looks at a job


def register(add: Any) -> None:
    change = add.group_of("change")
    _editing(change)
    _moving(change)
    _talking(change)
    change_texts.register(change)
    _merging(change)
    listing = change("list", changes_list, "changes, the one last touched first")
    listing.add_argument(
        "--state", default="", help="open, draft, in review, changes requested, approved, merged, closed"
    )
    listing.add_argument(
        "--mine", action="store_true", help="only those of which the acting account is an author or co-author"
    )
    listing.add_argument("--waiting", action="store_true", help="only those that wait for the acting account")
    listing.add_argument("--asked", action="store_true", help="only those that the acting account was asked to review")
    listing.add_argument("--text", default="", help="only those with these words")


def _editing(add: Any) -> None:
    first = add("new", new, "start a change")
    first.add_argument("--title", required=True, help="what it does")
    more = _numbered(add, "edit", edit, "add an edit; earlier approvals are void")
    more.add_argument("--title", default="", help="another title")
    for command in (first, more):
        command.add_argument("--file", action="append", default=[], help="a Markdown file (- for standard input)")
        command.add_argument("--path", action="append", default=[], help="where it belongs; one per --file")
        command.add_argument("--delete", action="append", default=[], metavar="PATH", help="a document to delete")
        command.add_argument("--message", default="", help="why")


def _moving(add: Any) -> None:
    for name, run, about in (
        ("withdraw", withdraw, "take a change back to draft"),
        ("reopen", reopen, "take a closed change up again"),
        ("revert", revert, "propose to undo a merged change"),
        ("show", show, "one change with its discussion"),
        ("take-back", take_back, "withdraw your approval or your request for changes"),
    ):
        _numbered(add, name, run, about)
    for name, run, about in (
        ("submit", submit, "ask for review"),
        ("ask", ask, "ask more people to review it, or the same ones again"),
        ("unask", unask, "take back a request that nobody has answered"),
    ):
        _numbered(add, name, run, about).add_argument(
            "--reviewer", action="append", default=[], metavar="WHO", help="whom to ask, by id, address or name"
        )
    for name, run, about in (
        ("invite", invite, "let others work on it as its author does; admins take a change over so"),
        ("uninvite", uninvite, "remove co-authors, or yourself"),
    ):
        _numbered(add, name, run, about).add_argument(
            "--co-author", action="append", default=[], metavar="WHO", help="whom, by id, address or name"
        )


def _talking(add: Any) -> None:
    for name, run, about in (
        ("approve", approve, "say that its text may become part of the knowledge base"),
        ("request-changes", request_changes, "say what must be better first"),
        ("close", close, "give it up"),
    ):
        _said(_numbered(add, name, run, about))
    say = _said(_numbered(add, "comment", comment, "say something about it"))
    say.add_argument("--path", action="append", default=[], help="the document that the comment is about")
    say.add_argument("--line", type=int, default=0, help="the line of it")
    say.add_argument("--last", type=int, default=0, help="the last line, for several")
    say.add_argument("--head", default="", help="the head that was read; refused if the change was edited since")
    say.add_argument("--reply", type=int, default=0, metavar="N", help="answer this comment")
    for name, run, about in (
        ("resolve", resolve, "close a conversation"),
        ("apply", apply, "take a suggestion over"),
        ("edit-comment", edit_comment, "put other words into a comment of yours"),
        ("delete-comment", delete_comment, "delete a comment of yours, or any (admins)"),
    ):
        command = _numbered(add, name, run, about)
        command.add_argument("comment", type=int, metavar="COMMENT")
        if name == "resolve":
            command.add_argument("--reopen", action="store_true", help="open it again")
        if name == "edit-comment":
            _said(command)
    lifting = _said(_numbered(add, "lift", lift, "lift requests for changes, with the reason as message (admins)"))
    lifting.add_argument("--reviewer", default="", metavar="ACCOUNT", help="only the request of this account")


def _merging(add: Any) -> None:
    decide = _numbered(add, "solve", solve, "decide about conflicts")
    decide.add_argument(
        "--choice",
        action="append",
        default=[],
        help="mine, theirs, both, =TEXT or delete; one per conflict, in their order",
    )
    for name, about in (("head", "the newest commit of the change"), ("main", "the commit of the main line")):
        decide.add_argument(f"--{name}", default="", metavar="COMMIT", help=f"{about} whose conflicts you saw")
    _numbered(add, "impact", impact, "what it does to search, before and after")
    end = _numbered(add, "merge", merge, "make it part of the knowledge base")
    end.add_argument("--bypass", default="", metavar="REASON", help="without the approvals it lacks (admins)")
    end.add_argument("--no-wait", action="store_true", help="do not wait until it can be found")


def _numbered(add: Any, name: str, run: Any, about: str) -> ArgumentParser:
    command: ArgumentParser = add(name, run, about)
    command.add_argument("change", type=int, metavar="ID")
    return command


def _said(command: ArgumentParser) -> ArgumentParser:
    command.add_argument("--message", "--body", default="", help="what to say")
    return command


def _files(options: Namespace) -> dict[str, bytes | None]:
    """Documents named by --file and --path, in pairs, and those to delete."""
    if len(options.file) != len(options.path):
        raise BadInput("Give one --path for each --file: where the document belongs in the knowledge base.")
    files: dict[str, bytes | None] = {}
    for file, path in zip(options.file, options.path, strict=True):
        try:
            files[path] = sys.stdin.buffer.read() if str(file) == "-" else Path(file).read_bytes()
        except OSError as error:
            raise NotFound(f"{file} cannot be read: {error.strerror}.") from None
    return files | dict.fromkeys(options.delete, None)


def as_json(app: App, actor: Actor, change: Change) -> dict[str, Any]:
    """The contract of `change show --json`."""
    talk = [
        {**strict.plain(comment), "suggestion": comment.suggestion}
        for comment in app.reviews.discussion.comments(actor, change.id)
    ]
    return {**strict.plain(change), "comments": talk}


def _show(app: App, options: Namespace, change: Change, terminal: Terminal) -> int:
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
    terminal.show(as_json(app, acting(app, options), change), lines)
    return 0


def new(settings: Settings, options: Namespace, terminal: Terminal) -> int:
    app = open_app(settings)
    change = app.reviews.changes.propose(acting(app, options), options.title, _files(options), options.message)
    return _show(app, options, change, terminal)


def edit(settings: Settings, options: Namespace, terminal: Terminal) -> int:
    app = open_app(settings)
    actor, files = acting(app, options), _files(options)
    change = app.reviews.changes.show(actor, options.change)
    if options.title:
        change = app.reviews.changes.describe(actor, change.id, options.title, options.message or change.description)
    if files or not options.title:
        change = app.reviews.changes.edit(actor, change.id, files, options.message)
    return _show(app, options, change, terminal)


def submit(settings: Settings, options: Namespace, terminal: Terminal) -> int:
    app = open_app(settings)
    change = app.reviews.changes.submit(acting(app, options), options.change, options.reviewer)
    return _show(app, options, change, terminal)


def ask(settings: Settings, options: Namespace, terminal: Terminal) -> int:
    app = open_app(settings)
    return _show(
        app, options, app.reviews.changes.ask(acting(app, options), options.change, options.reviewer), terminal
    )


def unask(settings: Settings, options: Namespace, terminal: Terminal) -> int:
    app = open_app(settings)
    change = app.reviews.changes.unask(acting(app, options), options.change, options.reviewer)
    return _show(app, options, change, terminal)


def invite(settings: Settings, options: Namespace, terminal: Terminal) -> int:
    app = open_app(settings)
    change = app.reviews.changes.invite(acting(app, options), options.change, options.co_author)
    return _show(app, options, change, terminal)


def uninvite(settings: Settings, options: Namespace, terminal: Terminal) -> int:
    app = open_app(settings)
    change = app.reviews.changes.uninvite(acting(app, options), options.change, options.co_author)
    return _show(app, options, change, terminal)


def withdraw(settings: Settings, options: Namespace, terminal: Terminal) -> int:
    app = open_app(settings)
    return _show(app, options, app.reviews.changes.withdraw(acting(app, options), options.change), terminal)


def comment(settings: Settings, options: Namespace, terminal: Terminal) -> int:
    app = open_app(settings)
    path = options.path[0] if options.path else ""
    remark = app.reviews.discussion.comment(
        acting(app, options),
        options.change,
        options.message,
        path=path,
        line=options.line,
        last=options.last,
        thread=options.reply,
        head=options.head,
    )
    terminal.show(comment_json(remark, options.change), [f"Comment {remark.id} on change {options.change}."])
    return 0


def comment_json(remark: Comment, change: int) -> dict[str, Any]:
    """The contract of `change comment --json`."""
    return {**strict.plain(remark), "suggestion": remark.suggestion, "change": change}


def resolve(settings: Settings, options: Namespace, terminal: Terminal) -> int:
    app = open_app(settings)
    app.reviews.discussion.resolve(acting(app, options), options.change, options.comment, done=not options.reopen)
    return _show(app, options, app.reviews.changes.show(acting(app, options), options.change), terminal)


def apply(settings: Settings, options: Namespace, terminal: Terminal) -> int:
    app = open_app(settings)
    return _show(
        app, options, app.reviews.discussion.apply(acting(app, options), options.change, options.comment), terminal
    )


def approve(settings: Settings, options: Namespace, terminal: Terminal) -> int:
    app = open_app(settings)
    return _show(
        app, options, app.reviews.discussion.approve(acting(app, options), options.change, options.message), terminal
    )


def request_changes(settings: Settings, options: Namespace, terminal: Terminal) -> int:
    app = open_app(settings)
    return _show(
        app,
        options,
        app.reviews.discussion.request_changes(acting(app, options), options.change, options.message),
        terminal,
    )


def take_back(settings: Settings, options: Namespace, terminal: Terminal) -> int:
    app = open_app(settings)
    return _show(app, options, app.reviews.discussion.take_back(acting(app, options), options.change), terminal)


def lift(settings: Settings, options: Namespace, terminal: Terminal) -> int:
    app = open_app(settings)
    lifted = app.reviews.discussion.lift(acting(app, options), options.change, options.message, options.reviewer)
    return _show(app, options, lifted, terminal)


def edit_comment(settings: Settings, options: Namespace, terminal: Terminal) -> int:
    app = open_app(settings)
    actor = acting(app, options)
    app.reviews.discussion.edit_comment(actor, options.change, options.comment, options.message)
    return _show(app, options, app.reviews.changes.show(actor, options.change), terminal)


def delete_comment(settings: Settings, options: Namespace, terminal: Terminal) -> int:
    app = open_app(settings)
    actor = acting(app, options)
    app.reviews.discussion.delete_comment(actor, options.change, options.comment)
    return _show(app, options, app.reviews.changes.show(actor, options.change), terminal)


def merge(settings: Settings, options: Namespace, terminal: Terminal) -> int:
    """Merge, and wait until the change can be found."""
    app = open_app(settings)
    change = app.reviews.merger.merge(acting(app, options), options.change, bypass=options.bypass)
    if not options.no_wait:
        _wait(app, acting(app, options), terminal)
    return _show(app, options, change, terminal)


def impact(settings: Settings, options: Namespace, terminal: Terminal) -> int:
    """Show the impact of a change; measure it first if that was not done on this text."""
    app = open_app(settings)
    measured = app.reviews.impacts.measure(acting(app, options), options.change, terminal.progress)
    lines = [measured.sentence, *measured.notes]
    lines += [f"{name}: {verdict.sentence}" for name, verdict in measured.verdicts.items()]
    if measured.rows:
        lines += ["", *table(measured.rows, ("question", "of", "before", "after", "outcome"))]
    terminal.show(impact_json(measured), lines)
    return 0


def _wait(app: App, actor: Actor, terminal: Terminal) -> None:
    """Wait until no index build is left to do."""
    job = app.platform.workspace.catch_up()
    while job and (job := app.platform.jobs.show(actor, job.id)).open:
        terminal.progress(job.done, job.total, job.message or "Indexing")
        time.sleep(_PAUSE)
        app.platform.jobs.tend()


def close(settings: Settings, options: Namespace, terminal: Terminal) -> int:
    app = open_app(settings)
    return _show(
        app, options, app.reviews.changes.close(acting(app, options), options.change, options.message), terminal
    )


def reopen(settings: Settings, options: Namespace, terminal: Terminal) -> int:
    app = open_app(settings)
    return _show(app, options, app.reviews.changes.reopen(acting(app, options), options.change), terminal)


def revert(settings: Settings, options: Namespace, terminal: Terminal) -> int:
    app = open_app(settings)
    return _show(app, options, app.reviews.merger.revert(acting(app, options), options.change), terminal)


def show(settings: Settings, options: Namespace, terminal: Terminal) -> int:
    app = open_app(settings)
    return _show(app, options, app.reviews.changes.show(acting(app, options), options.change), terminal)


def changes_list(settings: Settings, options: Namespace, terminal: Terminal) -> int:
    app = open_app(settings)
    actor = acting(app, options)
    listed = chosen(app, actor, options)
    news = app.reviews.looks.news(actor, listed)
    rows = [
        (change.id, change.state, change.author_name, len(change.documents), _news(news.get(change.id)), change.title)
        for change in listed
    ]
    terminal.show(list_json(listed, news), table(rows, ("id", "state", "author", "docs", "news", "title")))
    return 0


def chosen(app: App, actor: Actor, options: Namespace) -> tuple[Change, ...]:
    """Changes that were asked for, the one last touched first."""
    if options.asked:
        return app.reviews.changes.asked_of(actor)
    if options.waiting:
        return app.reviews.changes.waiting_for(actor)
    author = actor.id if options.mine else ""
    return app.reviews.changes.listed(actor, state=options.state, author=author, text=options.text)


def list_json(changes: Sequence[Change], news: Mapping[int, News]) -> list[dict[str, Any]]:
    """The contract of `change list --json`."""
    return [{**strict.plain(change), "news": strict.plain(news.get(change.id, News()))} for change in changes]


def _news(news: News | None) -> str:
    """What is new to the acting account, in a column."""
    if news is None or not (news.edits or news.comments or not news.seen):
        return ""
    return f"{news.edits} edits, {news.comments} comments" if news.seen else "not seen"


def solve(settings: Settings, options: Namespace, terminal: Terminal) -> int:
    """One --choice per conflict, in the order of `change conflicts`."""
    app = open_app(settings)
    actor, left = acting(app, options), list(options.choice)
    choices: dict[str, tuple[str, ...]] = {}
    collisions = app.reviews.merger.collisions(actor, options.change)
    for collision in collisions:
        wanted = 1 if left[:1] == ["delete"] else sum(part.conflict for part in collision.parts)
        choices[collision.path], left = tuple(left[:wanted]), left[wanted:]
    head, main = (app.knowledge.repository.resolve(seen) if seen else "" for seen in (options.head, options.main))
    if collisions:
        head, main = head or collisions[0].head, main or collisions[0].main
    return _show(app, options, app.reviews.merger.solve(actor, options.change, choices, head=head, main=main), terminal)
