"""Documents: the library, and one document to read, follow and take apart."""

import streamlit as st

from core.errors import ConcordError
from core.types import Document
from pages.ui import document_header, flash, identity, keys
from pages.ui.components.library import library
from pages.ui.components.reader import reader
from pages.ui.document_sides import chunks_side, history_side, links_side
from pages.ui.workspace import app

me = identity.require("read documents")
SIDES = ("Read", "History", "Links", "Chunks")


def close() -> None:
    """Back to the library."""
    st.query_params.clear()


def number(name: str) -> int | None:
    """A number from the address, if it is one."""
    text = st.query_params.get(name, "")
    return int(text) if text.isdecimal() and len(text) < 9 else None


def read_side(document: Document) -> None:
    """The text, with the passage that led here."""
    start, end = number(keys.START), number(keys.END)
    mark = (start, end) if start is not None and end is not None and start < end else None
    clicked = reader(document, key="reader", mark=mark, anchor=st.query_params.get("anchor", ""))
    if clicked.open:
        st.query_params.from_dict({keys.DOC: clicked.open["doc"], "anchor": clicked.open["anchor"]})
        st.rerun()


def one_document(name: str) -> None:
    """A document and its sides."""
    st.button("All documents", on_click=close, icon=":material/arrow_back:", type="tertiary", key="back")
    try:
        document = app().documents.show(name)
    except ConcordError as error:
        st.error(flash.plain(str(error)), icon=":material/search_off:")
        return
    document_header.draw(document, app().finding.clock.today())
    side = st.segmented_control(
        "Show", SIDES, key=keys.TAB, default="Read", required=True, bind="query-params", label_visibility="collapsed"
    )
    draw = {"Read": read_side, "History": history_side, "Links": links_side, "Chunks": chunks_side}
    draw[side or "Read"](document)


def all_documents() -> None:
    """The library."""
    st.title("Documents")
    found = app().documents.all()
    for path, why in app().documents.unreadable():
        st.warning(f"{flash.plain(path)} cannot be read and is left out: {flash.plain(why)}", icon=":material/warning:")
    if not found:
        st.info(
            "There are no documents yet. Bring a folder in with: `python -m core import DIR`",
            icon=":material/library_add:",
        )
        return
    clicked = library(found, app().documents.touched(), app().finding.clock.today(), key="library")
    if clicked.open:
        st.query_params[keys.DOC] = clicked.open
        st.rerun()


if st.query_params.get(keys.DOC):
    one_document(st.query_params[keys.DOC])
else:
    all_documents()
