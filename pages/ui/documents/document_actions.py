"""What people can do with a document: take it along; for authors edit, move, retire, delete, restore, each
as a change.
"""

from __future__ import annotations

from functools import partial

import streamlit as st

from core.access import Actor, allowed
from core.services.knowledge.documents import Version
from core.services.reviews.authoring import Files, brought_back, deleted, moved, restored, touching, with_status
from core.types import Document
from pages.ui import address, flash, identity, keys, people, style, watching
from pages.ui.components import component
from pages.ui.documents import feedback, save_target
from pages.ui.workspace import app, links_to

FORMATS = {"md": "Markdown", "docx": "Word"}


def draw(document: Document, me: Actor, mark: tuple[int, int] | None = None) -> None:
    """Five buttons below the header at most, the rest in a menu; and the open changes that touch this document."""
    may_edit = allowed(me, "propose a change")
    with st.container(horizontal=True, key="document_tools", gap="small"):
        if may_edit and st.button("Edit", icon=":material/edit:", type="primary", key="edit"):
            address.show(**{keys.DOC: document.id, keys.DO: "edit"})
            st.rerun()
        _link(document)
        feedback.buttons(document, mark)
        if not may_edit:
            watching.button(me, "document", document.path, "watch_document")
        with st.popover("More", icon=":material/more_horiz:", key="more_box", width="content"):
            _more(document, me, mark, may_edit)
    feedback.said(document, me)
    if may_edit:
        _open_changes(document, me)


def _more(document: Document, me: Actor, mark: tuple[int, int] | None, may_edit: bool) -> None:
    with st.container(horizontal=True, gap="small"):
        if may_edit:
            watching.button(me, "document", document.path, "watch_document")
        _link(document, more=True)
    _downloads(document)
    with st.expander("Comment", icon=":material/chat:", type="compact"):
        feedback.comment(document, mark)
    if may_edit:
        _author_tools(document, me)


def _author_tools(document: Document, me: Actor) -> None:
    with st.expander("Rename or move", icon=":material/drive_file_move:", type="compact"):
        _move(document, me)
    retired = document.meta.status in ("retired", "superseded")
    icon = ":material/unarchive:" if retired else ":material/archive:"
    with st.expander("Restore or delete" if retired else "Retire or delete", icon=icon, type="compact"):
        word, status = ("Restore", "approved") if retired else ("Retire", "retired")
        chosen = st.radio("What should become of it", [word, "Delete"], key="fate", label_visibility="collapsed")
        if chosen == "Delete":
            _delete(document, me)
        else:
            _status(document, me, word, status)


def _open_changes(document: Document, me: Actor) -> None:
    for change in touching(app().reviews.changes, me, document.path):
        st.page_link(
            "pages/reviews.py",
            label=(
                f"Change #{change.id} by {flash.plain(change.author_name)} edits this document:"
                f" {flash.plain(change.title)}"
            ),
            icon=":material/rate_review:",
            query_params={keys.CHANGE: str(change.id)},
        )


def _move(document: Document, me: Actor) -> None:
    to = st.text_input("New path", document.path, key=f"move_to_{document.id}")
    readers = app().knowledge.documents.readers(document.path, document)
    if readers and to.strip().rpartition("/")[0] != document.path.rpartition("/")[0]:
        st.caption(
            f":material/visibility: Read by {flash.plain(people.audience(readers))} now. Elsewhere it is for the"
            " readers of that folder; its earlier versions stay with those of now."
        )
    linking = len(links_to(document.path))
    label = f"Fix the links of {style.count(linking, 'document')} that {'leads' if linking == 1 else 'lead'} here"
    fix_links = linking > 0 and st.checkbox(
        label, True, key=f"move_fix_{document.id}", help="In the same change, for the same reviewers."
    )
    chosen = save_target.choose(
        f"move_{document.id}", f"Move {document.title}"[:200], app().knowledge.repository.head(), me
    )
    if st.button(save_target.label(chosen), type="primary", key="move"):
        save_target.finish(
            chosen, lambda: moved(app().knowledge.documents, document.path, to.strip(), fix_links=fix_links)
        )


