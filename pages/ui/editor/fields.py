"""The form for the frontmatter: one widget per field, values as the document will hold them."""

from __future__ import annotations

from collections.abc import Iterable

import streamlit as st

from core.curation.frontmatter import STATUSES
from core.curation.writing import Value
from core.types import Document, Meta
from pages.ui import style
from pages.ui.workspace import app


def form(meta: Meta, title: str, key: str) -> dict[str, Value]:
    """Draw the fields; returns what stands in them."""
    known = app().knowledge.documents.all()
    called, kind, owner = st.columns([2, 1, 1])
    name = called.text_input("Title", title, key=f"{key}_title", max_chars=200)
    doc_type = kind.selectbox(
        "Type",
        options((*style.TYPES, *(one.meta.doc_type for one in known)), meta.doc_type),
        index=index_of((*style.TYPES, *(one.meta.doc_type for one in known)), meta.doc_type),
        format_func=style.type_name,
        key=f"{key}_type",
    )
    owners = sorted({one.meta.owner for one in known})
    who = owner.selectbox(
        "Owner",
        options(owners, meta.owner),
        index=index_of(owners, meta.owner),
        accept_new_options=True,
        placeholder="Who keeps it true",
        key=f"{key}_owner",
    )
    status, effective, due, tags = st.columns([1, 1, 1, 2])
    state = status.selectbox(
        "Status",
        STATUSES,
        index=STATUSES.index(meta.status),
        format_func=lambda value: style.STATUSES[value],
        key=f"{key}_status",
        help="Only approved documents are found by default.",
    )
    from_day = effective.date_input("Effective from", meta.effective_date, format="YYYY-MM-DD", key=f"{key}_effective")
    until = due.date_input("Review due", meta.review_due, format="YYYY-MM-DD", key=f"{key}_due")
    tagged = tags.multiselect(
        "Tags",
        options((tag for one in known for tag in one.meta.tags), *meta.tags),
        meta.tags,
        accept_new_options=True,
        key=f"{key}_tags",
    )
    with st.expander("Questions it answers, and what it supersedes", icon=":material/quiz:", type="compact"):
        questions = st.text_area(
            "Questions this document must answer, one per line",
            "\n".join(meta.answers),
            height=130,
            key=f"{key}_answers",
        )
        replaced = st.multiselect(
            "Supersedes",
            options((one.id for one in known), *meta.supersedes),
            meta.supersedes,
            format_func=lambda value: _named(known, value),
            accept_new_options=True,
            key=f"{key}_supersedes",
        )
    return {
        "title": _line(name) if _line(name) != title or meta.title else meta.title,
        "doc_type": _line(doc_type).lower(),
        "owner": _line(who),
        "status": state,
        "effective_date": from_day,
        "review_due": until,
        "tags": tuple(map(_line, tagged)),
        "supersedes": tuple(map(_line, replaced)),
        "answers": tuple(line for text in (questions or "").splitlines() if (line := _line(text))),
    }


def options(values: Iterable[str], *more: str) -> list[str]:
    """What can be chosen: every value once, by name."""
    return sorted({value for value in (*values, *more) if value}, key=str.casefold)


def index_of(values: Iterable[str], value: str) -> int | None:
    """Where a value stands among them; None when there is none."""
    found = options(values, value)
    return found.index(value) if value in found else None


def _line(text: str | None) -> str:
    return " ".join((text or "").split())


def _named(known: tuple[Document, ...], value: str) -> str:
    return next((f"{one.title} ({one.id})" for one in known if one.id == value), value)
