"""Commands about changes, accounts and the audit."""

from __future__ import annotations

import getpass
import sys
import time
from argparse import Namespace
from datetime import date, timedelta
from pathlib import Path
from typing import Any

from core import strict
from core.access import require
from core.bootstrap import App
from core.entrypoints.commands import acting, open_app
from core.entrypoints.terminal import Terminal, table
from core.errors import BadInput, NotFound
from core.services.auditing import as_csv
from core.services.changes import Change
from core.settings import Settings

_PAUSE = 0.1  # seconds between two looks at a job


def _files(options: Namespace) -> dict[str, bytes | None]:
    """Documents named by --file and --path, in pairs, and those to delete."""
    if len(options.file) != len(options.path):
        raise BadInput("Give one --path for each --file: where the document belongs in the knowledge base.")
    found: dict[str, bytes | None] = {}
    for file, path in zip(options.file, options.path, strict=True):
        try:
            found[path] = sys.stdin.buffer.read() if str(file) == "-" else Path(file).read_bytes()
        except OSError as error:
            raise NotFound(f"{file} cannot be read: {error.strerror}.") from None
    return found | dict.fromkeys(options.delete, None)


def _json(app: App, change: Change) -> dict[str, Any]:
    talk = [{**strict.plain(one), "suggestion": one.suggestion} for one in app.reviewing.comments(change.id)]
    return {**strict.plain(change), "comments": talk}


def _show(app: App, change: Change, terminal: Terminal) -> int:
    lines = [f"Change {change.id}: {change.title}", f"{change.state}, by {change.author_name}, {change.updated}"]
    lines += [f"  {edit.kind:8} {edit.path}" for edit in change.documents]
    lines += [f"  approved by {name}" for name in change.approvals]
    lines += [f"  - {sentence}" for sentence in change.requirements]
    mend = [one for one in change.findings if one.severity == "warning"] if change.open else []
    lines += [f"  mend {one.path}, line {one.line}: {one.message}" for one in mend]
    lines += [f"  merged as {change.merged[:12]}"] if change.merged else []
    terminal.show(_json(app, change), lines)
    return 0


def new(settings: Settings, options: Namespace, terminal: Terminal) -> int:
    """Start a change."""
    app = open_app(settings)
    change = app.changes.propose(acting(app, options), options.title, _files(options), options.message)
    return _show(app, change, terminal)


def edit(settings: Settings, options: Namespace, terminal: Terminal) -> int:
    """One more edit, or another title."""
    app = open_app(settings)
    actor, files = acting(app, options), _files(options)
    change = app.changes.get(options.change)
    if options.title:
        change = app.changes.describe(actor, change.id, options.title, options.message or change.description)
    if files or not options.title:
        change = app.changes.edit(actor, change.id, files, options.message)
    return _show(app, change, terminal)


def submit(settings: Settings, options: Namespace, terminal: Terminal) -> int:
    """Ask for review."""
    app = open_app(settings)
    return _show(app, app.changes.submit(acting(app, options), options.change), terminal)


def withdraw(settings: Settings, options: Namespace, terminal: Terminal) -> int:
    """Back to draft."""
    app = open_app(settings)
    return _show(app, app.changes.withdraw(acting(app, options), options.change), terminal)


def comment(settings: Settings, options: Namespace, terminal: Terminal) -> int:
    """Say something about a change."""
    app = open_app(settings)
    path = options.path[0] if options.path else ""
    made = app.reviewing.comment(
        acting(app, options),
        options.change,
        options.message,
        path=path,
        line=options.line,
        last=options.last,
        thread=options.reply,
        head=options.head,
    )
    value = {**strict.plain(made), "suggestion": made.suggestion, "change": options.change}
    terminal.show(value, [f"Comment {made.id} on change {options.change}."])
    return 0


def resolve(settings: Settings, options: Namespace, terminal: Terminal) -> int:
    """Close a conversation."""
    app = open_app(settings)
    app.reviewing.resolve(acting(app, options), options.change, options.comment, done=not options.reopen)
    return _show(app, app.changes.get(options.change), terminal)


