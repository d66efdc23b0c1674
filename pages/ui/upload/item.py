"""The opened upload: its checks, its duplicates, its text beside the preview, its chunks."""

from __future__ import annotations

import streamlit as st

from core.chunking import CHUNKERS, known
from core.curation.duplicates import CHOICES
from core.curation.uploads import UploadItem, document_of
from core.errors import ConcordError
from core.types import ChunkerSpec
from pages.ui import flash, identity, keys, pictures
from pages.ui.components.chunk_view import chunk_view
from pages.ui.components.reader import reader
from pages.ui.components.upload_view import findings_view, kind, matching_passages
from pages.ui.documents.chunks import cut
from pages.ui.upload import session
from pages.ui.workspace import app

TABS = {"checks": "Checks", "duplicates": "Duplicates", "text": "Text and preview", "chunks": "Chunks"}


def draw(item: UploadItem, n: int) -> None:
    turn = session.turn()
    with st.container(horizontal=True, vertical_alignment="bottom"):
        st.text_input(
            "Path",
            item.path,
            key=f"item_path_{turn}_{n}",
            on_change=_set_path,
            args=(n, f"item_path_{turn}_{n}"),
            disabled=item.choice == "replace",
            help="Where the document will stand. Other documents link to this path.",
        )
        st.button("Remove", icon=":material/delete:", key=f"item_remove_{turn}_{n}", on_click=_remove, args=(n,))
    tab = st.segmented_control(
        "Show",
        list(TABS),
        format_func=lambda name: _label(name, item),
        key=keys.UPLOAD_SIDE,
        default="checks",
        required=True,
        label_visibility="collapsed",
    )
    {"checks": checks, "duplicates": duplicates, "text": text, "chunks": chunks}[tab or "checks"](item, n)


def _label(name: str, item: UploadItem) -> str:
    sizes = {"checks": len(item.findings), "duplicates": len(item.duplicates)}
    return f"{TABS[name]} · {sizes[name]}" if sizes.get(name) else TABS[name]


def checks(item: UploadItem, n: int) -> None:
    findings_view(item.findings, item.text, key="findings")
    if not item.readable and item.text:
        st.caption("The text was not stored as UTF-8. It is shown as an older Windows program would have written it.")
        st.button("Use the text as shown", key="item_salvage", on_click=_edit, args=(n, ""))


def duplicates(item: UploadItem, n: int) -> None:
    """Existing documents that say the same, side by side, and what to do about them."""
    if not item.duplicates:
        st.info("Nothing like this is in the knowledge base.", icon=":material/check_circle:")
    else:
        _choice(item, n)
    for number, duplicate in enumerate(item.duplicates):
        st.markdown(f"**{flash.plain(duplicate.title)}** · {flash.plain(kind(duplicate))}")
        if duplicate.pairs:
            matching_passages(duplicate, key=f"duplicates_{number}")
        else:
            st.caption(flash.plain(duplicate.path))
    if item.readable:
        st.button(
            "Compare every passage by meaning",
            icon=":material/join_inner:",
            type="tertiary",
            key="item_meaning",
            on_click=_compare_meaning,
            args=(n,),
        )


def _choice(item: UploadItem, n: int) -> None:
    known = [duplicate.path for duplicate in item.duplicates if not duplicate.batch]
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


def text(item: UploadItem, n: int) -> None:
    """The text to fix, and how it will look."""
    left, right = st.columns(2, gap="medium")
    key = f"item_text_{session.turn()}_{n}"
    with left:
        st.text_area("Markdown", item.text, height=560, key=key, on_change=_edit, args=(n, key))
        st.caption("The preview and the checks follow when you leave the box or press Ctrl+Enter.")
    document = document_of(item)
    with right, st.container(border=True, height=606, key="preview"):
        if document is None:
            st.warning("There is no preview until the errors are fixed.", icon=":material/edit_note:")
        else:
            st.markdown(f"### {flash.plain(document.title)}")
            shown = pictures.uploaded(identity.me(), session.batch().pictures)
            reader(document, key="upload_reader", address=shown)


def chunks(item: UploadItem, n: int) -> None:
    """The chunks that it will become, with any chunker."""
    document = document_of(item)
    if document is None:
        st.warning("There are no chunks until the errors are fixed.", icon=":material/edit_note:")
        return
    production = app().platform.settings.production().profile
    names = list(CHUNKERS)
    with st.container(horizontal=True, vertical_alignment="bottom"):
        name = st.selectbox("Chunker", names, names.index(production.chunker.name), key="upload_chunker", width=190)
        defaults = {**known(name).defaults, **(production.chunker.params if name == production.chunker.name else {})}
        params = {
            key: int(st.number_input(key.replace("_", " "), 0, 5000, value, key=f"upload_{name}_{key}", width=140))
            for key, value in defaults.items()
        }
    try:
        pieces = cut(document, ChunkerSpec(name, params))
    except ConcordError as error:
        st.warning(flash.plain(str(error)))
        return
    chunk_view(document, [(f"{name} ({', '.join(map(str, params.values()))})", pieces)], key="upload_chunks")


# ---------------------------------------------------------------- callbacks


def _set_path(n: int, key: str) -> None:
    session.change(lambda uploads, batch: uploads.edit(batch, n, path=str(st.session_state[key])))


def _edit(n: int, key: str) -> None:
    new_text = str(st.session_state[key]) if key else session.batch().at(n).text
    session.change(lambda uploads, batch: uploads.edit(batch, n, text=new_text))


def _choose(n: int, key: str, target: str = "") -> None:
    choice = str(st.session_state[key] or "")
    replaced = str(st.session_state[target]) if target else ""
    session.change(lambda uploads, batch: uploads.choose(batch, n, choice, replaced))


def _compare_meaning(n: int) -> None:
    before = len(session.batch().at(n).duplicates)
    if (
        session.change(lambda uploads, batch: uploads.meaning(batch, n))
        and len(session.batch().at(n).duplicates) == before
    ):
        flash.say("Every passage was compared; nothing more says the same.", "info")


def _remove(n: int) -> None:
    session.change(lambda uploads, batch: uploads.remove(batch, n), moves=True)
