"""Progress of evaluation jobs: a bar with a cancel button, and the error of the last one that failed."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from functools import partial

import streamlit as st

from core.access import Actor
from core.services.jobs.jobs import Job, seconds_left
from pages.ui import actions, dialogs, flash, identity
from pages.ui.workspace import app

NAMES = {
    "generate": "Making questions",
    "evaluate": "Running configurations",
    "calibrate": "Calibrating tau",
    "learn-all": "Learning from your questions",
    "drift": "Checking production",
    "check-model": "Checking a language model",
    "remote": "Push to the remote",
    "answers": "Checking the answers of documents",
    "impact": "Measuring the impact of a change",
}


def draw(kinds: Sequence[str]) -> None:
    """Poll every second while a job runs; when it ends, rerun the page."""
    newest = next((job for job in app().platform.jobs.listed(identity.me(), 50) if job.kind in kinds), None)
    if _running(kinds):
        _live(tuple(kinds))
    elif newest and newest.state == "failed":
        st.error(f"{NAMES[newest.kind]}: {flash.plain(newest.error)}", icon=":material/error:")


def _running(kinds: Sequence[str]) -> list[Job]:
    return [job for job in app().platform.jobs.listed(identity.me(), 50) if job.open and job.kind in kinds]


@st.fragment(run_every="1s")
def _live(kinds: tuple[str, ...]) -> None:
    identity.require("run an evaluation")
    running = _running(kinds)
    for job in running:
        _bar(job)
    if not running:
        dialogs.redraw()


def _bar(job: Job) -> None:
    left = seconds_left(job, datetime.now().astimezone())
    status = f"{job.message or 'Starting'} · {job.done:,} of {job.total:,}" if job.total else job.message or "Starting"
    with st.container(border=True, horizontal=True, vertical_alignment="center", key=f"measuring_{job.id}"):
        st.progress(
            min(1.0, job.done / job.total) if job.total else 0.0,
            flash.plain(
                f"{NAMES[job.kind]}{_subject(job)} · {status}" + (f" · about {_duration(left)} left" if left else "")
            ),
        )
        st.button("Cancel", key=f"stop_{job.id}", icon=":material/cancel:", on_click=stop, args=(job.id,))


def _subject(job: Job) -> str:
    name = (
        job.arguments.get("queryset")
        or ", ".join(job.arguments.get("querysets", ()))
        or job.arguments.get("name")
        or job.arguments.get("kind")
    )
    return f" ({name})" if name else ""


def _duration(seconds: float) -> str:
    return f"{seconds:.0f} s" if seconds < 100 else f"{seconds / 60:.0f} min"


def stop(job: int) -> None:
    actions.do(partial(_stop, job=job))


def _stop(actor: Actor, job: int) -> str:
    app().evaluation.jobs.cancel(actor, job)
    return f"Job {job} was asked to stop; finished work is kept."
