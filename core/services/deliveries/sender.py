"""The sender: takes what is due under a lease, tries it, writes down what became of it, and tries again later or gives
up.

A process that dies between sending and writing leaves a lease that runs out: the delivery is sent once more, under the
same id.
"""

from __future__ import annotations

import logging
import random
import secrets
import threading
import time
from collections.abc import Callable, Collection, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from email.message import EmailMessage
from itertools import chain
from typing import TYPE_CHECKING, Any

from core.access import SENDING_LOG, SYSTEM, UPKEEP, Actor, use_case
from core.errors import ConcordError, NotFound
from core.ports import Mailer, Poster
from core.services.deliveries import formats
from core.services.deliveries.choices import DAILY, MailChoices, topic_of
from core.services.deliveries.digests import Digests
from core.services.deliveries.letters import DIGEST, Letterhead, letter
from core.services.deliveries.outbox import Delivery, delivery, hook_readers
from core.services.inbox.messages import Subject
from core.services.people.readership import LISTS, actor_of
from core.storage.state.records import DeliveryRow, WebhookRow
from core.types import Receipt

if TYPE_CHECKING:
    from core.services.platform.base import Base
    from core.storage.state.database import State

_LOG = logging.getLogger(__name__)
BATCH = 50  # deliveries that a lane takes at a time
LEASE, MARGIN = 300.0, 60.0  # seconds that they are its own; it begins nothing in the last of them
LOOK = 1.0  # seconds between two looks at what became due while a lane is at work
KEEP = 90 * 86_400.0  # seconds that the log goes back
HIDDEN_SINCE = "It is about something that the receiver may not read any more."


@dataclass(frozen=True, slots=True)
class Pace:
    """How long the sender waits after a failure, doubled each time, and when it gives up; in seconds."""

    first: float = 10.0
    longest: float = 3600.0
    give_up: float = 2 * 86_400.0

    def wait(self, attempts: int, after: float, jitter: float) -> float:
        """Half to all of a doubling step, or longer where the other side asks for it.

        >>> Pace().wait(0, 0.0, 1.0), Pace().wait(3, 0.0, 0.5), Pace().wait(20, 0.0, 1.0), Pace().wait(0, 60.0, 0.0)
        (10.0, 60.0, 3600.0, 60.0)
        """
        step = min(self.longest, self.first * 2.0 ** min(attempts, 30))
        return max(step * (0.5 + 0.5 * jitter), min(after, self.longest))


@dataclass(frozen=True, slots=True)
class SendReport:
    """What one call of the sender did."""

    sent: int = 0
    again: int = 0  # will be tried again
    failed: int = 0
    cancelled: int = 0

    def with_one(self, state: str) -> SendReport:
        counts = {name: getattr(self, name) + (name == state) for name in self.__dataclass_fields__}
        return SendReport(**counts)


Send = Callable[[EmailMessage], Receipt]
Lane = tuple[str, str]  # mail, or webhook and its number


