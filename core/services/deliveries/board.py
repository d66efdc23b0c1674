"""The log of deliveries for admins: what left, what waits and why, and sending something once more."""

from __future__ import annotations

import secrets
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from core.access import READS, Actor, use_case
from core.cures import DELIVERIES
from core.errors import BadInput, NotFound, Refused, Unavailable
from core.services.deliveries import formats
from core.services.deliveries.letters import TEST
from core.services.deliveries.outbox import STATES, Delivery, OutboxItem, delivery
from core.services.deliveries.sender import Sender
from core.services.people.audit import Audit

if TYPE_CHECKING:
    from core.storage.state.database import Database

CHANNELS = ("mail", "webhook")
WORDS, UNREADABLE = ("title", "text", "sentence", "address", "ref"), "something that you may not read"


@dataclass(frozen=True, slots=True)
class Attempt:
    """One attempt: when, how long it took, and what the other side said."""

    at: str
    seconds: float
    code: int
    note: str


def headline(one: Delivery) -> str:
    """What a delivery says, in one line."""
    if one.channel == "webhook":
        return formats.sentence(one.kind, one.content)
    return str(one.content.get("subject") or one.content["sentence"])


class DeliveryBoard:
    """What the Deliveries page shows, and its buttons."""

    def __init__(self, database: Database, sender: Sender, audit: Audit) -> None:
        self.database, self.sender, self.audit = database, sender, audit

    @use_case("see deliveries", READS)
    def listed(self, actor: Actor, *, state: str = "", channel: str = "", limit: int = 200) -> tuple[Delivery, ...]:
        """Newest first."""
        if state and state not in STATES:
            raise BadInput(f"There is no state {state!r}. States: {', '.join(STATES)}.")
        if channel and channel not in CHANNELS:
            raise BadInput(f"There is no channel {channel!r}. Channels: {', '.join(CHANNELS)}.")
        rows = self.database.deliveries.newest(limit, state=state, channel=channel)
        return tuple(self._shown(delivery(row)) for row in rows)

    @use_case("see deliveries", READS)
    def counts(self, actor: Actor) -> dict[str, int]:
        """How many are in each state."""
        return self.database.deliveries.counts()

    @use_case("see deliveries", READS)
    def show(self, actor: Actor, number: int) -> tuple[Delivery, tuple[Attempt, ...]]:
        """One with its attempts, oldest first."""
        rows = self.database.deliveries.attempts(number)
        attempts = tuple(Attempt(row.at, row.seconds, row.code, row.note) for row in rows)
        return self._get(number), attempts

    @use_case("send messages")
    def redeliver(self, actor: Actor, number: int) -> Delivery:
        """Send it once more, under the same id; at once if it only waits."""
        one = self._get(number)
        if one.state in ("held", "in digest"):
            raise Refused("It goes out with the daily digest. Send that one again instead.")
        now = self.sender.outbox.now()
        with self.database.transaction() as state:
            state.deliveries.set(number, state="waiting", since=now, due=now, ended="")
            self.audit.record(state, actor, "redeliver", f"{one.kind} ({number})", detail=f"{one.channel} {one.target}")
        return self._shown(self.sender.deliver(one.key))

    @use_case("send messages")
    def test_mail(self, actor: Actor, account: str = "") -> Delivery:
        """A letter to oneself or another account, at once; what the mail server said."""
        if self.sender.mailer is None:
            raise Unavailable(
                "Mail is not configured. Whoever runs the app sets CONCORD_SMTP_URL, see docs/messages.md."
            )
        row = self.database.accounts.get(account or actor.id)
        if row is None:
            raise NotFound(f"There is no account {account or actor.id!r}. Name one with --to.")
        key, line = f"test_{secrets.token_hex(12)}", "Mail from Concord arrives"
        content = {"sentence": line, "text": "This is a test. Nothing has happened.", "address": "/"}
        with self.database.transaction() as state:
            self.sender.outbox.put(state, OutboxItem(key, "mail", row.id, TEST, content))
            self.audit.record(state, actor, "test mail", f"{row.name} ({row.id})")
        return self.sender.deliver(key)

    def _get(self, number: int) -> Delivery:
        row = self.database.deliveries.get(number)
        if row is None:
            raise NotFound(f"There is no delivery {number}.", DELIVERIES)
        return self._shown(delivery(row))

    def _shown(self, one: Delivery) -> Delivery:
        """Without its words, where whoever looks may not read what it is about; of others' digests the lines are their
        own.
        """
        seen = self.sender.messages.readership.now()
        if seen is None or (one.channel, one.target) == ("mail", seen.actor.id):
            return one
        if "parts" in one.content:
            return replace(one, content={**one.content, "parts": [], "names": []})
        hidden = not self.sender.messages.readership.may_be_told(self.database, seen.actor, one.content)
        unreadable = {**dict.fromkeys(WORDS, UNREADABLE), "names": []}
        return replace(one, content={**one.content, **unreadable}) if hidden else one
