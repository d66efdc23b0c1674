"""Jobs on the command line: long work in the background, and the worker that does it."""

from __future__ import annotations

from argparse import Namespace
from typing import Any

from core import strict
from core.entrypoints.session import acting, open_app
from core.entrypoints.terminal import Terminal, table
from core.settings import Settings


def register(add: Any) -> None:
    """The commands of `jobs`, and `work`, which Concord starts itself."""
    jobs = add.group_of("jobs", "long work in the background")
    jobs("list", jobs_list, "running and past jobs")
    for name, run, about in (
        ("log", jobs_log, "what a job printed"),
        ("cancel", jobs_cancel, "ask a job to stop"),
    ):
        jobs(name, run, about).add_argument("job", type=int, metavar="N")
    worker = add("work", work, "do the work of a job in this process (started by Concord itself)")
    worker.add_argument("job", type=int, metavar="N")


def jobs_list(settings: Settings, options: Namespace, terminal: Terminal) -> int:
    app = open_app(settings)
    jobs = app.platform.jobs.listed(acting(app, options))
    rows = [
        (job.id, job.kind, job.state, f"{job.done}/{job.total}", job.message or job.error, job.created) for job in jobs
    ]
    terminal.show(
        [strict.plain(job) for job in jobs], table(rows, ("n", "kind", "state", "progress", "message", "created"))
    )
    return 0


def jobs_log(settings: Settings, options: Namespace, terminal: Terminal) -> int:
    app = open_app(settings)
    log = app.platform.jobs.log(acting(app, options), options.job)
    terminal.show({"job": options.job, "log": log}, log.splitlines() or [f"Job {options.job} printed nothing."])
    return 0


def jobs_cancel(settings: Settings, options: Namespace, terminal: Terminal) -> int:
    app = open_app(settings)
    job = app.index.admin.cancel(acting(app, options), options.job)
    terminal.show(
        strict.plain(job),
        [f"Job {job.id} was asked to stop." if job.open else f"Job {job.id} already ended: {job.state}."],
    )
    return 0


def work(settings: Settings, options: Namespace, terminal: Terminal) -> int:
    app = open_app(settings)
    job = app.platform.jobs.work(acting(app, options), options.job, app.platform.workspace.works)
    if job.state == "done":
        app.platform.workspace.catch_up()  # what was merged while the work went on has not started a job of its own
    terminal.show(strict.plain(job), [f"Job {job.id}: {job.state} {job.error}".rstrip()])
    return 0 if job.state in ("done", "cancelled") else 1
