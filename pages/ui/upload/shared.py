"""What holds for all files: their folder, their owner, their type."""

from __future__ import annotations

import streamlit as st

from core.curation.document.writing import Value
from core.curation.upload.edits import fill_all
from core.curation.upload.uploads import Batch
from core.services.upload.uploads import Uploads
from pages.ui import keys, style
from pages.ui.documents import frontmatter_form
from pages.ui.upload import session
from pages.ui.workspace import app

TOP = "(top)"


def draw(batch: Batch) -> None:
    """The folder, and for several files also owner and type; a choice is made in every file at once."""
    several = len(batch.items) > 1
    cells = st.columns([2, 1, 1], vertical_alignment="bottom")
    cells[0].selectbox(
        "Folder for all files" if several else "Into folder",
        [TOP, *folders()],
        key=keys.UPLOAD_INTO,
        accept_new_options=True,
        on_change=_move,
        help="Choose a folder or type a new one. Folders inside a zip are kept below it. A path that you typed stays.",
    )
    if several:
        documents = app().knowledge.documents.all()
        owners = frontmatter_form.options(document.meta.owner for document in documents)
        _choice(cells[1], "Owner of all files", keys.UPLOAD_OWNER, owners)
        _choice(cells[2], "Type of all files", keys.UPLOAD_TYPE, list(style.TYPES))


def _choice(cell: st.delta_generator.DeltaGenerator, label: str, key: str, options: list[str]) -> None:
    cell.selectbox(
        label,
        options,
        index=None,
        key=key,
        format_func=style.type_name if key == keys.UPLOAD_TYPE else str,
        accept_new_options=key == keys.UPLOAD_OWNER,
        placeholder="As each file says",
        on_change=_fill,
    )


def folders() -> list[str]:
    """Every folder and parent folder of the knowledge base."""
    parents = [document.path.split("/")[:-1] for document in app().knowledge.documents.all()]
    return sorted({"/".join(names[:n]) for names in parents for n in range(1, len(names) + 1)})


def into() -> str:
    """The chosen folder; "" for the top level."""
    chosen = str(st.session_state.get(keys.UPLOAD_INTO) or TOP)
    return "" if chosen == TOP else chosen


def values() -> dict[str, Value]:
    """The fields that were chosen for all files."""
    chosen = {"owner": keys.UPLOAD_OWNER, "doc_type": keys.UPLOAD_TYPE}
    return {field: str(st.session_state[key]) for field, key in chosen.items() if st.session_state.get(key)}


def applied(uploads: Uploads, batch: Batch) -> Batch:
    """New files with what was chosen for all."""
    return uploads.look(fill_all(batch, values())) if values() else batch


def _move() -> None:
    session.change(lambda uploads, batch: uploads.move(batch, into()), moves=True)


def _fill() -> None:
    session.change(applied, moves=True)
