"""What everybody can do with a document: copy its link, print it, take it along as a file."""

from __future__ import annotations

from functools import partial

import streamlit as st

from core.types import Document
from pages.ui import identity, keys
from pages.ui.components import component
from pages.ui.workspace import app

FORMATS = {"md": "Markdown", "docx": "Word"}


def draw(document: Document) -> None:
    """The buttons; a file is written when it is asked for."""
    pinned = {keys.DOC: document.id, keys.AS_OF: app().knowledge.repository.head()[: keys.COMMIT]}
    component("share")(key="share", data={"doc": document.id, "pinned": pinned}, width="content")
    with st.popover("Download", icon=":material/download:", key="download_box"):
        for kind, title in FORMATS.items():
            st.download_button(
                title,
                partial(_content, document.id, kind, identity.me().id),
                file_name=f"{document.path.split('/')[-1].removesuffix('.md')}.{kind}",
                key=f"download_{kind}",
                on_click="ignore",
                width="stretch",
            )


def _content(doc: str, kind: str, account: str) -> bytes:
    """Runs outside the session, when the file is downloaded: hence the account's id."""
    return app().knowledge.exports.export(app().people.accounts.actor(account), doc, kind).content
