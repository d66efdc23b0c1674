"""Owner, type, tags, review date, status and folder of many documents, as one change."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import date
from typing import Any
from urllib.parse import quote

import streamlit as st

from core import strict
from core.access import Actor
from core.curation.document.statuses import STATUSES
from core.errors import ConcordError
from core.services.knowledge.drafts import version
from core.services.reviews.authoring import Target
from core.services.reviews.bulk_edit import BulkEdit, destinations, save_bulk, shared_folder
from core.services.reviews.changes import Change
from core.types import Document
from pages.ui import flash, identity, keys, owner_field, style
from pages.ui.documents import save_target
from pages.ui.documents.frontmatter_form import TOP, folders, options
from pages.ui.workspace import app

LONGEST = 2_000  # characters of an address that names documents
FIELDS = (
    *("bulk_owner", owner_field.other("bulk_owner"), "bulk_type", "bulk_due", "bulk_status", "bulk_add", "bulk_remove"),
    *("bulk_folder", "bulk_keep", "bulk_into_target", "bulk_into_title", "bulk_into_why"),
)


def begin(names: Sequence[str], me: Actor) -> None:
    """Let the address name the chosen documents; where they are many, it names a draft that does."""
    short = sum(len(quote(name)) + len(keys.BULK) + 2 for name in names) <= LONGEST
    if not short and not app().knowledge.drafts.find(me, _place(names)):
        app().knowledge.drafts.keep(me, _place(names), _packed(names, {}), "")
    st.query_params[keys.BULK] = list(names) if short else f"={strict.digest(names)}"


def chosen(me: Actor) -> list[str]:
    """The ids of the documents that the address names."""
    names = st.query_params.get_all(keys.BULK)
    if not names or not names[0].startswith("="):
        return names
    draft = app().knowledge.drafts.find(me, f"bulk {names[0][1:]}")
    return list(json.loads(draft.text)["docs"]) if draft else []


def draw(names: Sequence[str], me: Actor) -> None:
    """The form for the chosen documents."""
    chosen = [document for document in app().knowledge.documents.all() if document.id in set(names)]
    many = style.count(len(chosen), "document")
    _restore(names, me)
    with st.container(border=True, key="bulk_box"):
        st.header(f"Edit {many}", anchor=False)
        st.caption(
            "What you leave empty stays as it is. All of it becomes one change, which is reviewed like any other."
        )
        edit = _folder(chosen, _form(chosen))
        target = save_target.choose("bulk_into", f"Edit {many}", "", me)
        with st.container(horizontal=True):
            if st.button(save_target.label(target), type="primary", key="bulk_save", icon=":material/save:"):
                with st.spinner(f"Writing and checking {many}"):
                    save_target.finish_with(lambda actor: _save(actor, names, edit, target), lambda _: close())
            st.button("Cancel", key="bulk_cancel", on_click=close)
        _keep(names, me)


def close() -> None:
    """Choose other documents, or none."""
    _forget(identity.me())
    st.query_params.pop(keys.BULK, None)


# ---------------------------------------------------------------- what was typed


def _place(names: Sequence[str]) -> str:
    return f"bulk {strict.digest(names)}"


def _packed(names: Sequence[str], fields: Mapping[str, Any]) -> str:
    return json.dumps({"docs": list(names), "fields": fields})


def _restore(names: Sequence[str], me: Actor) -> None:
    """Fill a form that was just opened with what was typed for these documents; what was typed for others goes on."""
    held, place, drawn = st.session_state.get(keys.BULK_SAVED, {}), _place(names), "bulk_due" in st.session_state
    if drawn and held.get("place") == place:
        return
    draft = app().knowledge.drafts.find(me, place)
    if drawn and not draft:
        _forget(me)
    st.session_state[keys.BULK_SAVED] = {"place": place, "version": version(draft)}
    for key, value in (json.loads(draft.text)["fields"] if draft else {}).items():
        st.session_state[key] = date.fromisoformat(value) if key == "bulk_due" else value


def _keep(names: Sequence[str], me: Actor) -> None:
    """Keep what was typed as a draft. One of another tab is not overwritten."""
    held = st.session_state[keys.BULK_SAVED]
    typed = {key: value for key in FIELDS if (value := st.session_state.get(key)) or value is False}
    fields = {key: str(value) if key == "bulk_due" else value for key, value in typed.items()}
    if not fields and not held["version"]:
        return
    try:
        held["version"] = app().knowledge.drafts.keep(me, held["place"], _packed(names, fields), held["version"])
    except ConcordError as error:
        st.info(flash.refused(error))


def _forget(me: Actor) -> None:
    if held := st.session_state.pop(keys.BULK_SAVED, None):
        app().knowledge.drafts.forget(me, held["place"], held["version"])


# ---------------------------------------------------------------- the form


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


def _folder(chosen: Sequence[Document], edit: BulkEdit) -> BulkEdit:
    """Where they move to, with what becomes of the first of them."""
    where, keep = st.columns(2, vertical_alignment="bottom")
    folder = where.selectbox(
        "Move to folder",
        [TOP, *folders()],
        index=None,
        placeholder="Where they are",
        accept_new_options=True,
        key="bulk_folder",
        help="Choose a folder or type a new one. Links to them, and their pictures, follow in the same change.",
    )
    if not folder:
        return edit
    paths = [document.path for document in chosen]
    shared = shared_folder(paths)
    several = len({path.rpartition("/")[0] for path in paths}) > 1
    below = f"Keep the folders below {shared}" if shared else "Keep their folders"
    kept = not several or keep.checkbox(flash.plain(below), bool(shared), key="bulk_keep")
    edit = replace(edit, folder="" if folder == TOP else folder, flat=not kept)
    _preview(chosen, edit)
    return edit


def _preview(chosen: Sequence[Document], edit: BulkEdit) -> None:
    try:
        moves = destinations(chosen, edit)
    except ConcordError as error:
        st.error(flash.refused(error), icon=":material/error:")
        return
    if not moves:
        st.caption("They are in this folder already.")
        return
    old, new = next(iter(moves.items()))
    more = f", and {style.count(len(moves) - 1, 'more document')} likewise" if len(moves) > 1 else ""
    st.caption(f"{flash.plain(old)} becomes {flash.plain(new)}{more}.")


def _save(actor: Actor, names: Sequence[str], edit: BulkEdit, target: Target) -> Change:
    change, made = save_bulk(app().reviews.changes, app().knowledge.documents, actor, names, edit, target)
    if made.unchanged:
        flash.say(f"{style.count(len(made.unchanged), 'document')} had these values already.", "info")
    if made.refused:
        flash.say(f"{style.count(len(made.refused), 'document')} left out: see the description of the change.", "info")
    return change
