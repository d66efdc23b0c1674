"""The last step: what is submitted as one change, who is asked to review it, and what stays."""

from __future__ import annotations

import streamlit as st

from core.access import Actor
from core.curation.upload.items import Batch, document_of
from core.errors import ConcordError
from pages.ui import actions, flash, keys, style
from pages.ui.reviews import rules
from pages.ui.upload import session
from pages.ui.workspace import app


def summary(batch: Batch) -> str:
    """The state of the batch in one line.

    >>> summary(Batch())
    '0 documents ready'
    """
    ready = [item for item in batch.included if not item.unseen]
    parts = [f"{style.count(len(ready), 'document')} ready"]
    unseen = len(batch.included) - len(ready)
    refused = sum(item.state == "refused" and item.choice != "drop" for item in batch.items)
    waiting = sum(item.undecided and item.state != "refused" for item in batch.items)
    dropped = sum(item.choice == "drop" for item in batch.items)
    parts += [f"{unseen} to compare with the original"] if unseen else []
    parts += [f"{waiting} {'waits' if waiting == 1 else 'wait'} for your choice"] if waiting else []
    parts += [f"{refused} refused"] if refused else []
    parts += [f"{dropped} dropped"] if dropped else []
    return " · ".join(parts)


def heading(batch: Batch) -> None:
    """The state of the batch, and the way to begin again."""
    with st.container(horizontal=True, vertical_alignment="center"):
        st.header(summary(batch), width="stretch")
        if len(batch.items) > 1 and st.button("Remove all", icon=":material/delete_sweep:", key="upload_clear"):
            count = style.count(len(batch.items), "file")
            told = ["Nothing was submitted.", "What you filled in is lost."]
            actions.confirm(f"Remove {count} from this page?", told, "Remove all", clear)


def clear(actor: Actor) -> str:
    session.save(Batch())
    session.reset_widgets()
    return "The page is empty."


def draw(batch: Batch, me: Actor) -> None:
    """Title, reason and reviewers of the change, and the two ways to hand it on."""
    with st.container(border=True, key="submit_box"):
        title, why = st.columns([2, 3], vertical_alignment="bottom")
        title.text_input(
            "Title of the change", key=keys.UPLOAD_TITLE, placeholder=suggestion(batch), persist_state="session"
        )
        why.text_input(
            "Why (optional)",
            key=keys.UPLOAD_WHY,
            placeholder="What is new, and what it rests on",
            persist_state="session",
        )
        _reviewers(me)
        rules.say(item.path for item in batch.included)
        with st.container(horizontal=True, vertical_alignment="center"):
            st.caption(flash.plain(hint(batch)), width="stretch")
            _button("Keep as a draft", "upload_draft", batch, review=False)
            _button("Submit for review", "upload_submit", batch, review=True)


def _reviewers(me: Actor) -> None:
    """Whom to ask; the review rules ask theirs as well."""
    people = {account.id: account.name for account in app().reviews.changes.reviewers(me)}
    st.multiselect(
        "Ask to review",
        list(people),
        format_func=lambda person: people.get(person, person),
        key=keys.UPLOAD_ASK,
        placeholder="Anybody who may review it",
        help="They find it in their inbox. Whom the review rules name is asked as well.",
    )


def _button(label: str, key: str, batch: Batch, review: bool) -> None:
    st.button(
        label,
        type="primary" if review else "secondary",
        icon=":material/send:" if review else None,
        key=key,
        disabled=not batch.included,
        on_click=lambda: actions.do(lambda actor: submit(actor, review)),
    )


def hint(batch: Batch) -> str:
    """What stands in the way, or what happens next."""
    unseen = [document.title for item in batch.included if item.unseen and (document := document_of(item))]
    if unseen:
        return f"Compare with the original first: {', '.join(unseen[:5])}{' and more' * (len(unseen) > 5)}."
    return "Nothing can be found before it is reviewed and merged."


def open_change() -> None:
    """Go on to the change that was just made."""
    if number := st.session_state.pop(keys.UPLOAD_MADE, None):
        st.switch_page("pages/reviews.py", query_params={keys.CHANGE: number})


def suggestion(batch: Batch) -> str:
    """The title of a change whose author types none."""
    titles = [document.title for item in batch.included if (document := document_of(item))]
    if len(titles) == 1:
        return f"Add {titles[0]}"
    return f"Add {style.count(len(batch.included), 'document')}"


def submit(actor: Actor, review: bool) -> str:
    """Propose what is ready and submit it for review; the rest stays in the session."""
    batch = session.batch()
    title = str(st.session_state.get(keys.UPLOAD_TITLE) or "").strip()
    why, asked = str(st.session_state.get(keys.UPLOAD_WHY) or ""), list(st.session_state.get(keys.UPLOAD_ASK) or ())
    change, rest = app().upload.uploads.submit(actor, batch, title or suggestion(batch), why)
    session.change(lambda _, __: rest, moves=True)
    st.session_state[keys.UPLOAD_TITLE] = st.session_state[keys.UPLOAD_WHY] = ""
    st.session_state[keys.UPLOAD_ASK] = []
    st.session_state[keys.UPLOAD_MADE] = str(change.id)
    staying = f" {style.count(len(rest.items), 'file')} stay on the Upload page." if rest.items else ""
    return _reviewed(actor, change.id, asked, review) + staying


def _reviewed(actor: Actor, number: int, asked: list[str], review: bool) -> str:
    """Submit a change that was just made; where that is refused, it stays a draft and says why."""
    if not review:
        return f"Change #{number} is a draft. Submit it for review when you are done."
    try:
        app().reviews.changes.submit(actor, number, asked)
    except ConcordError as error:
        return f"Change #{number} is still a draft. {error}"
    return f"Change #{number} waits for review."
