"""The sample: a line on every page that says so, and the way to one's own documents."""

from __future__ import annotations

import streamlit as st

from core.access import Actor, allowed
from pages.ui import actions, dialogs, identity, style, workspace
from pages.ui.server import uploaded
from pages.ui.workspace import app

LINE = ":material/science: A sample: Meridale, its people and what they did are made up."
OWN = "Start with your own documents"
WILL = (
    "Every document, change, question and measurement of the sample goes, and so do index, caches and audit.",
    "What you tried in the sample goes, too. There is no way back.",
)
NOTHING, FILES, GIT = BEGINNINGS = ("Nothing yet", "Files or a zip", "A git repository")


def line() -> None:
    """Nothing where people work on their own documents; whoever may empty the workspace finds the way here."""
    if not app().platform.sample.here():
        return
    with st.container(horizontal=True, vertical_alignment="center", gap="small", key="sample_line"):
        st.caption(LINE)
        if allowed(identity.me(), "restore the workspace") and st.button(OWN, type="tertiary", key="sample_own"):
            _own()


@dialogs.dialog(OWN)
def _own() -> None:
    """What goes, what comes in, and the second click."""
    identity.require("restore the workspace")
    for sentence in WILL:
        st.markdown(f"- {sentence}")
    begin = st.segmented_control("Begin with", BEGINNINGS, default=NOTHING, required=True, key="own_begin")
    files, url = [], ""
    if begin == FILES:
        files = st.file_uploader("Markdown, Word, PDF or a zip of them", accept_multiple_files=True, key="own_files")
    elif begin == GIT:
        url = st.text_input("Address", placeholder="https://git.example.org/team/handbook.git", key="own_url")
        st.caption("Its branch main comes in with its history. It is not pushed to: that is set up on Remote.")
    else:
        st.caption("Then bring files in on Upload, or write the first document.")
    with st.container(horizontal=True, horizontal_alignment="right"):
        if st.button("Cancel", key="confirm_no"):
            st.rerun()
        ready = begin == NOTHING or bool(files or url.strip())
        if st.button("Remove the sample", type="primary", key="confirm_yes", disabled=not ready):
            brought = [(file.name, file.getvalue()) for file in files]
            actions.do(lambda actor: _begin_anew(actor, brought, url.strip()))
            uploaded.leave()
            st.rerun()


def _begin_anew(actor: Actor, files: list[tuple[str, bytes]], url: str) -> str:
    importer = app().upload.importer
    importer.check(actor, files, url)  # before anything is removed
    app().platform.sample.remove(actor)
    imported = importer.files(actor, files) if files else None
    if url and not files:
        imported = importer.repository(actor, url)
    st.cache_data.clear()
    workspace.forget()
    if imported is None:
        return "The sample is gone. This is your knowledge base now."
    app().index.admin.rebuild(actor)
    refused = f" {style.count(len(imported.refused), 'file')} could not be read." if imported.refused else ""
    return (
        f"The sample is gone. {style.count(len(imported.added), 'document')} came in and can be found in a"
        f" moment.{refused}"
    )
