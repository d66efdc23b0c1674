"""Long work: it runs in a process of its own, shows progress, can be cancelled, and goes on after a kill."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from core.errors import Cancelled, ConcordError, NotFound
from core.ports import Clock, Database, Processes, Progress

MAX_ATTEMPTS = 5
_PAUSE = 0.25  # seconds between two progress notes in the database
_OPEN = ("queued", "running")

Work = Callable[[Mapping[str, Any], Progress], Any]


@dataclass(frozen=True, slots=True)
class Job:
    """One piece of long work. `state`: queued, running, done, failed or cancelled."""

    id: int
    kind: str
    arguments: Mapping[str, Any]
    state: str
    done: int
    total: int
    message: str
    error: str
    result: Any
    attempts: int
    created: str
    started: str
    ended: str

    @property
    def open(self) -> bool:
        """Whether it is still to be finished."""
        return self.state in _OPEN


def seconds_left(job: Job, now: datetime) -> float | None:
    """How long the present part of a job will take, at the speed it had so far; None while nobody can know.

    >>> job = Job(1, "reindex", {}, "running", 25, 100, "", "", None, 1, "", "2026-01-01T00:00:00+00:00", "")
    >>> seconds_left(job, datetime.fromisoformat("2026-01-01T00:00:10+00:00"))
    30.0
    """
    if job.state != "running" or not job.started or job.done <= 0 or job.total <= job.done:
        return None
    spent = (now - datetime.fromisoformat(job.started)).total_seconds()
    return max(0.0, spent * (job.total - job.done) / job.done)


class Jobs:
    """The queue of long work, kept in the database."""

    def __init__(self, database: Database, processes: Processes, clock: Clock) -> None:
        self.database, self.processes, self.clock = database, processes, clock

    def start(self, kind: str, arguments: Mapping[str, Any]) -> Job:
        """Queue work and start a process for it; the same work is not queued twice."""
        packed = json.dumps(arguments, sort_keys=True)
        same = self.database.query(
            "SELECT id FROM jobs WHERE kind = ? AND arguments = ? AND state IN ('queued', 'running')", (kind, packed)
        )
        if same:
            return self.get(same[0]["id"])
        number = self.database.insert(
            "INSERT INTO jobs (kind, arguments, state, created) VALUES (?, ?, 'queued', ?)",
            (kind, packed, self.clock.stamp()),
        )
        self.processes.spawn(number)
        return self.get(number)

    def get(self, number: int) -> Job:
        """One job."""
        rows = self.database.query("SELECT * FROM jobs WHERE id = ?", (number,))
        if not rows:
            raise NotFound(f"There is no job {number}. List them with: python -m core jobs list")
        return _job(rows[0])

    def recent(self, limit: int = 20) -> tuple[Job, ...]:
        """Jobs, newest first."""
        return tuple(_job(row) for row in self.database.query("SELECT * FROM jobs ORDER BY id DESC LIMIT ?", (limit,)))

    def cancel(self, number: int) -> Job:
        """Ask a job to stop; what it finished stays."""
        self.get(number)
        self.database.execute("UPDATE jobs SET cancel = 1 WHERE id = ? AND state IN ('queued', 'running')", (number,))
        return self.get(number)

    def sweep(self) -> tuple[int, ...]:
        """Start again what lost its process; give up on what keeps dying."""
        resumed = []
        for row in self.database.query("SELECT id, attempts FROM jobs WHERE state IN ('queued', 'running')"):
            if self.processes.alive(row["id"]):
                continue
            if row["attempts"] >= MAX_ATTEMPTS:
                self._end(
                    row["id"],
                    "failed",
                    error=f"The process ended {row['attempts']} times without finishing. See its log.",
                )
            elif self.database.execute(
                "UPDATE jobs SET state = 'queued' WHERE id = ? AND state IN ('queued', 'running')", (row["id"],)
            ):
                self.processes.spawn(row["id"])
                resumed.append(row["id"])
        return tuple(resumed)

    def run(self, number: int, kinds: Mapping[str, Work]) -> Job:
        """Do the work of a job in this process. A second worker for the same job finds nothing to do."""
        with self.processes.holding(number):
            job = self.get(number)
            if not job.open:
                return job
            self.database.execute(
                "UPDATE jobs SET state = 'running', started = ?, attempts = attempts + 1 WHERE id = ?",
                (self.clock.stamp(), number),
            )
            try:
                result = kinds[job.kind](job.arguments, self._reporter(number))
                self._end(number, "done", result=result)
            except Cancelled:
                self._end(number, "cancelled")
            except ConcordError as error:
                self._end(number, "failed", error=str(error))
            except Exception as error:
                self._end(number, "failed", error=f"Unexpected: {type(error).__name__}. See the job's log.")
                raise
            return self.get(number)

    def _reporter(self, number: int) -> Progress:
        last = 0.0

        def report(done: int, total: int, what: str) -> None:
            nonlocal last
            if time.monotonic() - last < _PAUSE and done < total:
                return
            last = time.monotonic()
            self.database.execute(
                "UPDATE jobs SET done = ?, total = ?, message = ? WHERE id = ?", (done, total, what, number)
            )
            if self.database.query("SELECT cancel FROM jobs WHERE id = ?", (number,))[0]["cancel"]:
                raise Cancelled("Cancelled.")

        return report

    def _end(self, number: int, state: str, *, result: Any = None, error: str = "") -> None:
        self.database.execute(
            "UPDATE jobs SET state = ?, ended = ?, result = ?, error = ? WHERE id = ?",
            (state, self.clock.stamp(), json.dumps(result), error, number),
        )


def _job(row: Mapping[str, Any]) -> Job:
    names = list(Job.__dataclass_fields__)
    values = {name: row[name] for name in names}
    return Job(**{**values, "arguments": json.loads(row["arguments"]), "result": json.loads(row["result"] or "null")})
