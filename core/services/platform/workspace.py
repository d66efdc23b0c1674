"""The workspace as a whole: made or migrated on first use, caught up after a crash, warmed before the first visitor."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from core.services.platform.jobs import Job, Jobs, Work


@dataclass(frozen=True, slots=True)
class Workspace:
    """What every door does before it serves anybody."""

    setup: Sequence[Callable[[], object]]
    jobs: Jobs
    behind: Callable[[], Job | None]
    warmup: Sequence[Callable[[], object]]
    works: Mapping[str, Work]  # what a worker can run, by kind of job

    def create(self) -> None:
        """Make the workspace if it is not there, or migrate it to this version."""
        for step in self.setup:
            step()

    def catch_up(self) -> Job | None:
        """Resume interrupted jobs; if the index does not serve the newest commit, start to build it."""
        self.jobs.sweep()
        return self.behind()

    def warm(self) -> None:
        """Load what the first search would wait for: compiled loops, the production index and its model."""
        for step in self.warmup:
            step()
