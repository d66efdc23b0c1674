"""Workers: loops that claim jobs under a lease, in processes of this machine or of any other that reaches the database.

The lease of a worker that dies runs out, and another worker claims the job again. No worker ends a job of another one.
"""

from __future__ import annotations

import logging
import math
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeVar

from core.access import JOB, READS, Actor, use_case
from core.errors import ConcordError
from core.logs import REQUEST
from core.services.jobs.jobs import Job, Jobs, Work
from core.types import JOB_WAITS

if TYPE_CHECKING:
    from core.storage.state.database import Database

T = TypeVar("T")
BEAT = 5.0  # seconds between two signs of life
POLL = 0.5  # seconds between two looks for a job, where nobody tells of one
IDLE = 20.0  # seconds without a job after which a worker that Concord started ends
CATCH_UP = 10.0  # seconds between two comparisons of main with what is indexed
LOG = 20_000  # characters of a job's log that are kept
_LOG = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Waiting:
    """Jobs that nobody does."""

    jobs: int
    workers: tuple[str, ...]  # that are alive
    stuck: bool  # somebody must start a worker


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
    idle: float = math.inf  # seconds without a job after which it ends
    job: int = 0
    log: JobLog = field(default_factory=JobLog)


class Workers:
    """Runs loops, and knows which are alive."""

    def __init__(self, database: Database, jobs: Jobs) -> None:
        self.database, self.jobs = database, jobs

    @use_case("see jobs", READS)
    def waiting(self, actor: Actor) -> Waiting:
        """How many jobs wait for a worker, and who is there."""
        alive = tuple(row.name for row in self.database.workers.alive(self.jobs.crew.lease))
        queued = sum(row.state == "queued" or row.lost for row in self.jobs.rows.open())
        return Waiting(queued, alive, bool(queued and not alive and not self.jobs.crew.limit))

    @use_case("work on a job", JOB, whole=True)
    def run(
        self,
        actor: Actor,
        worker: Worker,
        works: Mapping[str, Work],
        catch_up: Callable[[], object],
        *,
        once: bool = False,
    ) -> int:
        """Claim and do jobs until told to stop, until none waits (`once`), or until none came for a while.

        Returns how many were done.
        """
        finished, looked, busy = 0, 0.0, time.monotonic()
        with self._beating(worker):
            while not worker.stopping.is_set():
                if time.monotonic() - looked > CATCH_UP:
                    looked = time.monotonic()
                    _tried(catch_up)
                if _tried(lambda: self._next(worker, works)):
                    finished, looked = finished + 1, 0.0  # what was merged meanwhile has not started a job of its own
                    busy = time.monotonic()
                    if self.jobs.crew.processes.large():
                        break
                elif once or time.monotonic() - busy > worker.idle:
                    break
                else:
                    self.database.wait(JOB_WAITS, worker.stopping, POLL)
        return finished

    def _next(self, worker: Worker, works: Mapping[str, Work]) -> Job | None:
        number = self.jobs.claim(worker.name)
        return None if number is None else self._do(worker, number, works)

    def _do(self, worker: Worker, number: int, works: Mapping[str, Work]) -> Job:
        worker.job, worker.log = number, JobLog()
        REQUEST.set(self.jobs.request(number))
        root, level = logging.getLogger(), logging.getLogger("core").level
        root.addHandler(worker.log)
        logging.getLogger("core").setLevel(logging.INFO)
        try:
            _LOG.info("Job %d begins in worker %s.", number, worker.name)
            job = self.jobs.perform(number, works, worker.name, worker.stopping.is_set)
            if job.worker in (worker.name, ""):
                _LOG.info("Job %d: %s %s", number, job.state, job.error)
            else:
                _LOG.info("Job %d: worker %s has taken it over.", number, job.worker)
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
                    self.jobs.rows.beat(number, worker.name, self.jobs.crew.lease, worker.log.text)
            except ConcordError as error:
                _LOG.warning("No sign of life could be given: %s", error)


def _tried(work: Callable[[], T]) -> T | None:
    """What it gives; where it fails, since the database is away for example, the next look tries again."""
    try:
        return work()
    except ConcordError as error:
        _LOG.error("%s", error.at_terminal())
    except Exception:
        _LOG.exception("The look at what waits failed.")
    return None