def apply(settings: Settings, options: Namespace, terminal: Terminal) -> int:
    """Take a suggestion over."""
    app = open_app(settings)
    return _show(app, app.reviewing.apply(acting(app, options), options.change, options.comment), terminal)


def approve(settings: Settings, options: Namespace, terminal: Terminal) -> int:
    """Approve the present text."""
    app = open_app(settings)
    return _show(app, app.reviewing.approve(acting(app, options), options.change, options.message), terminal)


def request_changes(settings: Settings, options: Namespace, terminal: Terminal) -> int:
    """Say what must be better first."""
    app = open_app(settings)
    return _show(app, app.reviewing.request_changes(acting(app, options), options.change, options.message), terminal)


def merge(settings: Settings, options: Namespace, terminal: Terminal) -> int:
    """Make a change part of the knowledge base, and wait until it can be found."""
    app = open_app(settings)
    change = app.merging.merge(acting(app, options), options.change, bypass=options.bypass)
    if not options.no_wait:
        _wait(app, terminal)
    return _show(app, change, terminal)


def _wait(app: App, terminal: Terminal) -> None:
    """Until no build of the index is left to do."""
    job = app.catch_up()
    while job and (job := app.jobs.get(job.id)).open:
        terminal.progress(job.done, job.total, job.message or "Indexing")
        time.sleep(_PAUSE)
        app.jobs.sweep()


def close(settings: Settings, options: Namespace, terminal: Terminal) -> int:
    """Give a change up."""
    app = open_app(settings)
    return _show(app, app.changes.close(acting(app, options), options.change, options.message), terminal)


def reopen(settings: Settings, options: Namespace, terminal: Terminal) -> int:
    """Take a closed change up again."""
    app = open_app(settings)
    return _show(app, app.changes.reopen(acting(app, options), options.change), terminal)


def revert(settings: Settings, options: Namespace, terminal: Terminal) -> int:
    """Propose to undo a merged change."""
    app = open_app(settings)
    return _show(app, app.merging.revert(acting(app, options), options.change), terminal)


def show(settings: Settings, options: Namespace, terminal: Terminal) -> int:
    """One change."""
    app = open_app(settings)
    require(acting(app, options), "propose a change")
    return _show(app, app.changes.get(options.change), terminal)


def changes_list(settings: Settings, options: Namespace, terminal: Terminal) -> int:
    """Changes, the one last touched first."""
    app = open_app(settings)
    actor = acting(app, options)
    require(actor, "propose a change")
    found = (
        app.changes.waiting_for(actor)
        if options.waiting
        else app.changes.all(state=options.state, author=actor.id if options.mine else "", text=options.text)
    )
    rows = [(one.id, one.state, one.author_name, len(one.documents), one.title) for one in found]
    terminal.show([strict.plain(one) for one in found], table(rows, ("id", "state", "author", "docs", "title")))
    return 0


def conflicts(settings: Settings, options: Namespace, terminal: Terminal) -> int:
    """What must be decided before a change can be merged."""
    app = open_app(settings)
    require(acting(app, options), "propose a change")
    found = app.merging.collisions(options.change)
    lines = []
    for one in found:
        lines.append(f"{one.path}{' (not in ' + one.gone + ')' if one.gone else ''}")
        for n, part in enumerate([part for part in one.parts if part.conflict], 1):
            lines += [f"  {n}. mine:   {line}" for line in part.mine] + [f"     theirs: {line}" for line in part.theirs]
    if found:
        seen = f"--head {found[0].head[:12]} --main {found[0].main[:12]}"
        lines.append(f"Decide with: python -m core change solve {options.change} {seen} --choice ...")
    terminal.show([strict.plain(one) for one in found], lines or ["There is no conflict."])
    return 0


