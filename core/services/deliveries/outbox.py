"""The outbox: what is to leave, written in the transaction of the message that caused it."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from core import strict
from core.access import Actor
from core.ports import Clock
from core.services.deliveries.choices import topic_of
from core.services.deliveries.formats import event_of
from core.services.inbox.messages import Message
from core.services.people.readership import PUBLIC, named_reader
from core.storage.state.records import DeliveryRow, WebhookRow, of_row

if TYPE_CHECKING:
    from core.storage.state.database import State

STATES = {
    "waiting": "Waiting",
    "held": "For the digest",
    "in digest": "In a digest",
    "sent": "Sent",
    "failed": "Failed",
    "cancelled": "Not sent",
}


@dataclass(frozen=True, slots=True)
class Delivery:
    """Something on its way to one receiver. `key` is the same at every attempt, so that a repeat is known as one."""

    id: int
    key: str
    channel: str  # mail or webhook
    target: str  # an account, or the number of a webhook
    kind: str
    message: int
    content: Mapping[str, Any]
    created: str
    since: float
    state: str
    attempts: int
    due: float
    code: int
    note: str
    ended: str


def delivery(row: DeliveryRow) -> Delivery:
    """A row as what it means."""
    return of_row(Delivery, row, content=json.loads(row.content))


@dataclass(frozen=True, slots=True)
class OutboxItem:
    """One delivery that is to leave."""

    key: str
    channel: str  # mail or webhook
    target: str  # an account, or the number of a webhook
    kind: str
    content: Mapping[str, Any]
    held: str = "waiting"  # or held, for the daily mail
    message: int = 0


class Outbox:
    """Writes what is to leave; nothing, where mail is not configured and no webhook is there."""

    def __init__(self, clock: Clock, mail: bool, now: Callable[[], float] = time.time) -> None:
        self.clock, self.with_mail, self.now = clock, mail, now

    def mail(self, state: State, message: Message) -> None:
        """A message to somebody who wants it by mail: at once, or held for the daily one."""
        topic = topic_of(message.kind)
        choice = state.mail_choices.of(message.account).get(topic, "none") if self.with_mail and topic else "none"
        if choice != "none":
            facts = [message.account, message.kind, message.id, message.count, message.at, message.actor, message.text]
            held = "waiting" if choice == "at once" else "held"
            key = f"msg_{strict.digest(facts, 24)}"
            item = OutboxItem(key, "mail", message.account, message.kind, as_content(message), held, message.id)
            self.put(state, item)

    def event(self, state: State, message: Message, may: Callable[[Actor], bool]) -> None:
        """The same for webhooks: once for each that reads as somebody who may read it, however many people were
        told.
        """
        name = event_of(message.kind, message.about)
        for row in state.webhooks.all() if name else ():
            wanted = json.loads(row.events)
            if row.active and (not wanted or name in wanted) and any(map(may, hook_readers(state, row))):
                facts = [row.id, name, message.ref, message.at, message.actor, message.text, message.title]
                key = f"evt_{strict.digest(facts, 24)}"
                self.put(state, OutboxItem(key, "webhook", str(row.id), name, as_content(message)))

    def put(self, state: State, item: OutboxItem) -> None:
        """One delivery; a key that is there already is not written again."""
        now, packed = self.now(), json.dumps(item.content, ensure_ascii=False)
        row: dict[str, Any] = {"key": item.key, "channel": item.channel, "target": item.target, "kind": item.kind}
        row |= {"message": item.message, "content": packed, "state": item.held}
        state.deliveries.add(**row, created=self.clock.stamp(), since=now, due=now)


def hook_readers(state: State, row: WebhookRow) -> list[Actor]:
    """As whom a webhook reads: it hears what one of them may read."""
    return [named_reader(state, name) for name in row.reads_as.splitlines()] or [PUBLIC]


def as_content(message: Message) -> dict[str, Any]:
    """What a letter or a webhook says about a message."""
    return {
        "kind": message.kind,
        "about": message.about,
        "ref": message.ref,
        "title": message.title,
        "text": message.text,
        "sentence": message.sentence,
        "address": message.address,
        "actor": message.actor,
        "actor_name": message.actor_name,
        "at": message.at,
        "names": message.names,
    }