def _status(document: Document, me: Actor, word: str, status: str) -> None:
    will = (
        "It is found again like any other document."
        if status == "approved"
        else "It stays readable, marked as retired, and is found only when history is asked for."
    )
    st.markdown(f"{will} First the change is reviewed.")
    chosen = save_target.choose(
        f"status_{document.id}", f"{word} {document.title}"[:200], app().knowledge.repository.head(), me
    )
    if st.button(save_target.label(chosen), type="primary", key="status"):
        save_target.finish(chosen, lambda: with_status(app().knowledge.documents, document.path, status))


def _delete(document: Document, me: Actor) -> None:
    linking = len(links_to(document.path))
    links = f" {style.count(linking, 'document')} {'links' if linking == 1 else 'link'} to it." if linking else ""
    st.markdown(
        f"It is gone from the knowledge base, with its pictures; its history stays.{links} First the change is"
        " reviewed."
    )
    title = f"Delete {document.title}"[:200]
    chosen = save_target.choose(f"delete_{document.id}", title, app().knowledge.repository.head(), me)
    if st.button(save_target.label(chosen), type="primary", key="delete"):
        save_target.finish(chosen, lambda: deleted(app().knowledge.documents, document.path))


def missing(name: str, me: Actor) -> None:
    """That there is no such document; one that was deleted can be brought back, as a change."""
    gone = app().knowledge.documents.deleted(name) if allowed(me, "propose a change") else None
    said = "It may have been renamed or removed: look for it in Search, or in All documents."
    if gone:
        said = f"{gone.commit.author.name} deleted it on {style.day(gone.commit.when[:10])}."
    st.error(flash.plain(f"There is no document {name}. {said}"), icon=":material/search_off:")
    if gone:
        title = f"Bring back {gone.document.title}"[:200]
        chosen = save_target.choose("bring_back", title, app().knowledge.repository.head(), me)
        if st.button("Bring it back", icon=":material/settings_backup_restore:", type="primary", key="bring_back"):
            save_target.finish(chosen, lambda: brought_back(app().knowledge.documents, name))


def restore_version(document: Document, version: Version, me: Actor) -> None:
    """Propose an old version as a new change."""
    with st.popover(f"Restore version {version.number}", icon=":material/settings_backup_restore:", key="restore_box"):
        st.markdown("The old text becomes a new change, to be reviewed like any other.")
        title = f"Restore version {version.number} of {document.title}"[:200]
        chosen = save_target.choose(
            f"restore_{document.id}_{version.number}", title, app().knowledge.repository.head(), me
        )
        if st.button(save_target.label(chosen), type="primary", key="restore"):
            save_target.finish(chosen, lambda: _version_files(document, version))


def _version_files(document: Document, version: Version) -> Files:
    return restored(app().knowledge.documents, document.path, version.commit.id, version.commit.path)


def _link(document: Document, *, more: bool = False) -> None:
    """The button that copies the link; with `more` those for this version and for printing."""
    pinned = {keys.DOC: document.id, keys.AS_OF: app().knowledge.repository.head()[: keys.COMMIT]}
    data = {"doc": document.id, "pinned": pinned, "more": more}
    component("share")(key="share_more" if more else "share", data=data, width="content")


def _downloads(document: Document) -> None:
    """A file is written when it is asked for."""
    for kind, title in FORMATS.items():
        st.download_button(
            f"Download as {title}",
            partial(_content, document.id, kind, identity.me().id),
            file_name=f"{document.path.split('/')[-1].removesuffix('.md')}.{kind}",
            key=f"download_{kind}",
            on_click="ignore",
            icon=":material/download:",
        )


def _content(doc: str, kind: str, account: str) -> bytes:
    """Runs outside the session, when the file is downloaded: hence the account's id."""
    return app().knowledge.exports.export(app().people.accounts.actor(account), doc, kind).content
