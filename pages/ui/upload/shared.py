"""What holds for all files: their folder, their owner, their type."""

from __future__ import annotations

import streamlit as st

from core.curation.document.frontmatter_edit import Value
from core.curation.upload.edits import fill, fill_all
from core.curation.upload.items import Batch, document_of
from core.services.upload.uploads import Uploads
from pages.ui import identity, keys, owner_field, style
from pages.ui.documents import frontmatter_form
from pages.ui.upload import session
from pages.ui.workspace import app

FEW = 5  # files that somebody brings as their own; more are a collection


def draw(batch: Batch) -> None:
    """The folder, and for several files also owner and type; a choice is made in every file at once."""
    several = len(batch.items) > 1
    cells = st.columns([2, 1, 1], vertical_alignment="bottom")
    cells[0].selectbox(
        "Folder for all files" if several else "Into folder",
        [frontmatter_form.TOP, *frontmatter_form.folders()],
        key=keys.UPLOAD_INTO,
        accept_new_options=True,
        on_change=_move,
        help="Choose a folder or type a new one. Folders inside a zip are kept below it. A path that you typed stays.",
    )
    if several:
        as_it_is = "As each file says"
        owner_field.choose(
            cells[1], keys.UPLOAD_OWNER, label="Owner of all files", placeholder=as_it_is, on_change=_fill
        )
        cells[2].selectbox(
            "Type of all files",
            list(style.TYPES),
            index=None,
            key=keys.UPLOAD_TYPE,
            format_func=style.type_name,
            placeholder=as_it_is,
            on_change=_fill,
        )


def into() -> str:
    """The chosen folder; "" for the top level."""
    chosen = str(st.session_state.get(keys.UPLOAD_INTO) or "")
    return "" if chosen == frontmatter_form.TOP else chosen


def values() -> dict[str, Value]:
    """The fields that were chosen for all files."""
    chosen = {"owner": owner_field.chosen(keys.UPLOAD_OWNER), "doc_type": st.session_state.get(keys.UPLOAD_TYPE)}
    return {field: str(value) for field, value in chosen.items() if value}


def brought(uploads: Uploads, batch: Batch) -> Batch:
    """New files with what was chosen for all.

    A few from Word or PDF, which name no owner, are their bringer's at first.
    """
    owners, mine = app().inbox.owners, batch
    if len(batch.items) <= FEW:
        me = owners.offered(identity.me(), ())[0]
        for n, item in enumerate(batch.items):
            document = document_of(item)
            if document and item.converted and not document.meta.owner and not item.undecided:
                mine = fill(mine, n, {"owner": me})
    return applied(uploads, mine) if mine is batch else uploads.look(fill_all(mine, values()))


def applied(uploads: Uploads, batch: Batch) -> Batch:
    """Files with what was chosen for all."""
    return uploads.look(fill_all(batch, values())) if values() else batch


def _move() -> None:
    session.change(lambda uploads, batch: uploads.move(batch, into()), moves=True)


def _fill() -> None:
    session.change(applied, moves=True)
