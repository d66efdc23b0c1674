"""The last step: what goes on as one change, and what stays behind."""

from __future__ import annotations

import streamlit as st

from core.access import Actor
from core.curation.uploads import Batch, document_of
from pages.ui import acts, keys, style
from pages.ui.upload import desk
from pages.ui.workspace import app


def summary(batch: Batch) -> str:
    """The batch in one line.

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
    """Title, message and the button."""
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
            st.caption("Nothing can be found before it was reviewed and merged.", width="stretch")
            st.button(
                f"Submit {style.count(going, 'document')} as a change",
                type="primary",
                icon=":material/send:",
                key="upload_submit",
                disabled=not going,
                on_click=lambda: acts.do(submit),
            )


def made() -> None:
    """The way to the change that was just made, which still has to be submitted for review."""
    if number := st.session_state.get(keys.UPLOAD_MADE):
        st.page_link(
            "pages/reviews.py",
            label=f"Open change #{number} to look at it and submit it for review",
            icon=":material/rate_review:",
            query_params={keys.CHANGE: number},
        )


def suggestion(batch: Batch) -> str:
    """A title for those who type none."""
    titles = [document.title for item in batch.included if (document := document_of(item))]
    if len(titles) == 1:
        return f"Add {titles[0]}"
    return f"Add {style.count(len(titles), 'document')}"


def submit(actor: Actor) -> str:
    """Propose what is ready; the rest stays on the desk."""
    batch = desk.batch()
    typed = str(st.session_state.get(keys.UPLOAD_TITLE) or "").strip()
    made, left = app().upload.uploads.submit(
        actor, batch, typed or suggestion(batch), str(st.session_state.get(keys.UPLOAD_WHY) or "")
    )
    desk.keep(left)
    desk.turn_over()
    st.session_state[keys.UPLOAD_TITLE] = st.session_state[keys.UPLOAD_WHY] = ""
    st.session_state[keys.UPLOAD_MADE] = str(made.id)
    rest = f" {style.count(len(left.items), 'document')} stay here." if left.items else ""
    return f"Change {made.id} holds {style.count(len(batch.included), 'document')}.{rest}"
