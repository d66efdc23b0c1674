"""Freshness: documents due for review or without an owner, and the button that confirms one is still right."""

from datetime import date

import streamlit as st

from core.access import Actor, allowed
from core.curation.names import top_folder
from core.services.knowledge.freshness import Attention
from core.types import Document
from pages.ui import actions, flash, identity, style
from pages.ui.components import component
from pages.ui.workspace import app, overview

me = identity.require("read documents")
KINDS = {"overdue": "Overdue", "due soon": "Due soon", "no owner": "Without owner"}
TONES = {"overdue": "warn", "due soon": "note", "no owner": "bad"}


def rows(attention: Attention) -> list[dict[str, object]]:
    """Most urgent first."""
    overdue = [
        row(document, "overdue", f"{style.count(-state.days, 'day')} over") for document, state in attention.overdue
    ]
    due_soon = [
        row(document, "due soon", f"in {style.count(state.days, 'day')}") for document, state in attention.due_soon
    ]
    return [*overdue, *due_soon, *(row(document, "no owner", "") for document in attention.without_owner)]


def row(document: Document, kind: str, when: str) -> dict[str, object]:
    due = document.meta.review_due
    return {
        "doc": document.id,
        "path": document.path,
        "title": document.title,
        "about": f"{document.meta.owner or 'no owner'} · {document.path}",
        "kind": kind,
        "owner": document.meta.owner or "no owner",
        "folder": top_folder(document.path) or "top level",
        "badge": {"text": KINDS[kind], "tone": TONES[kind]},
        "when": " · ".join(part for part in (style.day(due) if due else "", when) if part),
        "dated": kind != "no owner",
    }


@st.dialog("Still right?")
def ask_to_confirm(path: str) -> None:
    identity.require("read documents")
    document = app().knowledge.documents.show(path)
    st.markdown(
        f"You read **{flash.plain(document.title)}**, and its words are still right. This is recorded under your name."
    )
    until = st.date_input(
        "Next review", app().knowledge.freshness.next_review(), format="YYYY-MM-DD", key="confirm_until"
    )
    with st.container(horizontal=True, horizontal_alignment="right"):
        if st.button("Cancel", key="confirm_no"):
            st.rerun()
        if st.button("Still right", type="primary", key="confirm_yes") and until:
            actions.do(lambda actor: confirm(actor, path, until))
            st.rerun()


def confirm(actor: Actor, path: str, until: date) -> str:
    app().knowledge.freshness.confirm(actor, path, until)
    return f"Confirmed. The next review is due on {style.day(until)}."


st.title("Freshness")
attention = overview().attention
clicked = component("freshness")(
    key="freshness",
    data={"rows": rows(attention), "kinds": KINDS, "may": allowed(me, "confirm a document"), "empty": "Every document is fresh and has an owner."},
    on_confirm_change=lambda: None,
)  # fmt: skip
if clicked.confirm:
    ask_to_confirm(str(clicked.confirm))
