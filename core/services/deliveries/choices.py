"""What people want by mail: nothing, at once or once a day, by topic; and the links that end it without signing in."""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping
from typing import TYPE_CHECKING

from core.access import OWN_DATA, PERSON, SIGN_IN, Actor, use_case
from core.errors import BadInput, one_of
from core.services.people.tries import AccountKeys

if TYPE_CHECKING:
    from core.storage.state.database import Database

CHOICES: Mapping[str, str] = {"none": "No mail", "at once": "At once", "daily": "Daily digest"}
DAILY = "daily"  # as a topic: everything that comes in the daily mail
TOPICS: Mapping[str, tuple[str, tuple[str, ...]]] = {
    "reviews": ("Reviews", ("asked", "invited", "taken over", "approved", "changes requested", "merged")),
    "conversations": ("Answers and mentions", ("answered", "mentioned")),
    "documents": ("Your documents", ("due", "not found", "feedback")),
    "questions": ("Questions without an answer", ("gap",)),
    "watched": ("What you watch", ("watched",)),
    "account": ("Your account", ("wrong passwords",)),
}
_TOPIC_OF = {kind: topic for topic, (_, kinds) in TOPICS.items() for kind in kinds}


def topic_of(kind: str) -> str:
    """The topic of a kind of message; "" for kinds that never leave the app.

    >>> topic_of("merged"), topic_of("not delivered")
    ('reviews', '')
    """
    return _TOPIC_OF.get(kind, "")


def topic_title(topic: str) -> str:
    """What people call a topic.

    >>> topic_title("watched"), topic_title("daily")
    ('What you watch', 'Daily digest')
    """
    return TOPICS[topic][0] if topic in TOPICS else CHOICES[DAILY]


class MailChoices:
    """The choices of every account. Whoever has chosen nothing gets no mail."""

    def __init__(self, database: Database) -> None:
        self.database, self.keys = database, AccountKeys(database)

    @use_case("manage their own account", OWN_DATA)
    def chosen(self, actor: Actor) -> dict[str, str]:
        """Topic to choice, for every topic."""
        mine = self.database.mail_choices.of(actor.id)
        return {topic: mine.get(topic, "none") for topic in TOPICS}

    @use_case("manage their own account", OWN_DATA)
    def choose(self, actor: Actor, choice: str, topics: tuple[str, ...] = ()) -> dict[str, str]:
        """One choice for some topics, or for all where none is named."""
        one_of(choice, CHOICES, "choice")
        if unknown := sorted(set(topics) - set(TOPICS)):
            raise BadInput(f"There is no topic {unknown[0]!r}. Topics: {', '.join(TOPICS)}.")
        account = self.database.accounts.get(actor.id)
        if account is None or account.kind != PERSON:
            raise BadInput(
                f"{actor.name} is no person with an account here, so there is nobody to write to. Name one with --as."
            )
        self.database.mail_choices.set(actor.id, topics or tuple(TOPICS), choice)
        return self.chosen(actor)

    # ------------------------------------------------------------ links that need no sign-in

    def token(self, account: str, topic: str) -> str:
        """Signed with the account's own key: who has the mail may end it, and do nothing else with the link."""
        body = base64.urlsafe_b64encode(json.dumps([account, topic]).encode()).decode().rstrip("=")
        return f"{body}.{self.keys.sign(account, body)}"

    @use_case(SIGN_IN)
    def named(self, token: str) -> tuple[str, str]:
        """The account and the topic that a genuine token names."""
        body, _, signature = token.partition(".")
        account, topic = _read(body)
        if not self.keys.genuine(account, body, signature):
            raise BadInput("This link is not complete. Open it again from the mail, or choose on your Account page.")
        return account, topic

    @use_case(SIGN_IN)
    def unsubscribe(self, token: str) -> str:
        """End mail about the token's topic; once more changes nothing. What it was about."""
        account, topic = self.named(token)
        chosen = self.database.mail_choices.of(account)
        ended = [topic] if topic in TOPICS else [name for name, choice in chosen.items() if choice == DAILY]
        self.database.mail_choices.set(account, ended, "none")
        return topic_title(topic)


def _read(body: str) -> tuple[str, str]:
    """What a token says, before its signature is looked at."""
    try:
        account, topic = json.loads(base64.urlsafe_b64decode(body + "=" * (-len(body) % 4)))
    except (ValueError, TypeError, RecursionError):
        return "", ""
    return str(account), str(topic)
