"""After a merge: the progress of indexing, or since when the new text can be found."""

from __future__ import annotations

import streamlit as st

from core.services.jobs.jobs import Job
from core.services.reviews.changes import Change
from pages.ui import dialogs, flash, identity, style
from pages.ui.workspace import app

STOPPED = {  # builds that do not restart on their own
    "failed": (
        "The new text cannot be found yet, since the index could not be built: {} An admin can rebuild it on the Index"
        " page."
    ),
    "cancelled": (
        "The new text cannot be found yet, since building the index was cancelled.{} An admin can rebuild it on the"
        " Index page."
    ),
}


def draw(change: Change) -> None:
    """A sentence once indexing is done or has stopped; a live bar until then."""
    st.markdown("**Part of the knowledge base**")
    since = app().knowledge.home.found_since(change.merged)
    if since:
        st.markdown(f":material/check_circle: The new text can be found since {style.moment(since)}.")
    elif app().index.generations.pinned(app().platform.settings.production().profile):
        st.markdown("It cannot be found yet: an older index was chosen by hand. An admin can rebuild it.")
    elif (job := _last_build()) and job.state in STOPPED:
        st.warning(STOPPED[job.state].format(flash.plain(job.error)), icon=":material/sync_problem:")
    else:
        _live(change.merged)


def _last_build() -> Job | None:
    profile = app().platform.settings.production().profile.name
    jobs = app().platform.jobs.listed(identity.me())
    return next((job for job in jobs if job.kind == "reindex" and job.arguments["profile"] == profile), None)


@st.fragment(run_every="1s")
def _live(commit: str) -> None:
    identity.require("propose a change")
    current = app()
    job = _last_build()
    if current.knowledge.home.found_since(commit) or (job and job.state in STOPPED):
        return dialogs.redraw()
    share = job.done / job.total if job and job.open and job.total else 0.0
    message = (job.message if job and job.open else "") or "Starting"
    st.progress(share, f"Indexing: {flash.plain(message)}. The new text cannot be found yet.")
