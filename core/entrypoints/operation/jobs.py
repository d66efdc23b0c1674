"""Jobs on the command line: long work in the background, and the worker that does it."""

from __future__ import annotations

import logging
import math
import signal
from argparse import SUPPRESS
from typing import TYPE_CHECKING, Annotated

from core import logs, strict
from core.entrypoints.record import Argument, CommandCall, Option, Rows, Shown, UseCaseCall, command, form, operation
from core.entrypoints.terminal import table
from core.services.jobs.workers import IDLE, Waiting, Worker
from core.settings import node_name

if TYPE_CHECKING:
    pass

LOG = logging.getLogger(__name__)
RECENT, MOST = 20, 1000  # jobs that somebody at a terminal sees, and that programs page through


@form
class OneJob:
    job: Annotated[int, Argument("N", "the number of a job, as jobs list prints it")]


@form
class RunWorkerOptions:
    name: Annotated[str, Option("what jobs and lists call it (default: the node's name)")] = ""
    once: Annotated[bool, Option("end when no job waits")] = False
    place: Annotated[int, Option(SUPPRESS)] = 0  # the lock that whoever started it hands over


@operation("list_jobs", "GET /jobs", "[Job]", paged=True, example="GET /jobs")
@command("jobs list", "running and past jobs", "platform.jobs.listed")
def jobs_list(call: UseCaseCall) -> Shown:
    """Running and past jobs, newest first."""
    jobs = call.app.platform.jobs.listed(call.actor, RECENT if call.typed else MOST)
    rows = [
        (job.id, job.kind, job.state, f"{job.done}/{job.total}", job.worker, job.message or job.error, job.created)
        for job in jobs
    ]
    lines = table(rows, ("n", "kind", "state", "progress", "worker", "message", "created"))
    if call.typed and (waiting := call.app.platform.workers.waiting(call.actor)).stuck:
        lines.append(_stuck(waiting))
    return Shown(Rows(jobs), lines)


@operation("show_job", "GET /jobs/{job}", "Job", calls="platform.jobs.show", example="GET /jobs/1")
def show_job(call: UseCaseCall, form: OneJob) -> Shown:
    """One job and how far it is."""
    return Shown(strict.plain(call.app.platform.jobs.show(call.actor, form.job)))


@command("jobs waiting", "how many wait for a worker, and which workers are alive", "platform.workers.waiting")
def jobs_waiting(call: CommandCall) -> Shown:
    """Exit 1 where jobs wait and nobody will do them."""
    waiting = call.app.platform.workers.waiting(call.actor)
    said = f"{waiting.jobs} waiting. Workers that are alive: {', '.join(waiting.workers) or 'none'}."
    return Shown(strict.plain(waiting), [_stuck(waiting) if waiting.stuck else said], 1 if waiting.stuck else 0)


def _stuck(waiting: Waiting) -> str:
    return f"{waiting.jobs} waiting, and no worker is alive. Start one with: python -m core worker"


@command("jobs log", "what a job printed", "platform.jobs.log", example="jobs log 1")
def jobs_log(call: CommandCall, form: OneJob) -> Shown:
    log = call.app.platform.jobs.log(call.actor, form.job)
    return Shown({"job": form.job, "log": log}, log.splitlines() or [f"Job {form.job} printed nothing."])


@command("jobs cancel", "ask a job to stop", "index.admin.cancel", example="jobs cancel 1")
def jobs_cancel(call: CommandCall, form: OneJob) -> Shown:
    job = call.app.index.admin.cancel(call.actor, form.job)
    return Shown(
        strict.plain(job),
        [f"Job {job.id} was asked to stop." if job.open else f"Job {job.id} already ended: {job.state}."],
    )


@command(
    "worker",
    "claim and do jobs until it is stopped; Concord starts its own unless CONCORD_WORKERS=0",
    "platform.workers.run",
    example="worker --once",
)
def run_worker(call: CommandCall, form: RunWorkerOptions) -> Shown:
    """Until SIGTERM or Ctrl-C: then what is under way is handed to another worker."""
    app = call.app
    level = logging.WARNING if call.terminal.quiet else logging.INFO
    logs.start(call.settings.log, level)
    worker = Worker(form.name or node_name(call.settings), idle=IDLE if form.place else math.inf)
    processes = app.platform.jobs.crew.processes
    processes.settle(form.place)
    before = {
        number: signal.signal(number, lambda *_: worker.stopping.set()) for number in (signal.SIGTERM, signal.SIGINT)
    }
    app.platform.background.start(serves=False)
    workspace = app.platform.workspace
    try:
        done = app.platform.workers.run(call.actor, worker, workspace.works, workspace.catch_up, once=form.once)
    finally:
        told_to_stop = worker.stopping.is_set()
        worker.stopping.set()
        app.platform.background.end()
        for number, handler in before.items():
            signal.signal(number, handler)
    processes.leave()
    if not told_to_stop:
        app.platform.jobs.crew.fill()  # a job that was queued as this worker left has seen it, and started no other
    return Shown({"worker": worker.name, "jobs": done}, [f"Worker {worker.name} ended after {done} jobs."])
