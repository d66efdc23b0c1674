"""The frontmatter as a form: one widget per field, values as the file will hold them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import streamlit as st

from core.curation.document.frontmatter_edit import Value
from core.curation.document.statuses import STATUSES
from core.types import NOTHING, Document, Meta
from pages.ui import flash, owner_field, style
from pages.ui.documents import answers_form
from pages.ui.workspace import app

TOP = "Top level"  # in a list of folders


@dataclass(frozen=True)
class FormOptions:
    """Without `status` it stays as it is. `remarks` are about fields; `typed` is the document as it is typed: its
    questions
    are tried against the search."""

    title_key: str = ""
    status: bool = True
    remarks: Mapping[str, str] = NOTHING
    typed: Document | None = None


def form(meta: Meta, title: str, key: str, shown: FormOptions) -> dict[str, Value]:
    """Draw the fields, each with the remark about it; returns their values."""
    with st.container(key="frontmatter"):
        documents = app().knowledge.documents.all()
        return {
            **_what_it_is(meta, title, key, shown, documents),
            **_how_it_stands(meta, key, shown, documents),
            **_what_it_answers(meta, key, shown, documents),
        }


def _what_it_is(
    meta: Meta, title: str, key: str, shown: FormOptions, documents: tuple[Document, ...]
) -> dict[str, Value]:
    title_cell, type_cell, owner_cell = st.columns([2, 1, 1])
    box = shown.title_key or f"{key}_title"
    name = title_cell.text_input("Title", "" if box in st.session_state else title, key=box, max_chars=200)
    types = (*style.TYPES, *(document.meta.doc_type for document in documents))
    doc_type = type_cell.selectbox(
        "Type",
        options(types, meta.doc_type),
        index=index_of(types, meta.doc_type),
        format_func=style.type_name,
        key=f"{key}_type",
    )
    owner = owner_field.choose(owner_cell, f"{key}_owner", meta.owner)
    for cell, field in ((title_cell, "title"), (type_cell, "doc_type"), (owner_cell, "owner")):
        _remark(cell, shown.remarks.get(field, ""))
    kept = _line(name) if _line(name) != title or meta.title else meta.title
    return {"title": kept, "doc_type": _line(doc_type).lower(), "owner": owner}


def _how_it_stands(meta: Meta, key: str, shown: FormOptions, documents: tuple[Document, ...]) -> dict[str, Value]:
    *status_cell, effective_cell, due_cell, tags_cell = st.columns([1, 1, 1, 2] if shown.status else [1, 1, 2])
    chosen = _status(status_cell[0], meta.status, key) if shown.status else meta.status
    effective = effective_cell.date_input(
        "Effective from", meta.effective_date, format="YYYY-MM-DD", key=f"{key}_effective"
    )
    due = due_cell.date_input("Review due", meta.review_due, format="YYYY-MM-DD", key=f"{key}_due")
    tags = tags_cell.multiselect(
        "Tags",
        options((tag for document in documents for tag in document.meta.tags), *meta.tags),
        meta.tags,
        accept_new_options=True,
        key=f"{key}_tags",
    )
    about = (effective_cell, "effective_date"), (due_cell, "review_due"), (tags_cell, "tags")
    for cell, field in (*((cell, "status") for cell in status_cell), *about):
        _remark(cell, shown.remarks.get(field, ""))
    return {"status": chosen, "effective_date": effective, "review_due": due, "tags": tuple(map(_line, tags))}


def _what_it_answers(meta: Meta, key: str, shown: FormOptions, documents: tuple[Document, ...]) -> dict[str, Value]:
    more = st.expander(
        "Questions it answers, and what it supersedes",
        icon=":material/quiz:",
        type="compact",
        key=f"{key}_questions",
        on_change="rerun",
    )
    with more:
        questions = answers_form.draw(meta.answers, key, shown.typed if more.open else None)
        _remark(st, shown.remarks.get("answers", ""))
        supersedes = st.multiselect(
            "Supersedes",
            options((document.id for document in documents), *meta.supersedes),
            meta.supersedes,
            format_func=lambda value: _title(documents, value),
            accept_new_options=True,
            key=f"{key}_supersedes",
        )
        _remark(st, shown.remarks.get("supersedes", ""))
    return {"supersedes": tuple(map(_line, supersedes)), "answers": questions}


def _status(cell: Any, status: str, key: str) -> str:
    return str(
        cell.selectbox(
            "Status",
            STATUSES,
            index=STATUSES.index(status),
            format_func=lambda value: style.STATUSES[value],
            key=f"{key}_status",
            help="Only approved documents are found by default.",
        )
    )


def _remark(cell: Any, sentence: str) -> None:
    if sentence:
        cell.caption(f":material/info: {flash.plain(sentence)}")


def options(values: Iterable[str], *more: str) -> list[str]:
    """Every value once, in alphabetical order."""
    return sorted({value for value in (*values, *more) if value}, key=str.casefold)


def folders() -> list[str]:
    """Every folder and parent folder of the knowledge base."""
    parents = [document.path.split("/")[:-1] for document in app().knowledge.documents.all()]
    return options("/".join(names[:n]) for names in parents for n in range(1, len(names) + 1))


def index_of(values: Iterable[str], value: str) -> int | None:
    """The position of a value among the options; None when it is empty."""
    known = options(values, value)
    return known.index(value) if value in known else None


def _line(text: str | None) -> str:
    return " ".join((text or "").split())


def _title(documents: tuple[Document, ...], doc_id: str) -> str:
    return next((f"{document.title} ({doc_id})" for document in documents if document.id == doc_id), doc_id)
