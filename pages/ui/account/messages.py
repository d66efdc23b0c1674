"""Messages: what somebody gets by mail, at once or in the daily digest."""

from __future__ import annotations

import streamlit as st

from core.access import Actor
from core.services.deliveries.choices import CHOICES, TOPICS
from pages.ui import actions, flash
from pages.ui.workspace import app

ALL = "all"
ABOUT = {
    "reviews": "You are asked for a review; your change is approved, needs work or is merged",
    "conversations": "Somebody answers or mentions you",
    "documents": "A review date comes near, a document is not found any more, a reader gives feedback",
    "questions": "Somebody found no answer, and it is yours to give",
    "watched": "A folder, a document or a question has changed",
    "account": "Somebody tried wrong passwords for your account",
}


def draw(me: Actor) -> None:
    """One choice for everything, and one for each topic."""
    settings = app().settings
    if not settings.smtp_url:
        st.info("Mail is not set up here: messages are in your Inbox alone. Ask an admin.", icon=":material/mail_off:")
        return
    st.markdown(
        f"What reaches your Inbox also comes by mail, if you like, to {flash.address(me.email)}. "
        f"The digest leaves at {settings.digest_hour}:00 ({settings.time_zone}) on days with something new."
    )
    chosen = app().deliveries.choices.chosen(me)
    same = set(chosen.values())
    _row(ALL, "Everything", "", same.pop() if len(same) == 1 else None)
    for topic, (title, _) in TOPICS.items():
        _row(topic, title, ABOUT[topic], chosen[topic])


def _row(topic: str, title: str, about: str, choice: str | None) -> None:
    key = f"mail_{topic}"
    st.session_state[key] = choice
    with st.container(border=True, horizontal=True, vertical_alignment="center", key=f"row_{key}"):
        with st.container(width="stretch", gap="xxsmall"):
            st.markdown(f"**{title}**")
            if about:
                st.caption(about)
        st.segmented_control(
            f"Mail: {title}",
            list(CHOICES),
            key=key,
            format_func=CHOICES.__getitem__,
            on_change=_choose,
            args=(topic,),
            label_visibility="collapsed",
        )


def _choose(topic: str) -> None:
    choice = str(st.session_state[f"mail_{topic}"] or "none")  # a second click takes a choice back
    topics = () if topic == ALL else (topic,)
    actions.do(lambda actor: _said(app().deliveries.choices.choose(actor, choice, topics), topic))


def _said(chosen: dict[str, str], topic: str) -> str:
    title = "Everything" if topic == ALL else TOPICS[topic][0]
    return f"{title}: {CHOICES[chosen[topic] if topic in chosen else next(iter(chosen.values()))].lower()}."
