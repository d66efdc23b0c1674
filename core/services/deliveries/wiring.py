"""The room of deliveries, wired."""

from __future__ import annotations

from dataclasses import dataclass

from core.adapters.web.smtp import SmtpMailer, parse_server
from core.adapters.web.webhook import WebhookPoster
from core.services.deliveries.board import DeliveryBoard
from core.services.deliveries.choices import MailChoices
from core.services.deliveries.digests import DigestContent, Digests
from core.services.deliveries.letters import Letterhead, LostPasswords
from core.services.deliveries.sender import Sender
from core.services.deliveries.webhooks import Webhooks
from core.services.knowledge.freshness import FreshnessBoard
from core.services.platform.base import Base
from core.services.platform.node import Loop
from core.services.reviews.changes import Changes
from core.settings import Settings

OUTBOX_PAUSE = 5.0  # seconds between two looks at the outbox


@dataclass(frozen=True, slots=True)
class Deliveries:
    """What leaves the app: mail and webhooks, as people and admins chose."""

    choices: MailChoices
    webhooks: Webhooks
    board: DeliveryBoard
    sender: Sender
    lost_passwords: LostPasswords


def wire(base: Base, changes: Changes, freshness: FreshnessBoard) -> Deliveries:
    database, settings, outbox = base.database, base.settings, base.outbox
    choices, poster = MailChoices(database), WebhookPoster(settings.webhooks_private)
    standing = DigestContent(database, changes, freshness).of
    digests = Digests(database, outbox, changes.accounts, standing, settings.digest_hour, settings.time_zone)
    head = letterhead(settings)
    sender = Sender(base, choices, digests, head, mailer(settings, head), poster)
    base.upkeep.daily.append(sender.sweep)
    base.upkeep.loops.append(Loop(sender.run, OUTBOX_PAUSE, "Messages were not sent.", ending=sender.stopping))
    webhooks = Webhooks(database, outbox, poster, sender, base.audit)
    lost = LostPasswords(database, changes.accounts, outbox)
    return Deliveries(choices, webhooks, DeliveryBoard(database, sender, base.audit), sender, lost)


def letterhead(settings: Settings) -> Letterhead:
    return Letterhead(settings.url.rstrip("/"), settings.smtp_from)


def mailer(settings: Settings, head: Letterhead) -> SmtpMailer | None:
    """The mail server that is configured, if one is."""
    if not settings.smtp_url:
        return None
    server = parse_server(settings.smtp_url, settings.smtp_password)
    return SmtpMailer(server, settings.smtp_from, head.host, settings.smtp_ca)
