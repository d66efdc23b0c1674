"""Documents: the library, and one document to read, follow and take apart."""

import streamlit as st

from core.access import allowed, require
from core.errors import ConcordError
from core.types import Document
from pages.ui import flash, identity, keys
from pages.ui.components.library import library
from pages.ui.components.reader import reader
from pages.ui.documents import header
from pages.ui.documents.sides import chunks_side, history_side, links_side
from pages.ui.editor import editor, tools
from pages.ui.workspace import app

me = identity.require("read documents")
SIDES = ("Read", "History", "Links", "Chunks")


def close() -> None:
    """Back to the library."""
    st.query_params.clear()


def write() -> None:
    """To the editor, with a new document."""
    st.query_params.from_dict({keys.DO: "new"})


def number(name: str) -> int | None:
    """A number from the address, if it is one."""
    text = st.query_params.get(name, "")
    return int(text) if text.isdecimal() and len(text) < 9 else None


def read_side(document: Document) -> None:
    """The text, with the passage that led here."""
    anchor, first = st.query_params.get("anchor", ""), number(keys.FROM)
    clicked = reader(document, key="reader", mark=passage(document), anchor=anchor, first=first)
    if clicked.open:
        st.query_params.from_dict({keys.DOC: clicked.open["doc"], "anchor": clicked.open["anchor"]})
        st.rerun()
    if clicked.more:
        st.query_params[keys.FROM] = str(clicked.more["from"])
        st.rerun()


def passage(document: Document) -> tuple[int, int] | None:
    """What a link marks, wherever it stands by now."""
    start, end, version = number(keys.START), number(keys.END), number(keys.VERSION)
    if start is None or end is None or start >= end:
        return None
    found = app().knowledge.documents.passage(document, start, end, version or document.version)
    if found is None:
        st.info("This passage was changed since. History shows how.", icon=":material/edit_note:")
    return found


def one_document(name: str) -> None:
    """A document and its sides."""
    st.button("All documents", on_click=close, icon=":material/arrow_back:", type="tertiary", key="back")
    try:
        document = app().knowledge.documents.show(name)
    except ConcordError as error:
        st.error(flash.plain(str(error)), icon=":material/search_off:")
        return
    header.draw(document, app().search.page.clock.today())
    tools.draw(document, me)
    side = st.segmented_control(
        "Show", SIDES, key=keys.TAB, default="Read", required=True, bind="query-params", label_visibility="collapsed"
    )
    draw = {"Read": read_side, "History": history_side, "Links": links_side, "Chunks": chunks_side}
    draw[side or "Read"](document)


def all_documents() -> None:
    """The library."""
    with st.container(horizontal=True, vertical_alignment="bottom"):
        st.title("Documents", width="stretch")
        if allowed(me, "propose a change"):
            st.button("New document", icon=":material/add:", key="new", on_click=write, type="primary")
    found = app().knowledge.documents.all()
    for path, why in app().knowledge.documents.unreadable():
        st.warning(f"{flash.plain(path)} cannot be read and is left out: {flash.plain(why)}", icon=":material/warning:")
    if not found:
        st.info(
            "There are no documents yet. Write one, or bring a folder in with: `python -m core import DIR`",
            icon=":material/library_add:",
        )
        return
    clicked = library(found, app().knowledge.documents.touched(), app().search.page.clock.today(), key="library")
    if clicked.open:
        st.query_params[keys.DOC] = clicked.open
        st.rerun()


def edit_document() -> None:
    """The editor: on a new document, on an approved one, or on one of a change."""
    st.button("Back", on_click=leave, icon=":material/arrow_back:", type="tertiary", key="back")
    try:
        require(me, "propose a change")
        if st.query_params[keys.DO] == "new":
            st.title("New document")
            start = editor.new(me)
        elif st.query_params.get(keys.CHANGE):
            change, path = number(keys.CHANGE) or 0, st.query_params.get(keys.PATH, "")
            st.title(f"Edit {flash.plain(path)}")
            start = editor.existing(me, path, change)
        else:
            document = app().knowledge.documents.show(st.query_params.get(keys.DOC, ""))
            st.title(f"Edit {flash.plain(document.title)}")
            start = editor.existing(me, document.path)
    except ConcordError as error:
        st.error(flash.plain(str(error)), icon=":material/error:")
        return
    editor.draw(start, me)


def leave() -> None:
    """Out of the editor; what was typed stays as a draft."""
    doc = st.query_params.get(keys.DOC)
    st.query_params.from_dict({keys.DOC: doc} if doc else {})


if st.query_params.get(keys.DO) in ("edit", "new"):
    edit_document()
elif st.query_params.get(keys.DOC):
    one_document(st.query_params[keys.DOC])
else:
    all_documents()
