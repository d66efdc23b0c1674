"""The workers of this machine: as many as there is work for, up to the limit of the workspace.

Queueing a job may start a worker; waiting for one never does. One caller at a time looks after workers that died or
hang, at a fixed pace.
"""

from __future__ import annotations

import logging
import time
from typing import TYPE_CHECKING

from core.ports import Processes

if TYPE_CHECKING:
    from core.storage.state.database import Database

SHARED_LEASE = 30.0  # seconds that a job is a worker's without a sign of life, where nodes share a database
LEASE = 120.0  # the same on one machine: the kernel says at once that a worker died, and a busy one may be late
HUNG = 300.0  # seconds without a sign of life after which a worker's process is ended
PAUSE = 5.0  # seconds between two looks after the workers
LONGEST = 300.0  # seconds until workers that keep dying as they start are tried again
_LOG = logging.getLogger(__name__)


class Crew:
    """Starts workers and looks after them."""

    def __init__(self, database: Database, processes: Processes, *, shared: bool = False) -> None:
        self.database, self.processes = database, processes
        self.lease = SHARED_LEASE if shared else LEASE
        self._failures, self._later = 0, 0.0

    @property
    def limit(self) -> int:
        """How many workers this machine starts; 0 where somebody else starts them."""
        return self.processes.limit

    def fill(self) -> None:
        """Start workers for the jobs that wait and find none free, as far as there are places."""
        if not self.limit or time.monotonic() < self._later:
            return
        for _ in range(self._missing()):
            if self.processes.spawn() is None:
                return

    def _missing(self) -> int:
        jobs = self.database.jobs.open()
        waiting = sum(row.state == "queued" or row.lost for row in jobs)
        busy = {row.worker for row in jobs if row.state == "running"}
        silence = self.database.workers.silence()
        alive = self.processes.alive() if waiting else {}
        free = [name for name in alive if name not in busy and silence.get(name, 0.0) < self.lease]
        return int(waiting) - len(free)

    def tend(self) -> None:
        """Give back the jobs of workers that died, end those that hang, and fill their places."""
        if self.processes.turn(PAUSE):
            self._bury()
            self._end_hung()
            self.fill()

    def dismiss(self) -> None:
        """End every worker, before the workspace that they have open is emptied."""
        for name in self.processes.alive():
            self.processes.kill(name)

    def _bury(self) -> None:
        joined = self.database.workers.silence()
        dead = self.processes.gone()
        for name in dead:
            _LOG.warning("Worker %s died.", name)
            self.database.jobs.lose(name)
            self.database.workers.leave(name)
        if any(name not in joined for name in dead):
            self._failures += 1
            self._later = time.monotonic() + min(PAUSE * 2**self._failures, LONGEST)
        elif dead or joined:
            self._failures = 0

    def _end_hung(self) -> None:
        silence = self.database.workers.silence()
        for name, age in self.processes.alive().items():
            if silence.get(name, age) > HUNG:
                _LOG.warning("Worker %s gave no sign of life for %d s and is ended.", name, HUNG)
                self.processes.kill(name)
