"""The workspace: created or migrated on first use, caught up after a crash, warmed before the first visitor; and the work of a day."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import date

from core.access import UPKEEP, use_case
from core.errors import ConcordError, StorageFailed, Unavailable
from core.ports import Clock
from core.services.jobs.jobs import Job, Jobs, Work
from core.services.platform.guard import WorkspaceGuard


@dataclass(frozen=True, slots=True)
class Workspace:
    """What every door does before it serves."""

    guard: WorkspaceGuard
    setup: Sequence[Callable[[], object]]
    repairs: Sequence[Callable[[], object]]  # after the setup, where the disk can be written
    sweeps: Sequence[Callable[[], object]]  # remove what killed processes left, and tell owners what is due
    jobs: Jobs
    behind: Callable[[], Job | None]
    warmup: Sequence[Callable[[], object]]
    works: Mapping[str, Work]  # by kind of job

    @use_case(UPKEEP)
    def create(self) -> None:
        """Create the workspace, or migrate it to this version. One that cannot be written is opened as it is."""
        for step in self.setup:
            step()
        with suppress(StorageFailed, Unavailable):
            for step in self.repairs:
                step()

    @use_case(UPKEEP)
    def catch_up(self) -> Job | None:
        """Remove what killed processes left, look after the workers, start a build if the index is behind the newest commit."""
        with suppress(StorageFailed):
            for sweep in self.sweeps:
                sweep()
            self.jobs.tend()
            return self.behind()
        return None

    @use_case(UPKEEP)
    def warm(self) -> None:
        """Load what the first search would wait for: compiled loops, the production index and its model."""
        for step in self.warmup:
            step()


HOUR, WEEK, PAUSE = 3600.0, 7 * 86_400.0, 600.0  # seconds
_LOG = logging.getLogger(__name__)


class Daily:
    """Runs the work of a day: at the start, and after midnight while the app runs. Each piece knows by itself what is done.

    Where nodes share a database, the first to `claim` the day does it for all; if it dies, another one does after an hour.
    """

    def __init__(
        self,
        clock: Clock,
        works: Sequence[Callable[[], object]],
        claim: Callable[[str, float], bool] = lambda name, seconds: True,
    ) -> None:
        self.clock, self.works, self.claim = clock, works, claim
        self._done: date | None = None
        self._again = 0.0  # when to ask once more whether the node that does it is alive

    @use_case(UPKEEP)
    def run(self) -> bool:
        """Do it, unless it was done today; whether it was. What fails is logged and does not stop the rest."""
        today = self.clock.today()
        if self._done == today or time.monotonic() < self._again:
            return False
        if not self.claim(f"day {today}", HOUR):
            self._again = time.monotonic() + PAUSE
            return False
        self._done = today
        for work in self.works:
            try:
                work()
            except ConcordError as error:
                _LOG.warning("The work of the day was not finished: %s", error)
        self.claim(f"day {today}", WEEK)
        return True
