"""Owner, type, tags, review date and status of many documents, as one change."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date

import streamlit as st

from core.access import Actor
from core.curation.document.statuses import STATUSES
from core.services.reviews.authoring import Target
from core.services.reviews.bulk_edit import BulkEdit, save_bulk
from core.services.reviews.changes import Change
from core.types import Document
from pages.ui import flash, keys, owner_field, style
from pages.ui.documents import save_target
from pages.ui.documents.frontmatter_form import options
from pages.ui.workspace import app


def draw(names: Sequence[str], me: Actor) -> None:
    """The form for the chosen documents."""
    chosen = [document for document in app().knowledge.documents.all() if document.id in set(names)]
    many = style.count(len(chosen), "document")
    with st.container(border=True, key="bulk_box"):
        st.header(f"Edit {many}", anchor=False)
        st.caption(
            "What you leave empty stays as it is. All of it becomes one change, which is reviewed like any other."
        )
        edit = _form(chosen)
        target = save_target.choose("bulk_into", f"Edit {many}", "", me)
        with st.container(horizontal=True):
            if st.button(save_target.label(target), type="primary", key="bulk_save", icon=":material/save:"):
                with st.spinner(f"Writing and checking {many}"):
                    save_target.finish_with(lambda actor: _save(actor, names, edit, target), lambda _: close())
            st.button("Cancel", key="bulk_cancel", on_click=close)


def close() -> None:
    """Choose other documents, or none."""
    st.session_state.pop(keys.BULK, None)


def _form(chosen: Sequence[Document]) -> BulkEdit:
    everything = app().knowledge.documents.all()
    owner_cell, type_cell, due_cell, status_cell = st.columns(4)
    owner = owner_field.choose(owner_cell, "bulk_owner", placeholder="As it is")
    types = options([*style.TYPES, *(document.meta.doc_type for document in everything)])
    doc_type = type_cell.selectbox(
        "Type", types, index=None, placeholder="As it is", format_func=style.type_name, key="bulk_type"
    )
    due = due_cell.date_input("Review due", None, format="YYYY-MM-DD", key="bulk_due")
    status = status_cell.selectbox(
        "Status",
        STATUSES,
        index=None,
        placeholder="As it is",
        format_func=lambda value: style.STATUSES[value],
        key="bulk_status",
    )
    add_cell, remove_cell = st.columns(2)
    known = options(tag for document in everything for tag in document.meta.tags)
    add = add_cell.multiselect("Add tags", known, accept_new_options=True, key="bulk_add")
    theirs = options(tag for document in chosen for tag in document.meta.tags)
    remove = remove_cell.multiselect("Remove tags", theirs, key="bulk_remove", disabled=not theirs)
    return BulkEdit(
        owner or None,
        status or "",
        due if isinstance(due, date) else None,
        tuple(" ".join(tag.split()) for tag in add),
        tuple(remove),
        doc_type or "",
    )


def _save(actor: Actor, names: Sequence[str], edit: BulkEdit, target: Target) -> Change:
    change, made = save_bulk(app().reviews.changes, app().knowledge.documents, actor, names, edit, target)
    if made.unchanged:
        flash.say(f"{style.count(len(made.unchanged), 'document')} had these values already.", "info")
    if made.refused:
        flash.say(f"{style.count(len(made.refused), 'document')} left out: see the description of the change.", "info")
    return change
