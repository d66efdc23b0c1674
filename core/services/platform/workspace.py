"""The workspace: created or migrated on first use, caught up after a crash, warmed before the first visitor."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from core.services.platform.jobs import Job, Jobs, Work


@dataclass(frozen=True, slots=True)
class Workspace:
    """What every door does before it serves."""

    setup: Sequence[Callable[[], object]]
    jobs: Jobs
    behind: Callable[[], Job | None]
    warmup: Sequence[Callable[[], object]]
    works: Mapping[str, Work]  # by kind of job

    def create(self) -> None:
        """Create the workspace, or migrate it to this version."""
        for step in self.setup:
            step()

    def catch_up(self) -> Job | None:
        """Resume interrupted jobs; start a build if the index is behind the newest commit."""
        self.jobs.sweep()
        return self.behind()

    def warm(self) -> None:
        """Load what the first search would wait for: compiled loops, the production index and its model."""
        for step in self.warmup:
            step()
