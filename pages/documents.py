"""Documents: the library, and one document with its text, history, links and chunks."""

import streamlit as st

from core.access import allowed, require
from core.errors import ConcordError, NotFound
from core.types import Document
from pages.ui import actions, address, flash, identity, inbox, keys, watching
from pages.ui.components.library import library
from pages.ui.components.reader import reader
from pages.ui.documents import bulk, chunks, document_actions, draft, editor, header, history, links, owners
from pages.ui.workspace import app

me = identity.require("read documents")


def new_document() -> None:
    address.show(**{keys.DO: "new"})


def number(name: str) -> int | None:
    """A number from the URL, if it is one."""
    text = st.query_params.get(name, "")
    return int(text) if text.isdecimal() and len(text) < 9 else None


def read_tab(document: Document) -> None:
    """The text, with the passage that the URL points to marked."""
    anchor, first = st.query_params.get("anchor", ""), number(keys.FROM)
    clicked = reader(document, key="reader", mark=passage(document), anchor=anchor, first=first)
    if clicked.more:
        st.query_params[keys.FROM] = str(clicked.more["from"])
        st.rerun()
    links.linked_from(document)


def marked(document: Document) -> tuple[int, int] | None:
    """The passage that a link marks, followed from the version it was made for to this one."""
    start, end, version = number(keys.START), number(keys.END), number(keys.VERSION)
    if start is None or end is None or start >= end:
        return None
    return app().knowledge.documents.passage(document, start, end, version or document.version)


def passage(document: Document) -> tuple[int, int] | None:
    """The same for reading, which says where the passage is gone."""
    span = marked(document)
    if span is None and number(keys.START) is not None and number(keys.END) is not None:
        st.info("This passage has changed since. History shows how.", icon=":material/edit_note:")
    return span


def one_document(name: str) -> None:
    st.button("All documents", on_click=address.show, icon=":material/arrow_back:", type="tertiary", key="back")
    if as_of := st.query_params.get(keys.AS_OF, ""):
        start, end = number(keys.START), number(keys.END)
        history.draw_past(
            name, as_of, (start, end) if start is not None and end is not None and start < end else None, me
        )
        return
    try:
        document = app().knowledge.documents.show(name)
    except NotFound:
        document_actions.missing(name, me)
        return
    except ConcordError as error:
        st.error(flash.refused(error), icon=":material/search_off:")
        return
    inbox.opened(me, "document", document.path)
    header.draw(document, app().search.page.clock.today())
    draft.draw_waiting(me, document)
    document_actions.draw(document, me, marked(document))
    address.first_tab(keys.TAB, f"{document.id} {number(keys.START)}")
    tabs = {"Read": read_tab, "History": history.draw, "Links": links.draw}
    if identity.analyses(me):
        tabs["Chunks"] = chunks.draw
    chosen = st.segmented_control(
        "Show",
        list(tabs),
        key=keys.TAB,
        default="Read",
        required=True,
        bind="query-params",
        label_visibility="collapsed",
    )
    tabs[chosen or "Read"](document)


def all_documents() -> None:
    with st.container(horizontal=True, vertical_alignment="bottom"):
        st.title("Documents", width="stretch")
        if allowed(me, "propose a change"):
            st.button("New document", icon=":material/add:", key="new", on_click=new_document, type="primary")
    documents = app().knowledge.documents.all()
    for path, why in app().knowledge.documents.unreadable():
        st.warning(f"{flash.plain(path)} cannot be read and is left out: {flash.plain(why)}", icon=":material/warning:")
    if not documents:
        st.info(
            "There are no documents yet. Write one, or bring files in on Upload.",
            icon=":material/library_add:",
        )
        return
    author = allowed(me, "propose a change")
    if author and (chosen := bulk.chosen(me)):
        bulk.draw(chosen, me)
    folders = {watch.what: watch.id for watch in app().inbox.watches.listed(me) if watch.kind == "folder"}
    library(
        documents,
        app().knowledge.documents.touched(),
        app().search.page.clock.today(),
        {
            "narrowed": {name: st.query_params[name] for name in keys.LIBRARY if name in st.query_params},
            "watched": list(folders),
            "select": author,
        },
        on_watch=lambda: watch_folder(folders),
        on_edit=edit_chosen,
    )


def edit_chosen() -> None:
    """Edit the documents that were chosen together."""
    bulk.begin([str(name) for name in st.session_state["library"]["edit"]["docs"]], identity.me())


def watch_folder(folders: dict[str, int]) -> None:
    """Begin or end watching the folder that was clicked."""
    folder = str((st.session_state.get("library") or {}).get("watch") or "")
    if folder:
        actions.do(lambda actor: watching.toggle(actor, "folder", folder, folders.get(folder, 0)))


def edit_document() -> None:
    """The editor, on a new document, on an approved one, or on one in a change."""
    st.button("Back", on_click=leave_editor, icon=":material/arrow_back:", type="tertiary", key="back")
    try:
        require(me, "propose a change")
        if st.query_params[keys.DO] == "new":
            st.title("New document")
            start = draft.new(me)
        elif st.query_params.get(keys.CHANGE):
            change, path = number(keys.CHANGE) or 0, st.query_params.get(keys.PATH, "")
            st.title(f"Edit {flash.plain(path)}")
            start = draft.existing(me, path, change)
        else:
            document = app().knowledge.documents.show(st.query_params.get(keys.DOC, ""))
            st.title(f"Edit {flash.plain(document.title)}")
            start = draft.existing(me, document.path)
    except ConcordError as error:
        st.error(flash.refused(error), icon=":material/error:")
        return
    editor.draw(start, me)


def leave_editor() -> None:
    """What was typed stays as a draft."""
    doc = st.query_params.get(keys.DOC)
    address.show(**({keys.DOC: doc} if doc else {}))


if st.query_params.get(keys.DO) in ("edit", "new"):
    edit_document()
elif st.query_params.get(keys.DO) == "owners" and allowed(me, "propose a change"):
    st.button("All documents", on_click=address.show, icon=":material/arrow_back:", type="tertiary", key="back")
    owners.draw(me)
elif st.query_params.get(keys.DOC):
    one_document(st.query_params[keys.DOC])
else:
    all_documents()
