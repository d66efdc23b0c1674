"""Workers: loops that claim jobs under a lease, on any machine that reaches the database.

A worker that dies leaves a lease that runs out; another one claims the job again. Whatever it does afterwards, it cannot end
a job that is another worker's.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeVar

from core.access import Actor, require
from core.errors import ConcordError, Refused
from core.services.platform.jobs import MAX_ATTEMPTS, Job, Jobs, Work

if TYPE_CHECKING:
    from core.adapters.state.database import Database

T = TypeVar("T")
LEASE = 30.0  # seconds that a job is a worker's without a sign of life
BEAT = 5.0  # seconds between two signs of life
POLL = 0.5  # seconds between two looks for a job
CATCH_UP = 10.0  # seconds between two comparisons of main with what is indexed
LOG = 20_000  # characters of a job's log that are kept
_LOG = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Waiting:
    """Jobs that nobody does."""

    jobs: int
    workers: tuple[str, ...]  # that are alive

    @property
    def stuck(self) -> bool:
        """Whether somebody must start a worker."""
        return bool(self.jobs and not self.workers)


class JobLog(logging.Handler):
    """The end of what is logged while a job runs."""

    def __init__(self) -> None:
        super().__init__(logging.INFO)
        self.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(name)s: %(message)s"))
        self.text = ""

    def emit(self, record: logging.LogRecord) -> None:
        self.text = f"{self.text}{self.format(record)}\n"[-LOG:]


@dataclass
class Worker:
    """One loop: what it does now, and whether it should end."""

    name: str
    stopping: threading.Event = field(default_factory=threading.Event)
    job: int = 0
    log: JobLog = field(default_factory=JobLog)


class Workers:
    """Runs loops, and knows which are alive."""

    def __init__(self, database: Database, jobs: Jobs) -> None:
        self.database, self.jobs = database, jobs

    def waiting(self, actor: Actor) -> Waiting:
        """How many jobs wait for a worker, and who is there."""
        require(actor, "see jobs")
        if not self.jobs.claimed:
            return Waiting(0, ())
        alive = tuple(row["name"] for row in self.database.workers.alive(LEASE))
        queued = sum(row["state"] == "queued" or bool(row["lost"]) for row in self.jobs.rows.open())
        return Waiting(queued, alive)

    def run(
        self,
        actor: Actor,
        worker: Worker,
        works: Mapping[str, Work],
        catch_up: Callable[[], object],
        *,
        once: bool = False,
    ) -> int:
        """Claim and do jobs until told to stop, or `once` until none waits; how many were done."""
        require(actor, "work on a job")
        if not self.jobs.claimed:
            raise Refused(
                "Every job gets a process of its own here. Workers are for CONCORD_DATABASE, see docs/cluster.md."
            )
        finished, looked = 0, 0.0
        with self._beating(worker):
            while not worker.stopping.is_set():
                if time.monotonic() - looked > CATCH_UP:
                    looked = time.monotonic()
                    _tried(catch_up)
                if _tried(lambda: self._next(worker, works)):
                    finished, looked = finished + 1, 0.0  # what was merged meanwhile has not started a job of its own
                elif once:
                    break
                else:
                    worker.stopping.wait(POLL)
        return finished

    def _next(self, worker: Worker, works: Mapping[str, Work]) -> Job | None:
        number = self.jobs.rows.claim(worker.name, self.jobs.clock.stamp(), LEASE, MAX_ATTEMPTS)
        return None if number is None else self._do(worker, number, works)

    def _do(self, worker: Worker, number: int, works: Mapping[str, Work]) -> Job:
        worker.job, worker.log = number, JobLog()
        root, level = logging.getLogger(), logging.getLogger("core").level
        root.addHandler(worker.log)
        logging.getLogger("core").setLevel(logging.INFO)
        try:
            _LOG.info("Job %d begins in worker %s.", number, worker.name)
            job = self.jobs.perform(number, works, worker.name, worker.stopping.is_set)
            _LOG.info("Job %d: %s %s", number, job.state, job.error)
        except ConcordError:
            raise
        except Exception:  # the job says that it failed, its log says why; the worker goes on with the next
            _LOG.exception("Job %d failed.", number)
            job = self.jobs.get(number)
        finally:
            root.removeHandler(worker.log)
            logging.getLogger("core").setLevel(level)
            worker.job = 0
        if job.worker == worker.name:
            self.jobs.rows.set(number, log=worker.log.text)
        return job

    @contextmanager
    def _beating(self, worker: Worker) -> Iterator[None]:
        """Say that the worker is alive, and renew the lease of its job, while the block lasts."""
        ended = threading.Event()
        beats = threading.Thread(target=self._beat, args=(worker, ended), daemon=True)
        self.database.workers.join(worker.name, self.jobs.clock.stamp())
        beats.start()
        try:
            yield
        finally:
            ended.set()
            beats.join()
            self.database.workers.leave(worker.name)

    def _beat(self, worker: Worker, ended: threading.Event) -> None:
        while not ended.wait(BEAT):
            try:
                self.database.workers.see(worker.name)
                if number := worker.job:
                    self.jobs.rows.beat(number, worker.name, LEASE, worker.log.text)
            except ConcordError as error:
                _LOG.warning("No sign of life could be given: %s", error)


def _tried(work: Callable[[], T]) -> T | None:
    """What it gives; where it fails, since the database is away for example, the next look tries again."""
    try:
        return work()
    except ConcordError as error:
        _LOG.error("%s", error)
    except Exception:
        _LOG.exception("The look at what waits failed.")
    return None
