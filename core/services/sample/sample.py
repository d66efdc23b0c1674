"""The sample of a new workspace: begun before anything can be searched, ended by a job as soon as everything can."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any

from core.access import EVERYBODY, IMPORT, SYSTEM, UPKEEP, Actor, use_case
from core.errors import Refused, StorageFailed
from core.ports import Progress, no_progress
from core.services.platform.jobs import Job, Jobs
from core.services.platform.settings import TeamSettings
from core.services.sample.past import Past

JOB = "sample"
BEGUN, WHOLE = "begun", "whole"


class Sample:
    """Fills an empty workspace with the sample; `past` opens it with a clock that can be set back."""

    def __init__(self, team_settings: TeamSettings, jobs: Jobs, past: Callable[[], Past]) -> None:
        self.team_settings, self.jobs, self._past = team_settings, jobs, past

    @use_case("import documents", IMPORT)
    def begin(self, actor: Actor, progress: Progress = no_progress) -> None:
        """Documents, changes and what was said about them, over half a year."""
        if self.team_settings.repository.head():
            raise Refused("There are documents here already. The sample begins in an empty workspace.")
        past = self._past()
        past.play(past.script.past, progress)
        past.production.team_settings.set_sample(BEGUN, SYSTEM.person)

    @use_case(EVERYBODY)
    def here(self) -> bool:
        """Whether this knowledge base is the sample."""
        return bool(self.team_settings.sample())

    @use_case(UPKEEP)
    def start(self) -> Job | None:
        """After an index build: what people did in the search, as a job; None where it is done, or is no sample."""
        with suppress(StorageFailed):  # the next build asks again
            return self.jobs.start(JOB, {}) if self.team_settings.sample() == BEGUN else None
        return None

    def work(self, arguments: Mapping[str, Any], progress: Progress) -> Any:
        """The job."""
        self.jobs.actor(arguments, "run an evaluation")  # whether they still may
        if self.team_settings.sample() == BEGUN:
            past = self._past()
            past.play(past.script.later, progress)
            past.production.team_settings.set_sample(WHOLE, SYSTEM.person)
        return {"state": self.team_settings.sample()}
