"""Events as webhooks say them: signed JSON of our own, a message for Slack, a card for Teams."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

TEST = "test"


@dataclass(frozen=True, slots=True)
class Event:
    """Something that happened, by the message that people get about it."""

    name: str
    kind: str
    about: tuple[str, ...]
    sentence: str


EVENTS: tuple[Event, ...] = (
    Event("change.review_requested", "asked", ("change",), "{who} asks for a review of {title}"),
    Event("change.commented", "answered", ("change",), "{who} commented on {title}"),
    Event("change.approved", "approved", ("change",), "{who} approved {title}"),
    Event("change.changes_requested", "changes requested", ("change",), "{who} requested changes of {title}"),
    Event("change.merged", "merged", ("change",), "{title} is part of the knowledge base"),
    Event("document.review_due", "due", ("document", "freshness"), "Due for review: {title}"),
    Event("document.not_found", "not found", ("document", "answers"), "Not found where it should be: {title}"),
    Event("document.feedback", "feedback", ("document",), "{who} gave feedback on {title}"),
    Event("document.feedback_answered", "answered", ("document",), "{who} answered feedback on {title}"),
    Event("question.unanswered", "gap", ("question",), "{who} found no answer: {title}"),
    Event("question.answered", "answered", ("question",), "Answered: {title}"),
)
_SENTENCES = {event.name: event.sentence for event in EVENTS} | {TEST: "A test of {title}"}


def event_of(kind: str, about: str) -> str:
    """The event that a message tells of; "" for what is somebody's own, a mention or something they watch.

    >>> event_of("merged", "change"), event_of("watched", "document")
    ('change.merged', '')
    """
    return next((event.name for event in EVENTS if event.kind == kind and about in event.about), "")


def sentence(name: str, content: Mapping[str, Any]) -> str:
    """What happened, in one line that speaks to nobody in particular."""
    return _SENTENCES[name].format(who=content["actor_name"], title=content["title"])


def concord(name: str, content: Mapping[str, Any], url: str) -> dict[str, Any]:
    """Type, time and data, as the Standard Webhooks specification asks for."""
    data = {key: content[key] for key in ("about", "ref", "title", "text", "actor", "actor_name")}
    return {
        "type": name,
        "timestamp": content["at"],
        "data": {**data, "sentence": sentence(name, content), "url": url},
    }


def slack(name: str, content: Mapping[str, Any], url: str) -> dict[str, Any]:
    """A message for an incoming webhook of Slack; its own signs in the text mean nothing.

    >>> slack("change.merged", {"actor_name": "A", "title": "<!channel> & co", "text": ""}, "https://x/")["text"]
    '&lt;!channel&gt; &amp; co is part of the knowledge base'
    """
    line, text = _slack(sentence(name, content)), _slack(content["text"])
    link = f"<{url}|{line}>" if url else line
    blocks = [{"type": "section", "text": {"type": "mrkdwn", "text": f"*{link}*"}}]
    blocks += (
        [{"type": "section", "text": {"type": "plain_text", "text": content["text"], "emoji": False}}] if text else []
    )
    return {"text": line, "blocks": blocks, "unfurl_links": False}


def teams(name: str, content: Mapping[str, Any], url: str) -> dict[str, Any]:
    """An Adaptive Card in a message, as a workflow of Teams takes it ("When a Teams webhook request is received")."""
    line = _card(sentence(name, content))
    body = [{"type": "TextBlock", "text": line, "weight": "Bolder", "size": "Medium", "wrap": True}]
    body += (
        [{"type": "TextBlock", "text": _card(content["text"]), "wrap": True, "isSubtle": True}]
        if content["text"]
        else []
    )
    card: dict[str, Any] = {
        "$schema": "http://adaptivecards.io/schemas/adaptive-card.json",
        "type": "AdaptiveCard",
        "version": "1.4",
        "body": body,
        "msteams": {"width": "Full"},
    }
    if url:
        card["actions"] = [{"type": "Action.OpenUrl", "title": "Open in Concord", "url": url}]
    attachment = {"contentType": "application/vnd.microsoft.card.adaptive", "contentUrl": None, "content": card}
    return {"type": "message", "attachments": [attachment]}


FORMATS: Mapping[str, tuple[str, Callable[[str, Mapping[str, Any], str], dict[str, Any]]]] = {
    "concord": ("Concord (JSON)", concord),
    "slack": ("Slack", slack),
    "teams": ("Microsoft Teams", teams),
}


def body(form: str, name: str, content: Mapping[str, Any], base: str) -> bytes:
    """The bytes that are sent, the same at every attempt."""
    url = f"{base}{content['address']}" if base else ""
    return json.dumps(FORMATS[form][1](name, content, url), ensure_ascii=False, separators=(",", ":")).encode()


def signature(secret: str, key: str, timestamp: int, payload: bytes) -> str:
    """HMAC-SHA256 over id, time and body, as the Standard Webhooks specification says it.

    >>> signature(
    ...     "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw",
    ...     "msg_p5jXN8AQM9LWM0D4loKWxJek",
    ...     1614265330,
    ...     b'{"test": 2432232314}',
    ... )
    'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE='
    """
    raw = base64.b64decode(secret.removeprefix("whsec_"))
    signed = hmac.new(raw, f"{key}.{timestamp}.".encode() + payload, hashlib.sha256).digest()
    return f"v1,{base64.b64encode(signed).decode()}"


def _slack(text: str) -> str:
    """Slack's three signs as letters."""
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def _card(text: str) -> str:
    r"""Markdown of a card as letters: a title brings no link and no picture.

    >>> _card("[here](https://x)")
    '\\[here\\](https://x)'
    """
    return "".join(f"\\{letter}" if letter in "\\[]*_`" else letter for letter in text)
