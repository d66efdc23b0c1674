"""Documents that say the same: side by side, and what to do about them."""

from __future__ import annotations

import streamlit as st

from core.curation.upload.items import UploadItem
from core.curation.upload.shingles import CHOICES, CLOSE, replaceable
from pages.ui import flash, style
from pages.ui.components.upload_view import kind, matching_passages
from pages.ui.upload import session
from pages.ui.workspace import app


def label(item: UploadItem) -> str:
    return f"Duplicates · {len(item.duplicates)}" if item.duplicates else "Duplicates"


def draw(item: UploadItem, n: int) -> None:
    """What was compared, what was found, and what to do about it."""
    st.caption(flash.plain(compared(item, len(app().knowledge.documents.all()))))
    if any(duplicate.kind != CLOSE for duplicate in item.duplicates):
        _choice(item, n)
    elif item.duplicates:
        st.info("These passages are about the same thing. Read whether they agree with yours.", icon=":material/info:")
    for number, duplicate in enumerate(item.duplicates):
        st.markdown(f"**{flash.plain(duplicate.title)}** · {flash.plain(kind(duplicate))}")
        if duplicate.pairs:
            matching_passages(duplicate, key=f"duplicates_{number}")
        else:
            st.caption(flash.plain(duplicate.path))
    if item.probed < item.passages:
        st.button(
            f"Compare the other {style.count(item.passages - item.probed, 'passage')}",
            icon=":material/join_inner:",
            type="tertiary",
            key="item_meaning",
            on_click=_compare_meaning,
            args=(n,),
        )


def compared(item: UploadItem, documents: int) -> str:
    """What was compared with what, and what came of it.

    >>> compared(UploadItem("a.md", "a.md", compared=True, probed=2, passages=9), 59)
    'Compared with 59 documents by wording, and 2 of its 9 passages by meaning. Nothing like it was found.'
    """
    if not item.compared:
        return "It was not compared with other documents, since it cannot be read yet."
    wording = f"Compared with {style.count(documents, 'document')} by wording"
    some = "all" if item.probed == item.passages else f"{item.probed} of its {item.passages}"
    meaning = f", and {some} passages by meaning." if item.passages else "; its meaning was not compared."
    return wording + meaning + ("" if item.duplicates else " Nothing like it was found.")


def _choice(item: UploadItem, n: int) -> None:
    known = replaceable(item.duplicates)
    options = [choice for choice in CHOICES if choice != "replace" or known]
    key = f"item_choice_{session.turn()}_{n}"
    with st.container(horizontal=True, vertical_alignment="bottom"):
        st.radio(
            "What should happen?",
            options,
            index=options.index(item.choice) if item.choice in options else None,
            format_func=CHOICES.__getitem__,
            horizontal=True,
            key=key,
            on_change=_choose,
            args=(n, key),
        )
        if item.choice == "replace" and len(known) > 1:
            target = f"item_target_{session.turn()}_{n}"
            st.selectbox(
                "Replace",
                known,
                known.index(item.target),
                key=target,
                on_change=_choose,
                args=(n, key, target),
                width=340,
            )


def _choose(n: int, key: str, target: str = "") -> None:
    choice = str(st.session_state[key] or "")
    replaced = str(st.session_state[target]) if target else ""
    session.change(lambda uploads, batch: uploads.choose(batch, n, choice, replaced))


def _compare_meaning(n: int) -> None:
    session.change(lambda uploads, batch: uploads.meaning(batch, n))
