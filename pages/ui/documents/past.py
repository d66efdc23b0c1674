"""A document as it was on an earlier day: what a pinned link or citation opens, and what has changed since."""

from __future__ import annotations

import streamlit as st

from core.access import Actor
from core.errors import ConcordError, NotFound
from core.services.platform.main_line import Moment
from core.types import Document
from pages.ui import address, flash, keys, pictures, style
from pages.ui.components.diff_view import diff_view
from pages.ui.components.reader import reader
from pages.ui.documents import header
from pages.ui.workspace import app


def draw(name: str, as_of: str, mark: tuple[int, int] | None, me: Actor) -> None:
    """The text of then, under a line that says how it stands to the text of now."""
    documents = app().knowledge.documents
    try:
        moment = documents.line.moment(as_of)
        document = documents.show_at(me, name, as_of)
    except ConcordError as error:
        st.error(flash.plain(flash.refusal(error)), icon=":material/search_off:")
        return
    now = _now(document)
    header.draw_past(document, moment)
    _since(document, now, moment)
    if now and now.blob != document.blob and st.toggle("Show what changed", key=keys.SINCE, bind="query-params"):
        diff_view(document, now, f"Version {document.version}", f"Version {now.version}, now", key="since_then")
        return
    span = mark if mark and mark[1] <= len(document.text) else None
    reader(document, key="past_reader", mark=span, address=pictures.at(moment.commit))


def _now(document: Document) -> Document | None:
    """The same document in the newest state, by id, or where its file is now another's."""
    try:
        return app().knowledge.documents.show(document.id)
    except NotFound:
        return None


def _unchanged(moment: Moment) -> str:
    if moment.day > app().search.page.clock.today():
        return "That day is still to come; this is the text of today."
    return "Nothing in it has changed since."


def _since(document: Document, now: Document | None, moment: Moment) -> None:
    when = f"As of {style.day(moment.day)}"
    if now is None:
        st.warning(f"{when}. This document has been removed or renamed since.", icon=":material/history:")
        return
    if now.blob == document.blob:
        st.info(f"{when}. {_unchanged(moment)}", icon=":material/history:")
    else:
        st.warning(
            f"{when}, version {document.version}. This has changed since: it is now version {now.version}.",
            icon=":material/history:",
        )
    st.button(
        "Open the version of now",
        on_click=lambda: address.show(**{keys.DOC: now.id}),
        icon=":material/arrow_forward:",
        key="open_now",
    )
