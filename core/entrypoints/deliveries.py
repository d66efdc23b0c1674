"""Messages that leave on the command line: what people want by mail, webhooks, and the log of deliveries."""

from __future__ import annotations

from argparse import Namespace
from typing import Any

from core import strict
from core.entrypoints.session import acting, open_app
from core.entrypoints.terminal import Terminal, table
from core.services.deliveries.board import CHANNELS
from core.services.deliveries.choices import CHOICES, TOPICS, topic_title
from core.services.deliveries.formats import FORMATS
from core.services.deliveries.outbox import STATES, Delivery
from core.services.deliveries.webhooks import NAMES, Webhook
from core.settings import Settings


def register(add: Any) -> None:
    _register_messages(add.group_of("messages"))
    _register_webhooks(add.group_of("webhook"))
    deliveries = add.group_of("deliveries")
    listing = deliveries("list", deliveries_list, "newest first")
    listing.add_argument("--state", default="", help=", ".join(STATES))
    listing.add_argument("--channel", default="", help=", ".join(CHANNELS))
    listing.add_argument("--limit", type=int, default=50, metavar="N")
    for name, run, about in (
        ("show", deliveries_show, "one with its attempts"),
        ("redeliver", deliveries_redeliver, "send one once more, under the same id"),
    ):
        deliveries(name, run, about).add_argument("delivery", type=int, metavar="N")


def _register_messages(messages: Any) -> None:
    messages("show", messages_show, "what the acting account gets by mail")
    choose = messages("choose", messages_choose, "nothing, at once, or once a day")
    choose.add_argument("choice", choices=list(CHOICES))
    choose.add_argument("--topic", action="append", default=[], help=f"{', '.join(TOPICS)} (default: all)")
    messages("send", messages_send, "send what is due, and make the daily digests; for a timer")
    messages("test", messages_test, "send a letter at once").add_argument("--to", default="", metavar="ACCOUNT")


def _register_webhooks(webhook: Any) -> None:
    webhook("list", webhook_list, "all of them")
    new = webhook("add", webhook_add, "send events to an address; prints the secret, once")
    new.add_argument("url", metavar="URL")
    new.add_argument("--name", default="", help="what people call it (default: its host)")
    new.add_argument("--format", default="concord", choices=list(FORMATS))
    new.add_argument("--event", action="append", default=[], help=f"{', '.join(NAMES)} (default: all)")
    for name, run, about in (
        ("remove", webhook_remove, "it hears nothing more"),
        ("on", webhook_switch, "switch it on again"),
        ("off", webhook_switch, "switch it off"),
        ("test", webhook_test, "send a test at once"),
    ):
        webhook(name, run, about).add_argument("webhook", type=int, metavar="N")


# ---------------------------------------------------------------- mail


def messages_show(settings: Settings, options: Namespace, terminal: Terminal) -> int:
    app = open_app(settings)
    _show_choices(terminal, app.deliveries.choices.chosen(acting(app, options)))
    return 0


def messages_choose(settings: Settings, options: Namespace, terminal: Terminal) -> int:
    app = open_app(settings)
    chosen = app.deliveries.choices.choose(acting(app, options), options.choice, tuple(options.topic))
    _show_choices(terminal, chosen)
    return 0


def _show_choices(terminal: Terminal, chosen: dict[str, str]) -> None:
    rows = [(topic, choice, topic_title(topic)) for topic, choice in chosen.items()]
    terminal.show(chosen, table(rows, ("topic", "mail", "about")))


def messages_send(settings: Settings, options: Namespace, terminal: Terminal) -> int:
    app = open_app(settings)
    done = app.deliveries.sender.send(acting(app, options))
    words = (
        f"{done.sent} sent, {done.again} to be tried again, {done.failed} failed, {done.cancelled} not wanted any more."
    )
    terminal.show(strict.plain(done), [words])
    return 0


