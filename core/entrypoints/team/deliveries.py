"""Messages that leave: mail, webhooks, and the log of deliveries."""

from __future__ import annotations

from typing import Annotated

from core import strict
from core.entrypoints.record import Argument, CommandCall, Option, Shown, command, form
from core.entrypoints.terminal import table
from core.services.deliveries.board import CHANNELS
from core.services.deliveries.formats import FORMATS
from core.services.deliveries.outbox import STATES, Delivery
from core.services.deliveries.webhooks import NAMES, Webhook

# ---------------------------------------------------------------- mail


@form
class MessagesTestOptions:
    to: Annotated[str, Option("the account whose address gets it", metavar="ACCOUNT")] = ""


@form
class WebhookAddOptions:
    url: Annotated[str, Argument("URL", "where events are sent, by https")]
    name: Annotated[str, Option("what people call it (default: its host)")] = ""
    format: Annotated[
        str, Option("what the receiver understands: Concord's own JSON, Slack or Teams", choices=tuple(FORMATS))
    ] = "concord"
    event: Annotated[
        tuple[str, ...],
        Option(f"{', '.join(NAMES)} (default: all)"),
    ] = ()
    reads_as: Annotated[
        tuple[str, ...],
        Option("an account, role:NAME or group:NAME; repeat for more (default: everyone)", metavar="READER"),
    ] = ()


@form
class OneWebhook:
    webhook: Annotated[int, Argument("N", "the number of a webhook, as webhook list prints it")]


@form
class DeliveriesListOptions:
    state: Annotated[str, Option(", ".join(STATES))] = ""
    channel: Annotated[str, Option(", ".join(CHANNELS))] = ""
    limit: Annotated[int, Option("at most so many lines", metavar="N")] = 50


@command("messages send", "send what is due, and make the daily digests; for a timer", "deliveries.sender.send")
def messages_send(call: CommandCall) -> Shown:
    done = call.app.deliveries.sender.send(call.actor)
    words = (
        f"{done.sent} sent, {done.again} to be tried again, {done.failed} failed, {done.cancelled} not wanted any more."
    )
    return Shown(strict.plain(done), [words])


@command("messages test", "send a letter at once", "deliveries.board.test_mail", example="messages test --to admin")
def messages_test(call: CommandCall, form: MessagesTestOptions) -> Shown:
    return _show_attempt(call.app.deliveries.board.test_mail(call.actor, form.to))


# ---------------------------------------------------------------- webhooks


@command("webhook list", "all of them", "deliveries.webhooks.listed")
def webhook_list(call: CommandCall) -> Shown:
    hooks = call.app.deliveries.webhooks.listed(call.actor)
    rows = [
        (hook.id, _state(hook), hook.name, hook.format, hook.place, ", ".join(hook.events), ", ".join(hook.reads_as))
        for hook in hooks
    ]
    heads = ("n", "", "name", "format", "address", "events", "reads as")
    return Shown([strict.plain(hook) for hook in hooks], table(rows, heads))


def _state(hook: Webhook) -> str:
    if not hook.active:
        return "off"
    return "failing" if hook.failing else "on"


@command(
    "webhook add",
    "send events to an address; prints the secret, once",
    "deliveries.webhooks.add",
    example="webhook add https://hooks.example.org/concord --event change.merged",
)
def webhook_add(call: CommandCall, form: WebhookAddOptions) -> Shown:
    hook, secret = call.app.deliveries.webhooks.add(
        call.actor, form.url, form.name, form.format, tuple(form.event), reads_as=form.reads_as
    )
    lines = [f"{hook.name} is webhook {hook.id}. Its secret, which is not shown again:", secret]
    return Shown({**strict.plain(hook), "secret": secret}, lines)


@command("webhook remove", "it hears nothing more", "deliveries.webhooks.remove", example="webhook remove 1")
def webhook_remove(call: CommandCall, form: OneWebhook) -> Shown:
    hook = call.app.deliveries.webhooks.remove(call.actor, form.webhook)
    return Shown(strict.plain(hook), [f"{hook.name} hears nothing more."])


@command("webhook test", "send a test at once", "deliveries.webhooks.test", example="webhook test 1")
def webhook_test(call: CommandCall, form: OneWebhook) -> Shown:
    return _show_attempt(call.app.deliveries.webhooks.test(call.actor, form.webhook))


# ---------------------------------------------------------------- the log


@command("deliveries list", "newest first", "deliveries.board.listed")
def deliveries_list(call: CommandCall, form: DeliveriesListOptions) -> Shown:
    deliveries = call.app.deliveries.board.listed(call.actor, state=form.state, channel=form.channel, limit=form.limit)
    rows = [
        (d.id, d.state, d.channel, d.target, d.kind, d.attempts, d.code or "", d.created, d.note) for d in deliveries
    ]
    heads = ("n", "state", "by", "to", "kind", "attempts", "code", "made", "note")
    return Shown([strict.plain(one) for one in deliveries], table(rows, heads))


def _show_attempt(one: Delivery) -> Shown:
    return Shown(strict.plain(one), [_sentence(one)], 0 if one.state == "sent" else 1)


def _sentence(one: Delivery) -> str:
    said = f" ({one.note})" if one.note else ""
    where = f"webhook {one.target}" if one.channel == "webhook" else f"{one.channel} to {one.target}"
    return f"Delivery {one.id}, {where}: {one.state}{said}."
