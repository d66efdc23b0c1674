"""The last step: what is submitted as one change, and what stays."""

from __future__ import annotations

import streamlit as st

from core.access import Actor
from core.curation.uploads import Batch, document_of
from pages.ui import actions, keys, style
from pages.ui.upload import session
from pages.ui.workspace import app


def summary(batch: Batch) -> str:
    """The state of the batch in one line.

    >>> summary(Batch())
    '0 documents go on'
    """
    going = len(batch.included)
    parts = [f"{style.count(going, 'document')} {'goes' if going == 1 else 'go'} on"]
    refused = sum(item.state == "refused" and item.choice != "drop" for item in batch.items)
    waiting = sum(item.undecided and item.state != "refused" for item in batch.items)
    dropped = sum(item.choice == "drop" for item in batch.items)
    parts += [f"{waiting} {'waits' if waiting == 1 else 'wait'} for your choice"] if waiting else []
    parts += [f"{refused} refused"] if refused else []
    parts += [f"{dropped} dropped"] if dropped else []
    return " · ".join(parts)


def draw(batch: Batch) -> None:
    going = len(batch.included)
    with st.container(border=True, key="submit_box"):
        title, why = st.columns([2, 3], vertical_alignment="bottom")
        title.text_input(
            "Title of the change", key=keys.UPLOAD_TITLE, placeholder=suggestion(batch), persist_state="session"
        )
        why.text_input(
            "Why (for reviewers)",
            key=keys.UPLOAD_WHY,
            placeholder="What is new, and what it rests on",
            persist_state="session",
        )
        with st.container(horizontal=True, vertical_alignment="center"):
            st.caption("Nothing can be found before it is reviewed and merged.", width="stretch")
            st.button(
                f"Submit {style.count(going, 'document')} as a change",
                type="primary",
                icon=":material/send:",
                key="upload_submit",
                disabled=not going,
                on_click=lambda: actions.do(submit),
            )


def link_to_change() -> None:
    """A link to the change just created, which still has to be submitted for review."""
    if number := st.session_state.get(keys.UPLOAD_MADE):
        st.page_link(
            "pages/reviews.py",
            label=f"Open change #{number} to look at it and submit it for review",
            icon=":material/rate_review:",
            query_params={keys.CHANGE: number},
        )


def suggestion(batch: Batch) -> str:
    """The title of a change whose author types none."""
    titles = [document.title for item in batch.included if (document := document_of(item))]
    if len(titles) == 1:
        return f"Add {titles[0]}"
    return f"Add {style.count(len(titles), 'document')}"


def submit(actor: Actor) -> str:
    """Propose what is ready; the rest stays in the session."""
    batch = session.batch()
    title = str(st.session_state.get(keys.UPLOAD_TITLE) or "").strip()
    change, rest = app().upload.uploads.submit(
        actor, batch, title or suggestion(batch), str(st.session_state.get(keys.UPLOAD_WHY) or "")
    )
    session.save(rest)
    session.reset_widgets()
    st.session_state[keys.UPLOAD_TITLE] = st.session_state[keys.UPLOAD_WHY] = ""
    st.session_state[keys.UPLOAD_MADE] = str(change.id)
    staying = f" {style.count(len(rest.items), 'document')} stay here." if rest.items else ""
    return f"Change {change.id} holds {style.count(len(batch.included), 'document')}.{staying}"
