"""Long work: a job is queued, claimed by a worker, reports progress, can be cancelled, and resumes after a kill."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import datetime
from typing import TYPE_CHECKING, Any

from core.access import READS, SYSTEM, UPKEEP, Actor, require, use_case
from core.cures import JOBS
from core.errors import Busy, Cancelled, ConcordError, NotFound, storage_failure
from core.logs import REQUEST
from core.ports import Clock, Progress
from core.services.jobs.crew import Crew
from core.services.people.accounts import Accounts
from core.services.people.audit import Audit
from core.storage.state.records import JobRow, of_row
from core.types import JOB_WAITS

if TYPE_CHECKING:
    from core.storage.state.database import Database

MAX_ATTEMPTS = 5
MOST_OPEN = 100  # jobs of one account
_PAUSE = 0.25  # seconds between two progress updates in the database
_OPEN = ("queued", "running")
# Whatever makes a merge searchable is done first, for everybody; a person's short work goes before their long work.
_FIRST = ("reindex",)
_SHORT = ("remote", "answers", "impact", "drift", "verify", "check-model")

_TOO_LARGE = "It needs more memory than a worker may take. An admin can raise CONCORD_WORKER_MEMORY."

_TOO_MANY = "{} jobs that you asked for wait or run. Ask for more when some of them are done, or cancel some."

Work = Callable[[Mapping[str, Any], Progress], Any]


@dataclass(frozen=True, slots=True)
class Job:
    """`state`: queued, running, done, failed or cancelled."""

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
    worker: str = ""  # who has it, where workers claim jobs

    @property
    def open(self) -> bool:
        """Whether it is queued or running."""
        return self.state in _OPEN


def seconds_left(job: Job, now: datetime) -> float | None:
    """How long the current part of a job will take at its speed so far; None while that is unknown.

    >>> job = Job(1, "reindex", {}, "running", 25, 100, "", "", None, 1, "", "2026-01-01T00:00:00+00:00", "")
    >>> seconds_left(job, datetime.fromisoformat("2026-01-01T00:00:10+00:00"))
    30.0
    >>> seconds_left(job, datetime.fromisoformat("2025-12-31T23:00:00+00:00"))
    """
    if job.state != "running" or not job.started or job.done <= 0 or job.total <= job.done:
        return None
    spent = (now - datetime.fromisoformat(job.started)).total_seconds()
    return spent * (job.total - job.done) / job.done if spent > 0 else None  # the clock may have been set back


class HandedBack(Cancelled):
    """A worker that ends gives its job to another one."""


class Jobs:
    """The job queue, in the database. The audit says who asked for a job, and how it ended."""

    def __init__(self, database: Database, crew: Crew, clock: Clock, accounts: Accounts, audit: Audit) -> None:
        self.database, self.rows, self.crew = database, database.jobs, crew
        self.clock, self.accounts, self.audit = clock, accounts, audit

    def start(
        self,
        kind: str,
        arguments: Mapping[str, Any],
        actor: Actor | None = None,
        *,
        cause: Actor = SYSTEM,
        again: bool = False,
    ) -> Job:
        """Queue a job, and start a worker if none is free; the same job is not queued twice.

        With `again`, a job that runs already runs once more.

        Only the id and the door of the actor are stored: `actor()` checks the rights when the job runs. Without an
        actor it is the system's own: a build after a merge, a measurement after a build; `cause` is who merged.
        """
        who = {"who": actor.id, "door": actor.door} if actor else {}
        packed = json.dumps({**arguments, **who}, sort_keys=True)
        with self.database.transaction() as state:  # two processes may ask at once
            same = state.jobs.same(kind, packed)
            if same is not None:
                if again:
                    state.jobs.set(same.id, again=1)
                return _job(same)
            if (
                actor
                and sum(json.loads(row.arguments).get("who") == actor.id for row in state.jobs.open()) >= MOST_OPEN
            ):
                raise Busy(_TOO_MANY.format(MOST_OPEN))
            asker = actor or cause
            asked = json.dumps(asdict(replace(asker, request=asker.request or REQUEST.get())))
            now = self.clock.stamp()
            number = state.jobs.add(kind=kind, arguments=packed, state="queued", created=now, asked=asked)
            detail = "" if actor else "by itself; "
            self.audit.record(
                state, actor or cause, "start a job", f"{kind} {number}", detail=detail + _words(arguments)
            )
        self.database.notify(JOB_WAITS)
        self.crew.fill()
        return self.get(number)

    def request(self, number: int) -> str:
        """The id of the request that asked for a job; "" where none did."""
        row = self.rows.get(number)
        return str(json.loads(row.asked).get("request", "")) if row and row.asked else ""

    def record(self, actor: Actor, kind: str, arguments: Mapping[str, Any], result: Any) -> Job:
        """Work that was done without a job, at the terminal, among the jobs: pages show its result like theirs."""
        packed, now = json.dumps({**arguments, "who": actor.id, "door": actor.door}, sort_keys=True), self.clock.stamp()
        with self.database.transaction() as state:
            number = state.jobs.add(
                kind=kind,
                arguments=packed,
                state="done",
                created=now,
                started=now,
                ended=now,
                asked=json.dumps(asdict(actor)),
                result=json.dumps(result),
            )
            self.audit.record(state, actor, "job done", f"{kind} {number}", detail=_words(arguments))
        return self.get(number)

    def actor(self, arguments: Mapping[str, Any], action: str) -> Actor:
        """Who started a job, if they may still do it: an account can lose its role while the job waits."""
        actor = self.accounts.returning(arguments["who"], arguments["door"]) if "who" in arguments else SYSTEM
        require(actor, action)
        return actor

    @use_case("see jobs", READS)
    def listed(self, actor: Actor, limit: int = 20) -> tuple[Job, ...]:
        """The newest jobs, for those who may see them."""
        return self.recent(limit)

    @use_case("see jobs", READS)
    def show(self, actor: Actor, number: int) -> Job:
        """A job, for those who may see it."""
        return self.get(number)

    @use_case("see the log of a job", READS)
    def log(self, actor: Actor, number: int) -> str:
        """What a job printed."""
        return self.rows.log(self.get(number).id)

    def get(self, number: int) -> Job:
        row = self.rows.get(number)
        if row is None:
            raise NotFound(f"There is no job {number}.", JOBS)
        return _job(row)

    def recent(self, limit: int = 20) -> tuple[Job, ...]:
        return tuple(_job(row) for row in self.rows.newest(limit))

    def cancel(self, actor: Actor, number: int) -> Job:
        """Ask a job to stop; finished work stays."""
        job = self.get(number)
        with self.database.transaction() as state:
            if state.jobs.set_open(number, cancel=1):
                self.audit.record(state, actor, "cancel a job", f"{job.kind} {number}")
        if job.state == "queued":
            self._end(number, "cancelled")  # nobody has begun
        return self.get(number)

    @use_case(UPKEEP)
    def tend(self) -> None:
        """Look after the workers, and fail the jobs that lost theirs MAX_ATTEMPTS times."""
        self.crew.tend()
        for row in self.rows.open():
            if row.lost and row.attempts >= MAX_ATTEMPTS:
                why = f"The process ended {row.attempts} times without finishing. See its log."
                self._end(row.id, "failed", worker=row.worker, error=why)

    def claim(self, worker: str) -> int | None:
        """The job that is next in line, now this worker's; None if none waits for it."""
        while waiting := self.rows.waiting(MAX_ATTEMPTS):
            if all(row.kind not in _FIRST for row in waiting) and self._is_last_free():
                return None
            number = next_in_line([(row.id, row.kind, _asker(row.asked)) for row in waiting])
            if self.rows.claim(number, worker, self.clock.stamp(), self.crew.lease):
                return number
        return None

    def _is_last_free(self) -> bool:
        """Whether every other worker of several has long work: then this one is kept for builds.

        It does not matter where this node starts workers by itself.
        """
        alive = {row.name for row in self.database.workers.alive(self.crew.lease)} if not self.crew.limit else set()
        held = (row for row in self.rows.open() if row.state == "running" and not row.lost)
        busy = {row.worker for row in held if row.kind not in _FIRST}
        return len(alive) > 1 and len(alive & busy) >= len(alive) - 1

    def run(self, number: int, kinds: Mapping[str, Work], worker: str = "this process") -> Job:
        """Claim a job and do it; one that ended, or that another worker has, stays as it is."""
        if not self.rows.claim(number, worker, self.clock.stamp(), self.crew.lease):
            return self.get(number)
        return self.perform(number, kinds, worker)

    def perform(
        self, number: int, kinds: Mapping[str, Work], worker: str, stopping: Callable[[], bool] = lambda: False
    ) -> Job:
        """Do a job that is this worker's, and write down how it ended. With `stopping` it is handed back."""
        job = self.get(number)
        try:
            ended = False
            while not ended:
                self.rows.report(number, worker, again=0)
                result = kinds[job.kind](job.arguments, self._reporter(number, worker, stopping))
                ended = self._end(number, "done", worker=worker, result=result)
        except HandedBack:
            self.rows.hand_back(number, worker)
            self.database.notify(JOB_WAITS)
        except Cancelled:
            self._end(number, "cancelled", worker=worker)
        except ConcordError as error:
            self._end(number, "failed", worker=worker, error=str(error))
        except MemoryError:
            self._end(number, "failed", worker=worker, error=_TOO_LARGE)
        except Exception as error:
            if failure := storage_failure(error):
                self._end(number, "failed", worker=worker, error=str(failure))
                return self.get(number)
            why = f"Unexpected: {type(error).__name__}. See the job's log."
            self._end(number, "failed", worker=worker, error=why)
            raise
        return self.get(number)

    def _reporter(self, number: int, worker: str, stopping: Callable[[], bool]) -> Progress:
        last = 0.0

        def report(done: int, total: int, what: str) -> None:
            nonlocal last
            if time.monotonic() - last < _PAUSE and done < total:
                return
            last = time.monotonic()
            cancelled = self.rows.report(number, worker, done=done, total=total, message=what)
            if cancelled is None:
                raise Cancelled("Another worker has taken it over.")
            if cancelled:
                raise Cancelled("Cancelled.")
            if stopping():
                raise HandedBack("The worker is stopping; another one goes on.")

        return report

    def _end(self, number: int, state: str, *, worker: str = "", result: Any = None, error: str = "") -> bool:
        """Whether it ended: one that was asked for again goes on. Jobs of other workers stay as they are."""
        ended = {"state": state, "ended": self.clock.stamp(), "result": json.dumps(result), "error": error}
        with self.database.transaction() as writing:
            row = writing.jobs.get(number)
            if row is None or row.worker != worker or row.state not in _OPEN:
                return True
            if row.again and state == "done":
                return False
            writing.jobs.set(number, **ended)
            asked = _asked(row.asked)
            self.audit.record(writing, asked, f"job {state}", f"{row.kind} {number}", detail=error)
        return True


