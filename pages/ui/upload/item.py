"""The opened upload: its fields, and behind tabs its original, its text and its duplicates."""

from __future__ import annotations

import streamlit as st

from core import strict
from core.curation.checks.findings import Finding
from core.curation.document.frontmatter_edit import with_body
from core.curation.text.render import Node, with_pictures
from core.curation.upload.edits import fill, look_at, start_fresh
from core.curation.upload.items import LIMITS, UploadItem, document_of, plain_lines
from core.errors import BadInput
from core.types import Document
from pages.ui import disagreements, flash, identity, keys, pictures
from pages.ui.components.editor_view import Editing, editor_view, tab, typed
from pages.ui.documents import chunks, frontmatter_form
from pages.ui.upload import duplicates, original, session
from pages.ui.workspace import app


def draw(item: UploadItem, n: int) -> None:
    document = document_of(item)
    _head(item, n, document)
    if document:
        _fields(item, n, document)
    if item.readable:
        _place(item, n)
    _refused(item, n)
    if item.converted:
        _conversion(item, n)
    _tabs(item, n, document)
    if document:
        _passages(document)


def _head(item: UploadItem, n: int, document: Document | None) -> None:
    with st.container(horizontal=True, vertical_alignment="center", horizontal_alignment="distribute"):
        st.subheader(flash.plain(document.title if document else item.name), anchor=False)
        st.button(
            "Remove", icon=":material/delete:", key=f"item_remove_{session.turn()}_{n}", on_click=_remove, args=(n,)
        )


def _fields(item: UploadItem, n: int, document: Document) -> None:
    """The form of the editor.

    A status is asked for only where the file has another one than approved, or an unknown word.
    """
    key = f"item_{session.turn()}_{n}"
    remarks = {finding.field: finding.message for finding in reversed(item.findings) if finding.field}
    shown = frontmatter_form.FormOptions(
        title_key=_title_key(key, document.title),
        status=document.meta.status != "approved" or item.choice == "replace" or "status" in remarks,
        remarks=remarks,
        typed=document,
    )
    values = frontmatter_form.form(document.meta, document.title, key, shown)
    changed = {name: value for name, value in values.items() if getattr(document.meta, name) != value}
    if changed and session.change(lambda uploads, batch: uploads.look(fill(batch, n, changed))):
        st.rerun()


def _title_key(key: str, title: str) -> str:
    """The key of the box for the title, which follows a title that the text changed; the other boxes keep what is
    typed.
    """
    box, known = f"{key}_title", f"{key}_title_known"
    if st.session_state.get(known) != title:
        st.session_state[known] = st.session_state[box] = title
    return box


def _place(item: UploadItem, n: int) -> None:
    """The folder and the file name; a document that is replaced stays where it is."""
    if item.choice == "replace":
        st.caption(f"It becomes a new version of {flash.plain(item.target)}.")
        return
    key = f"item_{session.turn()}_{n}"
    at, _, last = item.path.rpartition("/")
    folder_cell, name_cell = st.columns([1, 1])
    folder = folder_cell.selectbox(
        "Folder",
        frontmatter_form.options(frontmatter_form.folders(), at),
        index=frontmatter_form.index_of(frontmatter_form.folders(), at),
        accept_new_options=True,
        placeholder="Top level, or a folder",
        key=f"{key}_folder",
    )
    name = name_cell.text_input("File name", last, key=f"{key}_name", help="Other documents link to it.")
    for finding in item.findings:
        if finding.field == "path":
            name_cell.caption(f":material/error: {flash.plain(finding.message)}")
    typed = (name or last).strip().removesuffix(".md") + ".md"
    path = "/".join(part for part in ((folder or "").strip("/"), typed) if part)
    if path != item.path and session.change(lambda uploads, batch: uploads.edit(batch, n, path=path)):
        st.rerun()


def _refused(item: UploadItem, n: int) -> None:
    """Why there is no form, and the way to get one."""
    for finding in item.findings:
        if finding.rule in ("frontmatter", "file", "encoding", LIMITS) and finding.severity == "error":
            st.error(flash.plain(finding.message), icon=":material/error:")
    if any(finding.rule == "frontmatter" and finding.severity == "error" for finding in item.findings):
        st.button(
            "Start the fields fresh",
            icon=":material/restart_alt:",
            key=f"item_fresh_{session.turn()}_{n}",
            on_click=_start_fresh,
            args=(n,),
            help="Keeps the fields at the top that can be read, and leaves the others out. The text stays.",
        )
    if not item.readable and item.text:
        st.caption("The text was not stored as UTF-8. It is shown as an older Windows program would have written it.")
        st.button("Use the text as shown", key=f"item_salvage_{session.turn()}_{n}", on_click=_salvage, args=(n,))


