"""What everybody can do with a document: copy its link, print it, take it along as a file."""

from __future__ import annotations

from functools import partial

import streamlit as st

from core.types import Document
from pages.ui import identity, keys
from pages.ui.components import component
from pages.ui.workspace import app

FORMATS = {"md": "Markdown", "docx": "Word"}


def link(document: Document, *, more: bool = False) -> None:
    """The button that copies the link; with `more` those for this version and for printing."""
    pinned = {keys.DOC: document.id, keys.AS_OF: app().knowledge.repository.head()[: keys.COMMIT]}
    data = {"doc": document.id, "pinned": pinned, "more": more}
    component("share")(key="share_more" if more else "share", data=data, width="content")


def downloads(document: Document) -> None:
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
