"""Messages to people: made in the transaction of their cause, one per thing until it is read, never to oneself."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, dataclass, replace
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any, Protocol
from urllib.parse import urlencode

from core.access import OWN_DATA, READS, Actor, use_case
from core.curation.text.render import plain
from core.errors import BadInput
from core.ports import Clock
from core.services.people.readership import Readership, actor_of
from core.storage.state.records import MessageRow, of_row
from core.types import Frozen

if TYPE_CHECKING:
    from core.storage.state.database import Database, State

KINDS = (
    "asked",
    "invited",
    "taken over",
    "answered",
    "mentioned",
    "approved",
    "changes requested",
    "merged",
    "due",
    "not found",
    "gap",
    "feedback",
    "watched",
    "not delivered",
    "wrong passwords",
)
SAID = ("answered", "mentioned", "gap", "feedback")  # what people wrote: none of it is lost under what came later
MAX_TEXT = 400
LIMIT = 500  # messages of one person; the oldest go first
READ_FOR, UNREAD_FOR = timedelta(days=60), timedelta(days=365)  # how long they are kept
_PAGES = {
    "change": ("/reviews", "change"),
    "document": ("/documents", "doc"),
    "folder": ("/documents", "folder"),
    "question": ("/search", "q"),
    "deliveries": ("/deliveries", ""),
    "account": ("/account", ""),
}

# kind and what it is about: the line for one cause, and for several that nobody has read yet
SENTENCES: Mapping[tuple[str, str], tuple[str, str]] = {
    ("asked", ""): ("{who} asks you to review {title}", ""),
    ("invited", ""): ("{who} invites you to work on {title}", ""),
    ("taken over", ""): ("{who} invited others to work on your change {title}", ""),
    ("answered", ""): ("{who} commented on {title}", "{count} new comments on {title}"),
    ("answered", "document"): ("{who} answered you: {title}", "{count} answers for you: {title}"),
    ("answered", "question"): ("Your question has an answer: {title}", ""),
    ("mentioned", ""): ("{who} mentioned you: {title}", "You were mentioned {count} times: {title}"),
    ("approved", ""): ("{who} approved {title}", "{count} approvals of {title}"),
    ("changes requested", ""): ("{who} requested changes of {title}", ""),
    ("merged", ""): ("{title} is part of the knowledge base", ""),
    ("due", ""): ("{title} is due for review", ""),
    ("due", "freshness"): ("{title} are due for review", ""),
    ("not found", ""): ("{title} is not found for a question that it answers", ""),
    ("not found", "answers"): ("{title} are not found where they should be", ""),
    ("gap", ""): ("{who} found no answer: {title}", "{count} people found no answer: {title}"),
    ("feedback", ""): ("{who} gave feedback on {title}", "{count} pieces of feedback on {title}"),
    ("watched", ""): ("{title} has changed", "{title} has changed {count} times"),
    ("watched", "folder"): ("Changed: {title}", ""),
    ("watched", "question"): ("New answers to {title}", ""),
    ("not delivered", ""): ("{title}: not delivered", "{title}: {count} times not delivered"),
    ("wrong passwords", ""): ("Somebody tried to sign in as {title} with wrong passwords", ""),
}


@dataclass(frozen=True, slots=True)
class Subject:
    """What a message is about: a change by number, a document by path, a folder, a question by its words, or all of a
    day that are due or not found.
    """

    about: str  # change, document, folder, question, freshness, answers
    ref: str
    title: str
    place: Mapping[str, Any] = Frozen()  # where in it: query parameters of its page
    names: tuple[str, ...] = ()  # paths of what the text speaks of: its receiver must be able to read them


@dataclass(frozen=True, slots=True)
class Message:
    """What happened to something that somebody cares about. `count` causes of the same kind are one message."""

    id: int
    account: str
    kind: str
    about: str
    ref: str
    title: str
    place: Mapping[str, Any]
    text: str
    actor: str
    actor_name: str
    count: int
    at: str
    read: str  # when; "" while it is new
    names: tuple[str, ...] = ()  # paths that its receiver must be able to read

    @property
    def address(self) -> str:
        """The page that it leads to, at its place."""
        page, parameter = _PAGES.get(self.about, ("/freshness", ""))
        query = urlencode({**({parameter: self.ref} if parameter else {}), **self.place})
        return f"{page}?{query}" if query else page

    @property
    def sentence(self) -> str:
        """What happened, in one line.

        >>> asked = Message(
        ...     1, "bob", "asked", "change", "4", "New hours", Frozen(), "", "ann", "Ann", 1, "2026-11-15", ""
        ... )
        >>> asked.sentence
        'Ann asks you to review New hours'
        """
        one, many = SENTENCES.get((self.kind, self.about)) or SENTENCES[self.kind, ""]
        words = one if self.count == 1 else many or one
        return words.format(who=self.actor_name, title=self.title, count=self.count)


class Outgoing(Protocol):
    """What takes messages further: to one person by mail, and to webhooks once for all."""

    def mail(self, state: State, message: Message) -> None: ...
    def event(self, state: State, message: Message, may: Callable[[Actor], bool]) -> None: ...


class Messages:
    """The inbox of every account."""

    def __init__(self, database: Database, clock: Clock, outgoing: Outgoing, readership: Readership) -> None:
        self.database = database
        self.clock = clock
        self.outgoing = outgoing
        self.readership = readership

    # ------------------------------------------------------------ reading

    @use_case("read the inbox", READS)
    def listed(self, actor: Actor, *, unread: bool = False, kind: str = "", limit: int = 200) -> tuple[Message, ...]:
        """One's own, newest first."""
        if kind and kind not in KINDS:
            raise BadInput(f"There is no kind {kind!r} of message. Kinds: {', '.join(KINDS)}.")
        return tuple(map(_message, filter(self._shown(), self.database.messages.of(actor.id, unread, kind, limit))))

    def _shown(self) -> Callable[[MessageRow], bool]:
        """What a message is about may have been hidden since."""
        seen, may = self.readership.now(), self.readership.may_be_told
        return lambda row: seen is None or may(self.database, seen.actor, asdict(_message(row)))

    @use_case("read the inbox", READS)
    def unread(self, actor: Actor) -> int:
        """How many are new."""
        if self.readership.now() is not None:
            return len(self.listed(actor, unread=True, limit=LIMIT))
        return self.database.messages.unread(actor.id)

    @use_case("mark messages as read", OWN_DATA)
    def read(self, actor: Actor, numbers: Iterable[int] = ()) -> int:
        """Mark some as read, or all where none is named; how many were new."""
        return self.database.messages.read(actor.id, tuple(numbers), self.clock.stamp())

    @use_case("mark messages as read", OWN_DATA)
    def opened(self, actor: Actor, about: str, ref: str) -> int:
        """Mark what is about one thing as read, since somebody looks at it; how many were new."""
        mine = [row.id for row in self.database.messages.about(actor.id, about, ref) if not row.read]
        return self.read(actor, mine) if mine else 0

    # ------------------------------------------------------------ making

    def tell(
        self, state: State, actor: Actor, accounts: Iterable[str], kind: str, subject: Subject, text: str = ""
    ) -> None:
        """A message to each account but the actor's own that may read what it is about, inside the transaction of its
        cause.
        """
        people = {row.id: row for row in state.accounts.all() if row.active and row.id != actor.id}

        content = {**asdict(subject), "text": text}

        def may(who: Actor) -> bool:
            return self.readership.may_be_told(state, who, content)

        self.outgoing.event(state, self._new(actor, "", kind, subject, text), may)
        for account in sorted(set(accounts) & people.keys()):
            if may(actor_of(people[account])):
                self._tell_one(state, actor, account, kind, subject, text)

    def readable(self, state: State, account: str, path: str) -> bool:
        """Whether an account may read a document."""
        row = state.accounts.get(account)
        return row is not None and self.readership.may_read(actor_of(row), path)

    def _new(self, actor: Actor, account: str, kind: str, subject: Subject, text: str) -> Message:
        """What happened, before it is known whether it joins a message that waits."""
        words, title = " ".join(plain(text[: 10 * MAX_TEXT]).split())[:MAX_TEXT], subject.title[:200]
        place, stamp = Frozen(subject.place), self.clock.stamp()
        return Message(
            id=0,
            account=account,
            kind=kind,
            about=subject.about,
            ref=subject.ref,
            title=title,
            place=place,
            text=words,
            actor=actor.id,
            actor_name=actor.name,
            count=1,
            at=stamp,
            read="",
            names=subject.names,
        )

    def _tell_one(self, state: State, actor: Actor, account: str, kind: str, subject: Subject, text: str) -> None:
        new = self._new(actor, account, kind, subject, text)
        content = {name: getattr(new, name) for name in ("title", "text", "actor", "actor_name", "at")}
        content |= {"place": json.dumps(dict(new.place)), "names": json.dumps(new.names)}
        waiting = [
            row
            for row in state.messages.about(account, subject.about, subject.ref)
            if row.kind == kind and not row.read
        ]
        if waiting:
            if kind in SAID:
                content["text"] = " · ".join(filter(None, (content["text"], waiting[0].text)))[:MAX_TEXT]
                content["names"] = json.dumps(sorted({*new.names, *json.loads(waiting[0].names)}))
            state.messages.set(waiting[0].id, **content, count=waiting[0].count + 1)
            self.outgoing.mail(state, replace(new, id=waiting[0].id))
            return
        number = state.messages.add(account=account, kind=kind, about=subject.about, ref=subject.ref, **content)
        self.outgoing.mail(state, replace(new, id=number))
        self._forget_old(state, account)

    def _forget_old(self, state: State, account: str) -> None:
        now = datetime.fromisoformat(self.clock.stamp())
        state.messages.forget(account, (now - READ_FOR).isoformat(), (now - UNREAD_FOR).isoformat(), LIMIT)


def _message(row: MessageRow) -> Message:
    return of_row(Message, row, place=Frozen(json.loads(row.place)), names=tuple(json.loads(row.names)))
