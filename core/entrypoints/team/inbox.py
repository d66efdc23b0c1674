"""The inbox on the command line: what reached an account, what it watches, and feedback on documents."""

from __future__ import annotations

from typing import Annotated, Any

from core import strict
from core.entrypoints.record import ANY, Argument, CommandCall, Option, Shown, command, form
from core.entrypoints.terminal import table
from core.services.inbox.messages import KINDS, Message
from core.services.inbox.watches import KINDS as WATCHED
from core.services.knowledge.feedback import KINDS as FEEDBACK
from core.services.knowledge.feedback import ReadSpan

EndInput = Annotated[int, Option("the passage, as `search` prints it", metavar="N")]


@form
class InboxListOptions:
    unread: Annotated[bool, Option("only new ones")] = False
    kind: Annotated[
        str,
        Option(", ".join(KINDS)),
    ] = ""


@form
class InboxReadOptions:
    message: Annotated[tuple[int, ...], Argument("N", "which ones (default: all)", nargs=ANY)] = ()


@form
class WatchAddOptions:
    kind: Annotated[str, Argument(choices=WATCHED)]
    what: Annotated[str, Argument("WHAT", "a folder, a document by id or path, or the words of a question")]


@form
class WatchStopOptions:
    watch: Annotated[int, Argument("N")]


@form
class FeedbackListOptions:
    document: Annotated[str, Option("only on this one", metavar="ID_OR_PATH")] = ""


@form
class FeedbackGiveOptions:
    document: Annotated[str, Argument("ID_OR_PATH")]
    kind: Annotated[str, Argument(choices=tuple(FEEDBACK))]
    note: Annotated[str, Option("what is wrong, or the comment")] = ""
    start: EndInput = 0
    end: EndInput = 0
    version: EndInput = 0


@form
class FeedbackCloseOptions:
    feedback: Annotated[int, Argument("N")]
    answer: Annotated[str, Option("a few words to whoever gave it")] = ""


def as_json(message: Message) -> dict[str, Any]:
    """A message with its line and the page that it leads to."""
    return {**strict.plain(message), "sentence": message.sentence, "address": message.address}


@command("inbox list", "messages, newest first", "inbox.messages.listed")
def inbox_list(call: CommandCall, form: InboxListOptions) -> Shown:
    call.app.inbox.reminders.remind()
    messages = call.app.inbox.messages.listed(call.actor, unread=form.unread, kind=form.kind)
    rows = [(m.id, "" if m.read else "new", m.kind, m.sentence, m.at, m.address) for m in messages]
    heads = ("n", "", "kind", "what", "when", "address")
    return Shown([as_json(message) for message in messages], table(rows, heads))


@command("inbox read", "mark messages as read", "inbox.messages.read")
def inbox_read(call: CommandCall, form: InboxReadOptions) -> Shown:
    count = call.app.inbox.messages.read(call.actor, form.message)
    return Shown({"read": count}, [f"{count} marked as read."])


@command("watch list", "what is watched", "inbox.watches.listed")
def watch_list(call: CommandCall) -> Shown:
    watches = call.app.inbox.watches.listed(call.actor)
    rows = [(watch.id, watch.kind, watch.what, watch.created) for watch in watches]
    return Shown([strict.plain(watch) for watch in watches], table(rows, ("n", "kind", "what", "since")))


@command("watch add", "watch a folder, a document or a question", "inbox.watches.watch")
def watch_add(call: CommandCall, form: WatchAddOptions) -> Shown:
    app = call.app
    document = form.kind == "document"
    what = app.knowledge.documents.show(form.what).path if document else form.what
    watch = app.inbox.watches.watch(call.actor, form.kind, what)
    below = (document.path.startswith(f"{watch.what}/") for document in app.knowledge.documents.all())
    empty = form.kind == "folder" and not any(below)
    lines = [f"Watched as {watch.id}: {watch.what}", *(["There is no such folder yet."] if empty else [])]
    return Shown(strict.plain(watch), lines)


@command("watch stop", "watch no longer", "inbox.watches.stop")
def watch_stop(call: CommandCall, form: WatchStopOptions) -> Shown:
    call.app.inbox.watches.stop(call.actor, form.watch)
    return Shown({"stopped": form.watch}, [f"{form.watch} is watched no longer."])


@command("feedback list", "what nobody has answered yet", "knowledge.feedback.open")
def feedback_list(call: CommandCall, form: FeedbackListOptions) -> Shown:
    feedback = call.app.knowledge.feedback.open(call.actor, form.document)
    rows = [(said.id, said.kind, said.path, said.note, said.name, said.at) for said in feedback]
    heads = ("n", "kind", "document", "note", "who", "when")
    return Shown([strict.plain(said) for said in feedback], table(rows, heads))


@command("feedback give", "tell the owner of a document", "knowledge.feedback.give")
def feedback_give(call: CommandCall, form: FeedbackGiveOptions) -> Shown:
    said = call.app.knowledge.feedback.give(
        call.actor, form.document, form.kind, form.note, ReadSpan(form.start, form.end, form.version)
    )
    return Shown(strict.plain(said), [f"Kept as feedback {said.id}; the owner is told."])


@command("feedback close", "answer it; whoever gave it is told", "knowledge.feedback.close")
def feedback_close(call: CommandCall, form: FeedbackCloseOptions) -> Shown:
    said = call.app.knowledge.feedback.close(call.actor, form.feedback, form.answer)
    return Shown(strict.plain(said), [f"Feedback {said.id} is answered."])