def _conversion(item: UploadItem, n: int) -> None:
    """Amber until somebody says that it was looked at."""
    key = "conversion_looked" if item.looked else "conversion_amber"
    with st.container(key=key, horizontal=True, vertical_alignment="center", border=True):
        if item.looked:
            st.markdown(f":material/check_circle: {flash.plain(item.looked)} compared it with the original.")
        else:
            st.markdown(f":material/visibility: **Converted from {item.converted}.** {original.to_compare(item)}")
            st.button(
                f"Looked at all {len(item.to_check)}" if len(item.to_check) > 1 else "Looked at",
                icon=":material/check:",
                key=f"item_looked_{session.turn()}_{n}",
                on_click=_looked,
                args=(n,),
                help="It says right what the original says.",
            )
        original.download(item)


def _tabs(item: UploadItem, n: int, document: Document | None) -> None:
    fixes = sum(finding.severity != "note" and not finding.field for finding in item.findings)
    fixes += len(differing(item))
    names = {
        **({"original": "Beside the original"} if item.converted else {}),
        "text": f"Text · {fixes} to fix" if fixes else "Text",
        "duplicates": duplicates.label(item),
    }
    tab = st.segmented_control(
        "Show",
        list(names),
        format_func=names.__getitem__,
        key=f"{keys.UPLOAD_SIDE}_{session.turn()}_{n}",
        default=next(iter(names)) if item.unseen else "text",
        required=True,
        label_visibility="collapsed",
    )
    if tab == "original":
        original.draw(item, n, document)
    elif tab == "duplicates":
        duplicates.draw(item, n)
    else:
        _draw_text(item, n, document)


def _passages(document: Document) -> None:
    """What search will find it by."""
    compared = "compare" in st.query_params  # the address leads to what is inside
    box = st.expander(
        "How it will be found",
        compared,
        icon=":material/search:",
        key="upload_passages",
        on_change="rerun",
        type="compact",
    )
    with box:
        if box.open:
            st.caption("Search finds passages, not whole documents. These are the passages of this one.")
            chunks.draw(document)


# ---------------------------------------------------------------- callbacks


def _looked(n: int) -> None:
    session.change(lambda uploads, batch: look_at(batch, n, identity.me().name))


def _start_fresh(n: int) -> None:
    session.change(lambda uploads, batch: uploads.look(start_fresh(batch, n)), moves=True)


def _salvage(n: int) -> None:
    session.change(lambda uploads, batch: uploads.edit(batch, n, text=batch.at(n).text), moves=True)


def _remove(n: int) -> None:
    session.change(lambda uploads, batch: uploads.remove(batch, n), moves=True)


def _draw_text(item: UploadItem, n: int, document: Document | None) -> None:
    """The body, since the form shows what stands above it; the whole file where that cannot be read."""
    key = f"item_{session.turn()}_{n}_{'body' if document else 'whole'}"
    rest = item.text[document.body :] if document else item.text
    body = rest.lstrip("\n") if document else rest
    serial = f"{key}_{tab()}"
    said = typed(key, serial).get("text")
    if said is not None and _edited(item, n, document, rest[: len(rest) - len(body)], str(said)):
        st.rerun()
    nodes, problem = _preview(document)
    shown = Editing(
        serial=serial,
        place=strict.digest([key, identity.me().id, item.name]),
        path=item.place,
        text=item.text,
        body=body,
        document=document,
        nodes=nodes,
        problem=problem,
        findings=[
            *(finding for finding in item.findings if finding.severity != "note" and not finding.field),
            *differing(item),
        ],
        token=identity.page_token(),
    )
    if left := editor_view(key, shown).left:
        st.session_state[f"{key}_left"] = str(left["text"])
    if f"{key}_left" in st.session_state:
        st.info("You typed this text before you changed the document in another tab. Copy what you need.")
        st.code(st.session_state[f"{key}_left"], language=None, wrap_lines=True)


def differing(item: UploadItem) -> list[Finding]:
    """What documents of the knowledge base say otherwise."""
    return disagreements.remarks(identity.me(), item.place, item.text) if item.readable else []


def _edited(item: UploadItem, n: int, document: Document | None, leading: str, typed: str) -> bool:
    """Take over what was typed, if it is new."""
    text = plain_lines(with_body(item.text, leading + typed.lstrip("\n")) if document else typed)
    return text != item.text and session.change(lambda uploads, batch: uploads.edit(batch, n, text=text))


def _preview(document: Document | None) -> tuple[list[Node], str]:
    """The document as drawn, or why it is not."""
    if document is None:
        return [], "There is no preview until the errors are fixed."
    try:
        nodes = app().upload.reader.render(document).nodes
        return with_pictures(nodes, pictures.uploaded(identity.me(), session.batch().pictures)), ""
    except BadInput as error:
        return [], flash.refusal(error)