class Sender:
    """Works off the outbox; several may do so at once. `stopping` ends it after what is under way."""

    def __init__(
        self,
        base: Base,
        choices: MailChoices,
        digests: Digests,
        head: Letterhead,
        mailer: Mailer | None,
        poster: Poster,
    ) -> None:
        self.database, self.outbox, self.messages = base.database, base.outbox, base.messages
        self.choices = choices
        self.digests = digests
        self.head = head
        self.mailer = mailer
        self.poster = poster
        self.pace, self.jitter, self.stopping = Pace(), random.random, threading.Event()
        self._counting, self._report = threading.Lock(), SendReport()

    @use_case("send messages", SENDING_LOG)
    def send(self, actor: Actor) -> SendReport:
        """Everything that is due now, on somebody's order."""
        return self.run()

    @use_case(UPKEEP)
    def run(self) -> SendReport:
        """Everything that is due now, and what becomes due meanwhile: a lane that takes long holds up no other."""
        self._report = SendReport()
        lanes, ended = dict[Lane, threading.Thread](), threading.Event()
        while not self.stopping.is_set():
            ended.clear()
            self.digests.collect()
            lanes = {lane: thread for lane, thread in lanes.items() if thread.is_alive()}
            lanes |= self._begin(lanes, ended)
            if not lanes:
                break
            ended.wait(LOOK)
        for thread in lanes.values():
            thread.join()
        return self._report

    def deliver(self, key: str) -> Delivery:
        """Try one delivery now, if nobody else has it; how it stands afterwards."""
        worker, until = secrets.token_hex(8), self.outbox.now() + LEASE
        with self.database.transaction() as state:
            row = _known(state, key)
            free = row.state == "waiting" and row.leased <= self.outbox.now()
            if free:
                state.deliveries.lease(row.id, worker, until)
        if free:
            self._work([delivery(row)], worker, until)
        return delivery(_known(self.database, key))

    @use_case(UPKEEP)
    def sweep(self) -> int:
        """Drop what is over since long; how many that were."""
        return self.database.deliveries.forget(self.outbox.now() - KEEP)

    # ------------------------------------------------------------ taking

    def _begin(self, busy: Collection[Lane], ended: threading.Event) -> dict[Lane, threading.Thread]:
        """A thread for each lane that has something due and is not at work."""
        worker, until = secrets.token_hex(8), self.outbox.now() + LEASE

        def work(claimed: Sequence[Delivery]) -> None:
            try:
                self._work(claimed, worker, until)
            finally:
                ended.set()

        begun = {
            lane: threading.Thread(target=work, args=(claimed,), daemon=True)
            for lane, claimed in self._claim(worker, until, busy).items()
        }
        for thread in begun.values():
            thread.start()
        return begun

    def _claim(self, worker: str, until: float, busy: Collection[Lane] = ()) -> dict[Lane, list[Delivery]]:
        """Some of what is due in every lane: a long queue at one receiver does not push the others back."""
        now = self.outbox.now()
        free = [lane for lane in self.database.deliveries.lanes(now) if lane not in busy]
        if not free:
            return {}
        with self.database.transaction() as state:
            claimed = {lane: state.deliveries.due(now, BATCH, *lane) for lane in free}
            for row in chain.from_iterable(claimed.values()):
                state.deliveries.lease(row.id, worker, until)
        return {lane: list(map(delivery, rows)) for lane, rows in claimed.items() if rows}

    def _work(self, claimed: Sequence[Delivery], worker: str, until: float) -> None:
        """One lane, in its order. After a failure that concerns the receiver, the rest waits for the next attempt at
        it.
        """
        down: tuple[Receipt, float] | None = None
        try:
            with self._connected(claimed[0].channel) as send:
                for one in claimed:
                    if down or self.stopping.is_set() or self.outbox.now() > until - MARGIN:
                        self._put_back(one, worker, down)
                        continue
                    began = time.monotonic()
                    receipt = self._attempt(one, send)
                    due = self._record(one, worker, receipt, time.monotonic() - began)
                    down = (receipt, due) if not receipt.reachable else None
            if down:
                self.database.deliveries.postpone(*_lane(claimed[0]), down[1])
        except ConcordError as error:  # a full disk, for example: the leases run out, and all of it is tried again
            _LOG.error("Sending stopped: %s", error)
        except Exception:
            _LOG.exception("Sending stopped.")

    # ------------------------------------------------------------ trying

    def _connected(self, channel: str) -> AbstractContextManager[Send | None]:
        return self.mailer.connected() if channel == "mail" and self.mailer else nullcontext()

    def _attempt(self, one: Delivery, send: Send | None) -> Receipt:
        """One attempt. What cannot even be written counts as one, so that it ends, and the lane goes on."""
        try:
            return self._mail(one, send) if one.channel == "mail" else self._post(one)
        except ConcordError as error:
            return Receipt("again", 0, str(error))
        except Exception as error:
            _LOG.exception("Delivery %s could not be written.", one.id)
            return Receipt(
                "again", 0, f"it could not be written ({type(error).__name__}); the log of the app says more"
            )

    def _mail(self, one: Delivery, send: Send | None) -> Receipt:
        if send is None:
            return Receipt("again", 0, "mail is not configured", reachable=False)
        account = self.database.accounts.get(one.target)
        if not account or not account.active:
            return Receipt("cancelled", note="The account is switched off.")
        if not self._wanted(one):
            return Receipt("cancelled", note="It was not wanted any more.")
        if not self._may_be_told(one, actor_of(account)):
            return Receipt("cancelled", note=HIDDEN_SINCE)
        topic = DAILY if one.kind == DIGEST else topic_of(one.kind)
        token = self.choices.token(one.target, topic) if topic else ""
        try:
            mail = letter(self.head, account.name, account.email, one, token)
        except ValueError:
            return Receipt("refused", note="The address cannot be used.")
        return send(mail)

    def _wanted(self, one: Delivery) -> bool:
        """Whether the reader still chooses it."""
        chosen = self.database.mail_choices.of(one.target)
        if one.kind == DIGEST:
            return DAILY in chosen.values()
        topic = topic_of(one.kind)
        return not topic or chosen.get(topic, "none") != "none"

    def _may_be_told(self, one: Delivery, *people: Actor) -> bool:
        """Whether one of them may read what it is about, now that it leaves."""
        content = {"about": LISTS[0], **one.content}
        content |= {"text": str(content["parts"])} if content.get("parts") else {}
        return any(self.messages.readership.may_be_told(self.database, who, content) for who in people)

    def _post(self, one: Delivery) -> Receipt:
        row = self.database.webhooks.get(int(one.target))
        if row is None or not row.active:
            return Receipt("cancelled", note="The webhook is gone or switched off.")
        if not self._may_be_told(one, *hook_readers(self.database, row)):
            return Receipt("cancelled", note=HIDDEN_SINCE)
        payload = formats.body(row.format, one.kind, one.content, self.head.url)
        now = int(self.outbox.now())
        headers = {
            "Content-Type": "application/json",
            "User-Agent": "Concord",
            "webhook-id": one.key,
            "webhook-timestamp": str(now),
            "webhook-signature": formats.signature(row.secret, one.key, now, payload),
        }
        return self.poster.post(row.url, payload, headers)

    # ------------------------------------------------------------ writing down

    def _record(self, one: Delivery, worker: str, receipt: Receipt, seconds: float) -> float:
        """What became of an attempt; when the next one is due."""
        now, stamp = self.outbox.now(), self.outbox.clock.stamp()
        values = self._outcome(one, receipt, now, stamp)
        with self.database.transaction() as state:
            if receipt.state != "cancelled":
                facts = {"code": receipt.code, "note": receipt.note, "seconds": round(seconds, 3)}
                state.deliveries.add_attempt(delivery=one.id, at=stamp, **facts)
                values["attempts"] = one.attempts + 1
            elif (row := state.deliveries.get(one.id)) and row.state == "cancelled":
                values = {"state": "cancelled"}  # whoever ended it said why
            if state.deliveries.end_lease(one.id, worker, **values):
                self._follow(state, one, receipt, values["state"], now)
        self._count("again" if values["state"] == "waiting" else values["state"])
        return float(values.get("due", now))

    def _outcome(
        self, one: Delivery, receipt: Receipt, now: float, stamp: str, due: float | None = None
    ) -> dict[str, Any]:
        """The columns of a delivery after an attempt: it waits for the next one, or has ended."""
        said: dict[str, Any] = {"code": receipt.code, "note": receipt.note}
        if receipt.state == "refused":
            return {**said, "state": "failed", "ended": stamp}
        if receipt.state != "again":
            return {**said, "state": receipt.state, "ended": stamp}
        if now - one.since >= self.pace.give_up:
            tried = f"Given up after {_span(self.pace.give_up)}: {receipt.note}"
            return {**said, "state": "failed", "note": tried, "ended": stamp}
        if due is None:
            due = now + self.pace.wait(one.attempts, receipt.after, self.jitter())
        return {**said, "state": "waiting", "due": due}

    def _put_back(self, one: Delivery, worker: str, down: tuple[Receipt, float] | None) -> None:
        """Not tried: the receiver is down, or the lease ends."""
        now, stamp = self.outbox.now(), self.outbox.clock.stamp()
        values = self._outcome(one, down[0], now, stamp, down[1]) if down else {"due": one.due}
        with self.database.transaction() as state:
            if state.deliveries.end_lease(one.id, worker, **values) and values.get("state") == "failed" and down:
                self._follow(state, one, down[0], "failed", now)

    def _follow(self, state: State, one: Delivery, receipt: Receipt, now_is: str, now: float) -> None:
        """What an attempt means for its receiver: a webhook that fails for too long is switched off; admins learn of
        it.
        """
        if one.channel == "mail":
            if now_is == "failed":
                account = state.accounts.get(one.target)
                self._tell_admins(state, f"Mail to {account.name if account else one.target}", one.target, receipt.note)
            return
        row = state.webhooks.get(int(one.target))
        if row is None:
            return
        if receipt.state == "sent":
            state.webhooks.set(row.id, failing=0)
        elif receipt.state in ("again", "refused"):
            self._failed(state, row, now_is, now, receipt)

    def _failed(self, state: State, row: WebhookRow, now_is: str, now: float, receipt: Receipt) -> None:
        since = row.failing or now
        state.webhooks.set(row.id, failing=since)
        gone = receipt.state == "refused"
        if row.active and now_is == "failed" and (gone or now - since >= self.pace.give_up):
            state.webhooks.set(row.id, active=0)
            note = f"The webhook is switched off: {receipt.note}"
            state.deliveries.cancel("webhook", str(row.id), note, self.outbox.clock.stamp())
            self._tell_admins(
                state, f"The webhook {row.name}", f"webhook {row.id}", f"It is switched off: {receipt.note}"
            )

    def _tell_admins(self, state: State, title: str, ref: str, note: str) -> None:
        admins = [row.id for row in state.accounts.all() if row.role == "admin"]
        self.messages.tell(
            state, SYSTEM, admins, "not delivered", Subject("deliveries", ref, title), f"{note[:1].upper()}{note[1:]}"
        )

    def _count(self, state: str) -> None:
        with self._counting:
            self._report = self._report.with_one(state)


def _lane(one: Delivery) -> Lane:
    """Who is served in one go: the mail server, or one webhook."""
    return (one.channel, "" if one.channel == "mail" else one.target)


def _span(seconds: float) -> str:
    """A time in words.

    >>> _span(2 * 86_400.0), _span(30.0)
    ('2 days', '30 s')
    """
    return f"{seconds / 86_400:g} days" if seconds >= 86_400 else f"{seconds:g} s"


def _known(state: State, key: str) -> DeliveryRow:
    row = state.deliveries.by_key(key)
    if row is None:
        raise NotFound(f"There is no delivery {key!r}.")
    return row
