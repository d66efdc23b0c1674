"""The sample: a line on every page that says so, and the way to one's own documents."""

from __future__ import annotations

import streamlit as st

from core.access import Actor, allowed
from pages.ui import actions, identity, workspace
from pages.ui.workspace import app

LINE = ":material/science: A sample: Meridale, its people and what they did are made up."
OWN = "Start with your own documents"
WILL = [
    "Every document, change, question and measurement of the sample goes, and so do index, caches and audit.",
    "The workspace is as new: bring your files in on Upload, write a first document, or take over a repository on Remote.",
    "What you tried in the sample goes, too. There is no way back.",
]


def line() -> None:
    """Nothing where people work on their own documents; whoever may empty the workspace finds the way here."""
    if not app().platform.sample.here():
        return
    with st.container(horizontal=True, vertical_alignment="center", gap="small", key="sample_line"):
        st.caption(LINE)
        if allowed(identity.me(), "restore the workspace") and st.button(OWN, type="tertiary", key="sample_own"):
            actions.confirm(f"{OWN}?", WILL, "Remove the sample", _remove)


def _remove(actor: Actor) -> str:
    app().platform.sample.remove(actor)
    st.cache_data.clear()
    workspace.forget()
    return "The sample is gone. This is your knowledge base now."
