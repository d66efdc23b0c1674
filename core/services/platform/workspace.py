"""The workspace: created or migrated on first use, caught up after a crash, warmed before the first visitor."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass

from core.access import UPKEEP, use_case
from core.errors import StorageFailed, Unavailable
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
