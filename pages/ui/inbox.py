"""Messages as lines that lead to their thing: on the Inbox, and the newest ones on Home."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from urllib.parse import parse_qsl, urlsplit

import streamlit as st

from core.access import Actor, allowed
from core.services.inbox.messages import Message
from pages.ui import identity, style
from pages.ui.components.listing import listing
from pages.ui.reviews import labels
from pages.ui.workspace import app

AT_HOME = 5
KINDS = {
    "asked": ("Review", "note"),
    "invited": ("Invitation", "note"),
    "taken over": ("Co-authors", "warn"),
    "answered": ("Answer", ""),
    "mentioned": ("Mention", "note"),
    "approved": ("Approved", "good"),
    "changes requested": ("Changes requested", "warn"),
    "merged": ("Merged", "good"),
    "due": ("Review date", "warn"),
    "not found": ("Not found", "warn"),
    "gap": ("Question", "note"),
    "feedback": ("Feedback", "warn"),
    "watched": ("Watched", ""),
    "not delivered": ("Not delivered", "warn"),
    "wrong passwords": ("Sign-in", "warn"),
}


def lines(messages: Sequence[Message], empty: str, key: str) -> None:
    """Draw messages; a click marks one as read and opens what it is about."""
    now = datetime.fromisoformat(app().inbox.messages.clock.stamp())
    clicked = listing([_line(message, now) for message in messages], empty, key)
    message = next((message for message in messages if message.id == clicked.open), None)
    if message:
        go(message)


def _line(message: Message, now: datetime) -> dict[str, object]:
    word, tone = KINDS[message.kind]
    return {
        "id": message.id,
        "title": message.sentence,
        "sub": message.text,
        "badges": [{"text": word, "tone": tone}],
        "right": labels.age(message.at, now),
        "unread": not message.read,
        "href": message.address,
    }


def go(message: Message) -> None:
    """Mark a message as read and open what it is about."""
    app().inbox.messages.read(identity.me(), [message.id])
    parts = urlsplit(message.address)
    st.switch_page(f"pages{parts.path}.py", query_params=dict(parse_qsl(parts.query)))


def waiting(me: Actor) -> None:
    """The newest unread messages, on Home; nothing where there is none.

    Home lists open questions with their buttons.
    """
    app().inbox.reminders.remind()
    listed = {gap.query for gap in app().knowledge.gaps.open(me)} if allowed(me, "see reported gaps") else set()
    new = app().inbox.messages.listed(me, unread=True)
    messages = [message for message in new if message.kind != "gap" or message.ref not in listed]
    if not messages:
        return
    with st.container(border=True, key="waiting"):
        st.header("Waiting for you")
        lines(messages[:AT_HOME], "", key="waiting_lines")
        more = len(messages) - AT_HOME
        label = f"{style.count(more, 'more message')} in the inbox" if more > 0 else "Open the inbox"
        st.page_link("pages/inbox.py", label=label, icon=":material/inbox:")


def opened(me: Actor, about: str, ref: str) -> None:
    """Somebody looks at a thing: what is about it is read, and the count in the menu says so."""
    if app().inbox.messages.opened(me, about, ref):
        st.rerun()