def solve(settings: Settings, options: Namespace, terminal: Terminal) -> int:
    """Decide about conflicts, one --choice per conflict in the order in which they are listed."""
    app = open_app(settings)
    actor, left = acting(app, options), list(options.choice)
    choices: dict[str, tuple[str, ...]] = {}
    found = app.merging.collisions(options.change)
    for one in found:
        wanted = 1 if left[:1] == ["delete"] else sum(part.conflict for part in one.parts)
        choices[one.path], left = tuple(left[:wanted]), left[wanted:]
    head, main = (app.store.resolve(seen) if seen else "" for seen in (options.head, options.main))
    if found:
        head, main = head or found[0].head, main or found[0].main
    return _show(app, app.merging.solve(actor, options.change, choices, head=head, main=main), terminal)


def confirm(settings: Settings, options: Namespace, terminal: Terminal) -> int:
    """Re-verify a document."""
    app = open_app(settings)
    document = app.documents.show(options.document)
    until = _date(options.until) if options.until else app.finding.clock.today() + timedelta(days=365)
    commit = app.merging.confirm(acting(app, options), document.path, until)
    terminal.show(
        {"document": document.id, "review_due": until.isoformat(), "commit": commit},
        [f"{document.title}: next review {until}."],
    )
    return 0


def _date(text: str) -> date:
    try:
        return date.fromisoformat(text)
    except ValueError:
        raise BadInput(f"--until is {text!r}; write the date as YYYY-MM-DD.") from None


# ---------------------------------------------------------------- people


def accounts_list(settings: Settings, options: Namespace, terminal: Terminal) -> int:
    """Everybody."""
    app = open_app(settings)
    require(acting(app, options), "manage accounts")
    found = app.accounts.all()
    rows = [(one.id, one.role, one.name, one.email, "" if one.active else "off") for one in found]
    terminal.show([strict.plain(one) for one in found], table(rows, ("id", "role", "name", "email", "")))
    return 0


def accounts_add(settings: Settings, options: Namespace, terminal: Terminal) -> int:
    """Let somebody new in."""
    app = open_app(settings)
    password = _password(options) if options.password else ""
    made = app.accounts.add(
        acting(app, options),
        options.account,
        options.name or options.account,
        options.email or f"{options.account}@localhost",
        options.role,
        password,
    )
    terminal.show(strict.plain(made), [f"{made.name} ({made.id}) is {made.role}."])
    return 0


def _password(options: Namespace) -> str:
    """From standard input, never from the command line, where others could see it."""
    return getpass.getpass("Password: ") if sys.stdin.isatty() else sys.stdin.readline().rstrip("\n")


def accounts_role(settings: Settings, options: Namespace, terminal: Terminal) -> int:
    """Give somebody another role."""
    app = open_app(settings)
    made = app.accounts.set_role(acting(app, options), options.account, options.role)
    terminal.show(strict.plain(made), [f"{made.name} ({made.id}) is {made.role}."])
    return 0


def accounts_password(settings: Settings, options: Namespace, terminal: Terminal) -> int:
    """Set a password."""
    app = open_app(settings)
    app.accounts.set_password(acting(app, options), options.account, _password(options))
    terminal.show({"account": options.account}, ["The password is set."])
    return 0


def accounts_active(settings: Settings, options: Namespace, terminal: Terminal) -> int:
    """Switch an account on or off."""
    app = open_app(settings)
    made = app.accounts.set_active(acting(app, options), options.account, options.subcommand == "on")
    terminal.show(strict.plain(made), [f"{made.name} ({made.id}) is {'on' if made.active else 'off'}."])
    return 0


def audit_list(settings: Settings, options: Namespace, terminal: Terminal) -> int:
    """Who did what."""
    app = open_app(settings)
    found = app.auditing.entries(
        acting(app, options),
        who=options.who,
        action=options.action,
        change=options.change,
        since=options.since,
        limit=options.limit,
    )
    if options.csv:
        sys.stdout.write(as_csv(found))
        return 0
    rows = [(one.at, one.name, one.door, one.action, one.what) for one in found]
    terminal.show([strict.plain(one) for one in found], table(rows, ("when", "who", "door", "action", "what")))
    return 0