def messages_test(settings: Settings, options: Namespace, terminal: Terminal) -> int:
    app = open_app(settings)
    return _show_attempt(terminal, app.deliveries.board.test_mail(acting(app, options), options.to))


# ---------------------------------------------------------------- webhooks


def webhook_list(settings: Settings, options: Namespace, terminal: Terminal) -> int:
    app = open_app(settings)
    hooks = app.deliveries.webhooks.listed(acting(app, options))
    rows = [(hook.id, _state(hook), hook.name, hook.format, hook.place, ", ".join(hook.events)) for hook in hooks]
    terminal.show([strict.plain(hook) for hook in hooks], table(rows, ("n", "", "name", "format", "address", "events")))
    return 0


def _state(hook: Webhook) -> str:
    return "off" if not hook.active else "failing" if hook.failing else "on"


def webhook_add(settings: Settings, options: Namespace, terminal: Terminal) -> int:
    app = open_app(settings)
    hook, secret = app.deliveries.webhooks.add(
        acting(app, options), options.url, options.name, options.format, tuple(options.event)
    )
    lines = [f"{hook.name} is webhook {hook.id}. Its secret, which is not shown again:", secret]
    terminal.show({**strict.plain(hook), "secret": secret}, lines)
    return 0


def webhook_remove(settings: Settings, options: Namespace, terminal: Terminal) -> int:
    app = open_app(settings)
    hook = app.deliveries.webhooks.remove(acting(app, options), options.webhook)
    terminal.show(strict.plain(hook), [f"{hook.name} hears nothing more."])
    return 0


def webhook_switch(settings: Settings, options: Namespace, terminal: Terminal) -> int:
    app = open_app(settings)
    hook = app.deliveries.webhooks.switch(acting(app, options), options.webhook, options.subcommand == "on")
    terminal.show(strict.plain(hook), [f"{hook.name} is {_state(hook)}."])
    return 0


def webhook_test(settings: Settings, options: Namespace, terminal: Terminal) -> int:
    app = open_app(settings)
    return _show_attempt(terminal, app.deliveries.webhooks.test(acting(app, options), options.webhook))


# ---------------------------------------------------------------- the log


def deliveries_list(settings: Settings, options: Namespace, terminal: Terminal) -> int:
    app = open_app(settings)
    chosen = {"state": options.state, "channel": options.channel, "limit": options.limit}
    deliveries = app.deliveries.board.listed(acting(app, options), **chosen)
    rows = [
        (d.id, d.state, d.channel, d.target, d.kind, d.attempts, d.code or "", d.created, d.note) for d in deliveries
    ]
    heads = ("n", "state", "by", "to", "kind", "attempts", "code", "made", "note")
    terminal.show([strict.plain(one) for one in deliveries], table(rows, heads))
    return 0


def deliveries_show(settings: Settings, options: Namespace, terminal: Terminal) -> int:
    app = open_app(settings)
    one, attempts = app.deliveries.board.show(acting(app, options), options.delivery)
    rows = [(attempt.at, attempt.seconds, attempt.code or "", attempt.note) for attempt in attempts]
    lines = [_sentence(one), *table(rows, ("when", "seconds", "code", "note"))]
    terminal.show({**strict.plain(one), "tried": strict.plain(attempts)}, lines)
    return 0


def deliveries_redeliver(settings: Settings, options: Namespace, terminal: Terminal) -> int:
    app = open_app(settings)
    return _show_attempt(terminal, app.deliveries.board.redeliver(acting(app, options), options.delivery))


def _show_attempt(terminal: Terminal, one: Delivery) -> int:
    terminal.show(strict.plain(one), [_sentence(one)])
    return 0 if one.state == "sent" else 1


def _sentence(one: Delivery) -> str:
    said = f" ({one.note})" if one.note else ""
    where = f"webhook {one.target}" if one.channel == "webhook" else f"{one.channel} to {one.target}"
    return f"Delivery {one.id}, {where}: {one.state}{said}."
