"""Jobs: progress of what runs, and the outcome and log of what ran."""

from __future__ import annotations

from datetime import datetime
from functools import partial

import streamlit as st

from core.access import Actor
from core.services.jobs.jobs import Job, seconds_left
from pages.ui import actions, dialogs, flash, identity, progress, style
from pages.ui.workspace import app

NAMES = {
    "reindex": "Rebuild",
    "sample": "Play the past of the sample",
    "merge": "Merge segments",
    "verify": "Verify",
    **progress.NAMES,
}


def draw() -> None:
    """Poll every second while a job runs; when it ends, rerun the page."""
    if any(job.open for job in app().platform.jobs.listed(identity.me())):
        _live()
    else:
        _list()


@st.fragment(run_every="1s")
def _live() -> None:
    identity.require("see the index")
    _list()
    if not any(job.open for job in app().platform.jobs.listed(identity.me())):
        dialogs.redraw()


def _list() -> None:
    jobs = app().platform.jobs.listed(identity.me())
    if not jobs:
        st.caption("No job has run yet.")
    waiting = app().platform.workers.waiting(identity.me())
    if waiting.stuck:
        st.warning(
            f"{style.count(waiting.jobs, 'job')} waiting, and no worker is running. Start one: see the docs on running"
            " Concord.",
            icon=":material/hourglass_disabled:",
        )
    for job in jobs[:10]:
        _running(job) if job.open else _finished(job)


def _running(job: Job) -> None:
    with st.container(border=True, key=f"job_{job.id}"):
        left = seconds_left(job, datetime.now().astimezone())
        begins = "Waiting for a worker" if job.state == "queued" else "Starting"
        status = f"{job.message or begins} · {job.done:,} of {job.total:,}" if job.total else job.message or begins
        st.markdown(f"**{title(job)}** · job {job.id}" + (f" · {flash.plain(job.worker)}" if job.worker else ""))
        st.progress(
            job.done / job.total if job.total else 0.0,
            flash.plain(status + (f" · about {left:.0f} s left" if left else "")),
        )
        if st.button("Cancel", key=f"cancel_{job.id}", icon=":material/cancel:"):
            actions.do(partial(cancel, job=job.id))
            st.rerun()


def _finished(job: Job) -> None:
    badge = {"done": ":green-badge[done]", "failed": ":red-badge[failed]", "cancelled": ":gray-badge[cancelled]"}[
        job.state
    ]
    with st.container(border=True, key=f"job_{job.id}", gap="xxsmall"):
        with st.container(horizontal=True, vertical_alignment="center"):
            st.markdown(f"**{title(job)}** · {style.moment(job.ended)} {badge}", width="stretch")
            log = app().platform.jobs.log(identity.me(), job.id)
            if log.strip():
                with st.popover("Log", type="tertiary"):
                    st.code(log[-4000:], language=None)
        st.caption(flash.plain(outcome(job)))


def title(job: Job) -> str:
    name = NAMES.get(job.kind, job.kind)
    if job.kind != "reindex":
        return name
    return (
        f"{name}{' everything' if job.arguments.get('full') else ''}"
        f" ({flash.plain(str(job.arguments.get('profile', '')))})"
    )


def outcome(job: Job) -> str:
    """The result of a finished job, in one sentence."""
    if job.error:
        return job.error
    if job.kind == "verify" and job.result:
        return (
            "Every file is whole; repository, database and index agree."
            if job.result["ok"]
            else " ".join(job.result["problems"])
        )
    if job.kind == "reindex" and job.result:
        build = job.result
        if not build["built"]:
            return "The index was already up to date."
        return (
            f"Generation {build['generation']['number']}: {style.count(build['changed_documents'], 'document')} read,"
            f" {style.count(build['new_chunks'], 'passage')} made, {style.count(build['embedded'], 'text')} embedded in"
            f" {build['seconds']:.1f} s."
        )
    return "Stopped; finished work is kept." if job.state == "cancelled" else "Done."


def cancel(actor: Actor, job: int) -> str:
    app().index.admin.cancel(actor, job)
    return f"Job {job} was asked to stop."