def next_in_line(waiting: Sequence[tuple[int, str, str]]) -> int:
    """The next of the jobs that wait, oldest first: builds, then the account that waits longest, its short work first.

    >>> next_in_line([(1, "evaluate", "ann"), (2, "impact", "bob"), (3, "verify", "ann")])
    3
    >>> next_in_line([(1, "evaluate", "ann"), (2, "reindex", "bob")])
    2
    """
    person = waiting[0][2]

    def place(job: tuple[int, str, str]) -> tuple[bool, bool, bool, int]:
        number, kind, asker = job
        return kind not in _FIRST, asker != person, kind not in _SHORT, number

    return min(waiting, key=place)[0]


def _asked(asked: str) -> Actor:
    """Who asked for a job, as it is kept."""
    lists = {"groups", "folders"}
    kept: dict[str, Any] = json.loads(asked) if asked else {}
    kept |= {name: tuple(kept[name]) for name in lists & kept.keys()}
    return Actor(**kept) if kept else SYSTEM


def _asker(asked: str) -> str:
    return str(json.loads(asked)["id"]) if asked else ""


def _words(arguments: Mapping[str, Any]) -> str:
    """Arguments in one line; a switch by its name, if it is on.

    >>> _words({"profile": "local", "full": True, "again": False, "name": ""})
    'profile local, full'
    """
    given = {name: value for name, value in arguments.items() if value not in ("", False)}
    return ", ".join(name if value is True else f"{name} {value}" for name, value in given.items())


def _job(row: JobRow) -> Job:
    return of_row(Job, row, arguments=json.loads(row.arguments), result=json.loads(row.result or "null"))
