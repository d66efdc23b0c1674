"""Mail: how it is set up, and a letter to try it out."""

from __future__ import annotations

from urllib.parse import urlsplit

import streamlit as st

from core.access import Actor
from pages.ui import actions, flash
from pages.ui.deliveries.log import said
from pages.ui.workspace import app


def draw(me: Actor) -> None:
    """Where mail goes out, when the digest leaves, and a test."""
    settings = app().settings
    if not settings.smtp_url:
        st.info(
            "Mail is not set up, so none leaves. Whoever runs the app sets CONCORD_URL, CONCORD_SMTP_URL and CONCORD_SMTP_FROM.",
            icon=":material/mail_off:",
        )
        return
    parts = urlsplit(settings.smtp_url)
    st.markdown(
        f"Mail goes out through **{flash.plain(parts.hostname or '')}**, from {flash.plain(settings.smtp_from)}."
    )
    st.caption(
        f"The daily digest leaves at {settings.digest_hour}:00 ({settings.time_zone}). People choose what they get on their Account page."
    )
    st.button("Send me a test mail", key="test_mail", icon=":material/mail:", on_click=_test)


def _test() -> None:
    actions.do(lambda actor: said(app().deliveries.board.test_mail(actor)))
