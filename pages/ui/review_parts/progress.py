"""After a merge: how far the index is, and since when the new text can be found."""

from __future__ import annotations

import streamlit as st

from core.services.changes import Change
from pages.ui import flash, identity, style
from pages.ui.workspace import app


def draw(change: Change) -> None:
    """One sentence when all is done; a bar that moves by itself until then."""
    st.markdown("**Part of the knowledge base**")
    since = app().overviews.found_since(change.merged)
    if since:
        st.markdown(f":material/check_circle: The new text can be found since {style.moment(since)}.")
    elif app().shelf.pinned(app().preferences.production().profile):
        st.markdown("It cannot be found yet: an older index was chosen by hand. An admin can rebuild it.")
    else:
        _live(change.merged)


@st.fragment(run_every="1s")
def _live(commit: str) -> None:
    identity.require("propose a change")
    current = app()
    current.jobs.sweep()
    if current.overviews.found_since(commit):
        st.rerun()
    job = next((job for job in current.jobs.recent() if job.kind == "reindex"), None)
    if job is None or not job.open:
        current.catch_up()
    share = job.done / job.total if job and job.open and job.total else 0.0
    said = job.error if job and job.state == "failed" else (job.message if job else "") or "Starting"
    st.progress(share, f"Indexing: {flash.plain(said)}. The new text cannot be found yet.")
