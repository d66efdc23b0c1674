"""Webhooks: where events go, what each wants to hear, and the secret that signs them."""

from __future__ import annotations

import base64
import json
import secrets
from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from core.access import READS, Actor, use_case
from core.curation.review import readers
from core.cures import WEBHOOKS
from core.errors import BadInput, NotFound, one_of
from core.ports import Poster
from core.services.deliveries.formats import EVENTS, FORMATS, TEST
from core.services.deliveries.outbox import Delivery, Outbox, OutboxItem
from core.services.deliveries.sender import Sender
from core.services.people.audit import Audit
from core.storage.state.records import WebhookRow

if TYPE_CHECKING:
    from core.storage.state.database import Database

MAX_WEBHOOKS = 50
NAMES = tuple(event.name for event in EVENTS)


@dataclass(frozen=True, slots=True)
class Webhook:
    """Where events go. The address itself is a secret with some receivers, so only its beginning and end are shown."""

    id: int
    name: str
    place: str
    events: tuple[str, ...]  # all if empty
    format: str
    active: bool
    failing: bool
    created: str
    reads_as: tuple[str, ...] = ()  # it hears what one of them may read; what everybody may, if there is none


class Webhooks:
    """Added, tried, switched off and removed by admins."""

    def __init__(self, database: Database, outbox: Outbox, poster: Poster, sender: Sender, audit: Audit) -> None:
        self.database, self.outbox, self.poster = database, outbox, poster
        self.sender, self.audit = sender, audit

    @use_case("manage webhooks", READS)
    def listed(self, actor: Actor) -> tuple[Webhook, ...]:
        """Oldest first."""
        return tuple(map(webhook, self.database.webhooks.all()))

    @use_case("manage webhooks")
    def add(
        self,
        actor: Actor,
        url: str,
        name: str = "",
        form: str = "concord",
        events: tuple[str, ...] = (),
        *,
        reads_as: tuple[str, ...] = (),
    ) -> tuple[Webhook, str]:
        """A new one, with the secret that signs what it gets; the secret is not shown again. It hears what everybody
        may read, or one of the readers in `reads_as`."""
        place, title = _shown(self.poster.check(url.strip())), " ".join(name.split())[:80]
        _check(form, events)
        names = self._readers(reads_as)
        secret = f"whsec_{base64.b64encode(secrets.token_bytes(32)).decode()}"
        with self.database.transaction() as state:
            if len(state.webhooks.all()) >= MAX_WEBHOOKS:
                raise BadInput(f"There are {MAX_WEBHOOKS} webhooks already. Remove one first.")
            number = state.webhooks.add(
                name=title or urlsplit(url).hostname,
                url=url.strip(),
                events=json.dumps(events),
                format=form,
                secret=secret,
                created=self.outbox.clock.stamp(),
                who=actor.id,
                reads_as="\n".join(names),
            )
            detail = f"{form} to {place}" + (f", reads as {', '.join(names)}" if names else "")
            self.audit.record(state, actor, "add a webhook", f"{title or place} ({number})", detail=detail)
        return self._get(number), secret

    @use_case("manage webhooks")
    def remove(self, actor: Actor, number: int) -> Webhook:
        """It hears nothing more; what waits for it is not sent."""
        gone = self._get(number)
        with self.database.transaction() as state:
            state.webhooks.drop(number)
            state.deliveries.cancel("webhook", str(number), "The webhook was removed.", self.outbox.clock.stamp())
            self.audit.record(state, actor, "remove a webhook", f"{gone.name} ({number})")
        return gone

    @use_case("manage webhooks")
    def switch(self, actor: Actor, number: int, on: bool) -> Webhook:
        """On or off; what happened while it was off is not sent later."""
        before = self._get(number)
        with self.database.transaction() as state:
            state.webhooks.set(number, active=int(on), failing=0)
            if not on:
                state.deliveries.cancel(
                    "webhook", str(number), "The webhook was switched off.", self.outbox.clock.stamp()
                )
            action = "switch a webhook on" if on else "switch a webhook off"
            self.audit.record(state, actor, action, f"{before.name} ({number})")
        return self._get(number)

    @use_case("manage webhooks")
    def test(self, actor: Actor, number: int) -> Delivery:
        """Send a test at once; what the receiver said."""
        hook = self._get(number)
        if not hook.active:
            raise BadInput(f"{hook.name} is switched off. Switch it on first.")
        content = {"title": hook.name, "text": "", "address": "/", "about": "webhook", "ref": str(number)}
        content |= {"actor": actor.id, "actor_name": actor.name, "at": self.outbox.clock.stamp()}
        key = f"test_{secrets.token_hex(12)}"
        with self.database.transaction() as state:
            self.outbox.put(state, OutboxItem(key, "webhook", str(number), TEST, content))
            self.audit.record(state, actor, "test a webhook", f"{hook.name} ({number})")
        return self.sender.deliver(key)

    def _readers(self, names: tuple[str, ...]) -> tuple[str, ...]:
        """Readers that there are; none where everyone is among them."""
        given = readers.listed(list(names), "Reads as")
        for name in given:
            known = name.startswith((readers.ROLE, readers.GROUP)) or name == readers.EVERYONE
            if not (known or self.database.accounts.get(name) or self.database.accounts.by_email(name)):
                raise NotFound(f"There is no account {name!r} to read as. Accounts are listed on Accounts.")
        return () if readers.EVERYONE in given else given

    def _get(self, number: int) -> Webhook:
        row = self.database.webhooks.get(number)
        if row is None:
            raise NotFound(f"There is no webhook {number}.", WEBHOOKS)
        return webhook(row)


def webhook(row: WebhookRow) -> Webhook:
    """A row without its secrets."""
    return Webhook(
        row.id,
        row.name,
        _shown(row.url),
        tuple(json.loads(row.events)),
        row.format,
        row.active,
        bool(row.failing),
        row.created,
        tuple(row.reads_as.splitlines()),
    )


def _check(form: str, events: tuple[str, ...]) -> None:
    one_of(form, FORMATS, "format")
    if unknown := sorted(set(events) - set(NAMES)):
        raise BadInput(f"There is no event {unknown[0]!r}. Events: {', '.join(NAMES)}.")


def _shown(url: str) -> str:
    """An address without what would let others write to it.

    >>> _shown("https://hooks.slack.com/services/T0/B0/abcdefgh"), _shown("https://example.org/in")
    ('https://hooks.slack.com/…efgh', 'https://example.org/in')
    """
    parts = urlsplit(url)
    rest = url.partition(parts.netloc)[2]
    return url if len(rest) <= 12 else f"{parts.scheme}://{parts.netloc}/…{rest[-4:]}"
