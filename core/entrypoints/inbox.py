"""The inbox on the command line: what reached an account, what it watches, and feedback on documents."""

from __future__ import annotations

from argparse import Namespace
from typing import Any

from core import strict
from core.entrypoints.session import acting, open_app
from core.entrypoints.terminal import Terminal, table
from core.services.inbox.messages import KINDS, Message
from core.services.inbox.watches import KINDS as WATCHED
from core.services.knowledge.feedback import KINDS as FEEDBACK
from core.settings import Settings


def register(add: Any) -> None:
    inbox = add.group_of("inbox")
    listing = inbox("list", inbox_list, "messages, newest first")
    listing.add_argument("--unread", action="store_true", help="only new ones")
    listing.add_argument("--kind", default="", help=", ".join(KINDS))
    seen = inbox("read", inbox_read, "mark messages as read")
    seen.add_argument("message", type=int, nargs="*", metavar="N", help="which ones (default: all)")

    watch = add.group_of("watch")
    watch("list", watch_list, "what is watched")
    begin = watch("add", watch_add, "watch a folder, a document or a question")
    begin.add_argument("kind", choices=WATCHED)
    begin.add_argument("what", metavar="WHAT", help="a folder, a document by id or path, or the words of a question")
    watch("stop", watch_stop, "watch no longer").add_argument("watch", type=int, metavar="N")
    feedback = add.group_of("feedback")
    said = feedback("list", feedback_list, "what nobody has answered yet")
    said.add_argument("--document", default="", metavar="ID_OR_PATH", help="only on this one")
    give = feedback("give", feedback_give, "tell the owner of a document")
    give.add_argument("document", metavar="ID_OR_PATH")
    give.add_argument("kind", choices=list(FEEDBACK))
    give.add_argument("--note", default="", help="what is wrong, or the comment")
    for name in ("start", "end", "version"):
        give.add_argument(f"--{name}", type=int, default=0, metavar="N", help="the passage, as `search` prints it")
    close = feedback("close", feedback_close, "answer it; whoever gave it is told")
    close.add_argument("feedback", type=int, metavar="N")
    close.add_argument("--answer", default="", help="a few words to whoever gave it")


def as_json(message: Message) -> dict[str, Any]:
    """A message with its line and the page that it leads to."""
    return {**strict.plain(message), "sentence": message.sentence, "address": message.address}


def inbox_list(settings: Settings, options: Namespace, terminal: Terminal) -> int:
    app = open_app(settings)
    app.inbox.reminders.remind()
    messages = app.inbox.messages.listed(acting(app, options), unread=options.unread, kind=options.kind)
    rows = [(m.id, "" if m.read else "new", m.kind, m.sentence, m.at, m.address) for m in messages]
    heads = ("n", "", "kind", "what", "when", "address")
    terminal.show([as_json(message) for message in messages], table(rows, heads))
    return 0


def inbox_read(settings: Settings, options: Namespace, terminal: Terminal) -> int:
    app = open_app(settings)
    count = app.inbox.messages.read(acting(app, options), options.message)
    terminal.show({"read": count}, [f"{count} marked as read."])
    return 0


def watch_list(settings: Settings, options: Namespace, terminal: Terminal) -> int:
    app = open_app(settings)
    watches = app.inbox.watches.listed(acting(app, options))
    rows = [(watch.id, watch.kind, watch.what, watch.created) for watch in watches]
    terminal.show([strict.plain(watch) for watch in watches], table(rows, ("n", "kind", "what", "since")))
    return 0


def watch_add(settings: Settings, options: Namespace, terminal: Terminal) -> int:
    app = open_app(settings)
    document = options.kind == "document"
    what = app.knowledge.documents.show(options.what).path if document else options.what
    watch = app.inbox.watches.watch(acting(app, options), options.kind, what)
    terminal.show(strict.plain(watch), [f"Watched as {watch.id}: {watch.what}"])
    return 0


def watch_stop(settings: Settings, options: Namespace, terminal: Terminal) -> int:
    app = open_app(settings)
    app.inbox.watches.stop(acting(app, options), options.watch)
    terminal.show({"stopped": options.watch}, [f"{options.watch} is watched no longer."])
    return 0


def feedback_list(settings: Settings, options: Namespace, terminal: Terminal) -> int:
    app = open_app(settings)
    feedback = app.knowledge.feedback.open(acting(app, options), options.document)
    rows = [(said.id, said.kind, said.path, said.note, said.name, said.at) for said in feedback]
    heads = ("n", "kind", "document", "note", "who", "when")
    terminal.show([strict.plain(said) for said in feedback], table(rows, heads))
    return 0


def feedback_give(settings: Settings, options: Namespace, terminal: Terminal) -> int:
    app = open_app(settings)
    place = {"start": options.start, "stop": options.end, "version": options.version}
    said = app.knowledge.feedback.give(acting(app, options), options.document, options.kind, options.note, **place)
    terminal.show(strict.plain(said), [f"Kept as feedback {said.id}; the owner is told."])
    return 0


def feedback_close(settings: Settings, options: Namespace, terminal: Terminal) -> int:
    app = open_app(settings)
    said = app.knowledge.feedback.close(acting(app, options), options.feedback, options.answer)
    terminal.show(strict.plain(said), [f"Feedback {said.id} is answered."])
    return 0
