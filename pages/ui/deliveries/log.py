"""The log: what left, what waits and why, every attempt, sending something once more; and how mail is set up."""

from __future__ import annotations

from datetime import datetime
from urllib.parse import urlsplit

import streamlit as st

from core.access import Actor
from core.services.deliveries.board import CHANNELS, headline
from core.services.deliveries.outbox import STATES, Delivery
from pages.ui import actions, flash, keys, style
from pages.ui.reviews import labels
from pages.ui.workspace import app

AT_A_TIME = 25
TONES = {
    "waiting": "orange",
    "held": "gray",
    "in digest": "gray",
    "sent": "green",
    "failed": "red",
    "cancelled": "gray",
}
ICONS = {"mail": ":material/mail:", "webhook": ":material/webhook:"}


def draw(me: Actor) -> None:
    """Filters, then one line for each, newest first."""
    counts = app().deliveries.board.counts(me)
    with st.container(horizontal=True, vertical_alignment="bottom", key="delivery_filters"):
        state = st.selectbox(
            "State",
            ["", *STATES],
            key=keys.DELIVERY_STATE,
            bind="query-params",
            format_func=lambda name: STATES.get(name, "Every state"),
            label_visibility="collapsed",
            width=200,
        )
        channel = st.selectbox(
            "By",
            ["", *CHANNELS],
            key=keys.DELIVERY_CHANNEL,
            bind="query-params",
            format_func=lambda name: {"mail": "Mail", "webhook": "Webhooks"}.get(name, "Mail and webhooks"),
            label_visibility="collapsed",
            width=200,
        )
    if counts:
        st.caption(" · ".join(f"{counts[name]:,} {STATES[name].lower()}" for name in STATES if name in counts))
    most = int(st.session_state.get(keys.DELIVERY_MOST, AT_A_TIME))
    found = app().deliveries.board.listed(me, state=state or "", channel=channel or "", limit=most + 1)
    names = _names(me)
    for one in found[:most]:
        _line(one, names.get((one.channel, one.target), one.target), me)
    if not found:
        st.info("Nothing has left yet." if not counts else "Nothing matches these filters.", icon=":material/outbox:")
    if len(found) > most:
        st.button("Show more", key="deliveries_more", on_click=_more)


def _more() -> None:
    st.session_state[keys.DELIVERY_MOST] = int(st.session_state.get(keys.DELIVERY_MOST, AT_A_TIME)) + AT_A_TIME


def _names(me: Actor) -> dict[tuple[str, str], str]:
    """Receivers as people call them."""
    people = {("mail", account.id): account.name for account in app().people.accounts.listed(me)}
    return people | {("webhook", str(hook.id)): hook.name for hook in app().deliveries.webhooks.listed(me)}


def _line(one: Delivery, receiver: str, me: Actor) -> None:
    now = datetime.fromisoformat(app().inbox.messages.clock.stamp())
    badge = f":{TONES[one.state]}-badge[{STATES[one.state]}]"
    words = flash.plain(style.shortened(headline(one), 90))
    label = f"{badge} **{flash.plain(receiver)}** · {words} · {labels.age(one.created, now)}"
    with st.expander(label, icon=ICONS[one.channel], key=f"delivery_{one.id}"):
        attempts = app().deliveries.board.show(me, one.id)[1]
        if one.note and one.note not in [attempt.note for attempt in attempts]:
            st.markdown(flash.plain(f"{one.note[:1].upper()}{one.note[1:]}"))
        if one.state == "waiting" and one.attempts:
            st.caption(f"The next attempt is at {_clock(one.due)}.")
        for attempt in attempts:
            heard = attempt.note if attempt.note != f"status {attempt.code}" else ""
            answer = " · ".join(filter(None, (str(attempt.code or ""), flash.plain(heard))))
            st.caption(f"{style.moment(attempt.at)} · {attempt.seconds:.1f} s · {answer}")
        st.caption(f"`{one.key}`")
        if one.state not in ("held", "in digest"):
            st.button("Send again", key=f"again_{one.id}", icon=":material/send:", on_click=_again, args=(one.id,))


def _clock(seconds: float) -> str:
    return style.moment(datetime.fromtimestamp(seconds).astimezone().isoformat(timespec="seconds"))


def _again(number: int) -> None:
    actions.do(lambda actor: said(app().deliveries.board.redeliver(actor, number)))


def said(one: Delivery) -> str:
    """What became of an attempt, in one sentence."""
    if one.state == "sent":
        return "Sent: it was taken."
    return f"Not sent ({one.note.rstrip('.')})." + (" It is tried again later." if one.state == "waiting" else "")


def draw_mail(me: Actor) -> None:
    """Where mail goes out, when the digest leaves, and a test."""
    settings = app().settings
    if not settings.smtp_url:
        st.info(
            "Mail is not set up, so none leaves. Whoever runs the app sets CONCORD_URL, CONCORD_SMTP_URL and"
            " CONCORD_SMTP_FROM.",
            icon=":material/mail_off:",
        )
        return
    parts = urlsplit(settings.smtp_url)
    st.markdown(
        f"Mail goes out through **{flash.plain(parts.hostname or '')}**, from {flash.plain(settings.smtp_from)}."
    )
    st.caption(
        f"The daily digest leaves at {settings.digest_hour}:00 ({settings.time_zone}). People choose what they get on"
        " their Account page."
    )
    st.button("Send me a test mail", key="test_mail", icon=":material/mail:", on_click=_test)


def _test() -> None:
    actions.do(lambda actor: said(app().deliveries.board.test_mail(actor)))
