"""Jobs on the command line: long work in the background, and the worker that does it."""

from __future__ import annotations

import logging
import math
import signal
import sys
import threading
from argparse import SUPPRESS, Namespace
from functools import partial
from typing import TYPE_CHECKING, Any

from core import strict
from core.entrypoints.session import acting, open_app
from core.entrypoints.terminal import Terminal, table
from core.errors import ConcordError
from core.services.platform.workers import IDLE, Waiting, Worker
from core.settings import Settings, node_name

if TYPE_CHECKING:
    from core.bootstrap import App

LOG = logging.getLogger(__name__)
STORE_PAUSE = 1.0  # seconds between two looks at the store


def register(add: Any) -> None:
    """The commands of `jobs`, and `worker`, which Concord starts itself or people start on machines of their own."""
    jobs = add.group_of("jobs")
    jobs("list", jobs_list, "running and past jobs")
    jobs("waiting", jobs_waiting, "how many wait for a worker, and which workers are alive")
    for name, run, about in (
        ("log", jobs_log, "what a job printed"),
        ("cancel", jobs_cancel, "ask a job to stop"),
    ):
        jobs(name, run, about).add_argument("job", type=int, metavar="N")
    loop = add("worker", run_worker)
    loop.add_argument("--name", default="", help="what jobs and lists call it (default: the node's name)")
    loop.add_argument("--once", action="store_true", help="end when no job waits")
    loop.add_argument("--place", type=int, default=0, help=SUPPRESS)  # the lock that whoever started it hands over


def jobs_list(settings: Settings, options: Namespace, terminal: Terminal) -> int:
    app = open_app(settings)
    jobs = app.platform.jobs.listed(acting(app, options))
    rows = [
        (job.id, job.kind, job.state, f"{job.done}/{job.total}", job.worker, job.message or job.error, job.created)
        for job in jobs
    ]
    lines = table(rows, ("n", "kind", "state", "progress", "worker", "message", "created"))
    waiting = app.platform.workers.waiting(acting(app, options))
    lines += [_stuck(waiting)] if waiting.stuck else []
    terminal.show([strict.plain(job) for job in jobs], lines)
    return 0


def jobs_waiting(settings: Settings, options: Namespace, terminal: Terminal) -> int:
    """Exit 1 where jobs wait and nobody will do them."""
    app = open_app(settings)
    waiting = app.platform.workers.waiting(acting(app, options))
    said = f"{waiting.jobs} waiting. Workers that are alive: {', '.join(waiting.workers) or 'none'}."
    terminal.show(strict.plain(waiting), [_stuck(waiting) if waiting.stuck else said])
    return 1 if waiting.stuck else 0


def _stuck(waiting: Waiting) -> str:
    return f"{waiting.jobs} waiting, and no worker is alive. Start one with: python -m core worker"


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


def run_worker(settings: Settings, options: Namespace, terminal: Terminal) -> int:
    """Until SIGTERM or Ctrl-C: then what is under way is handed to another worker."""
    app = open_app(settings)
    level = logging.WARNING if options.quiet else logging.INFO
    logging.basicConfig(level=level, format="%(asctime)s %(message)s", stream=sys.stderr)
    worker = Worker(options.name or node_name(settings), idle=IDLE if options.place else math.inf)
    processes = app.platform.jobs.crew.processes
    processes.settle(options.place)
    before = {
        number: signal.signal(number, lambda *_: worker.stopping.set()) for number in (signal.SIGTERM, signal.SIGINT)
    }
    for follow in (app.platform.follower.run, partial(_follow_store, app)):
        threading.Thread(target=follow, args=(worker.stopping,), daemon=True).start()
    workspace = app.platform.workspace
    try:
        done = app.platform.workers.run(
            acting(app, options), worker, workspace.works, workspace.catch_up, once=options.once
        )
    finally:
        told_to_stop = worker.stopping.is_set()
        worker.stopping.set()
        for number, handler in before.items():
            signal.signal(number, handler)
    processes.leave()
    if not told_to_stop:
        app.platform.jobs.crew.fill()  # a job that was queued as this worker left has seen it, and started no other
    terminal.show({"worker": worker.name, "jobs": done}, [f"Worker {worker.name} ended after {done} jobs."])
    return 0


def _follow_store(app: App, ending: threading.Event) -> None:
    """Have here what other machines publish, and say what is in use here."""
    while app.index.following.state and not ending.wait(STORE_PAUSE):
        try:
            app.index.following.tick()
        except ConcordError as error:
            LOG.error("The store was not followed: %s", error)
    app.index.following.stop()
