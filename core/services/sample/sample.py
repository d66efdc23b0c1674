"""The sample of a new workspace: begun before anything can be searched, ended by a job as soon as everything can, and
removed again.
"""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from core.access import ANYONE, IMPORT, SYSTEM, UPKEEP, Actor, use_case
from core.errors import Refused, StorageFailed, Unavailable, storing
from core.ports import Progress, no_progress
from core.services.jobs.jobs import Job, Jobs
from core.services.platform.settings import TeamSettings
from core.services.sample.past import SamplePast

if TYPE_CHECKING:
    from core.storage.git.repository import Repository
    from core.storage.index.generations import Generations
    from core.storage.state.database import Database


FOLDERS = ("impact", "as_of", "models", "cache")
MARK = "emptying"  # a file that says that it has begun


@dataclass(frozen=True, slots=True)
class Eraser:
    """What a workspace is made of, and how a new one begins."""

    home: Path
    repository: Repository
    database: Database
    generations: Generations
    team_settings: TeamSettings
    begin: Sequence[Callable[[], object]]
    shared: bool  # with other machines, which would go on with what they have

    def erase(self) -> None:
        """Everything, and begin anew with nothing."""
        if self.shared:
            raise Refused(
                "Other machines share this workspace. Start with another database, repository and store instead."
            )
        with storing(self.home):
            (self.home / MARK).touch()
            profiles = self.team_settings.profiles()
            self.database.erase()
            for profile in profiles:  # before the repository, whose commits they name
                self.generations.remove(profile)
            self.repository.erase()
            for name in FOLDERS:
                shutil.rmtree(self.home / name, ignore_errors=True)
            for step in self.begin:
                step()
            (self.home / MARK).unlink()

    def resume(self) -> None:
        """End what a kill interrupted."""
        if (self.home / MARK).exists():
            self.erase()


JOB = "sample"
BEGUN, WHOLE = "begun", "whole"
PATIENCE = 20.0  # seconds that a job has to stop


class Sample:
    """Fills an empty workspace with the sample; `past` opens it with a clock that can be set back."""

    def __init__(
        self,
        team_settings: TeamSettings,
        jobs: Jobs,
        past: Callable[[], SamplePast],
        eraser: Eraser,
        ended: Callable[[], object] = lambda: None,
    ) -> None:
        """`ended` is called when everything was played."""
        self.team_settings = team_settings
        self.jobs = jobs
        self._past = past
        self._eraser = eraser
        self._ended = ended

    @use_case("import documents", IMPORT, whole=True)
    def begin(self, actor: Actor, progress: Progress = no_progress) -> None:
        """Documents, changes and what was said about them, over half a year."""
        if self.team_settings.repository.head():
            raise Refused("There are documents here already. The sample begins in an empty workspace.")
        past = self._past()
        past.play(past.script.past, progress)
        past.tuning.production.team_settings.set_sample(BEGUN, SYSTEM.person)

    @use_case(ANYONE)
    def here(self) -> bool:
        """Whether this knowledge base is the sample."""
        return bool(self.team_settings.sample())

    @use_case(UPKEEP)
    def start(self) -> Job | None:
        """After an index build: what people did in the search, as a job; None where it is done, or is no sample."""
        with suppress(StorageFailed):  # the next build asks again
            return self.jobs.start(JOB, {}) if self.team_settings.sample() == BEGUN else None
        return None

    @use_case(UPKEEP)
    def follow(self) -> None:
        """After an index build: go on; `ended` where there is nothing left to play, which else moves what is in
        production.
        """
        if self.start() is None:
            self._ended()

    @use_case(UPKEEP)
    def resume(self) -> None:
        """End an emptying that was killed."""
        self._eraser.resume()

    def work(self, arguments: Mapping[str, Any], progress: Progress) -> Any:
        self.jobs.actor(arguments, "run an evaluation")  # whether they still may
        if self.team_settings.sample() == BEGUN:
            past = self._past()
            past.play(past.script.later, progress)
            past.tuning.production.team_settings.set_sample(WHOLE, SYSTEM.person)
            self._ended()
        return {"state": self.team_settings.sample()}

    @use_case("restore the workspace", whole=True)
    def remove(self, actor: Actor) -> None:
        """Empty the workspace: documents, changes, questions, measurements, accounts, index and caches of the sample
        go.
        """
        if not self.here():
            raise Refused("This knowledge base is not the sample. Nothing was removed.")
        self._stop_jobs(actor)
        self._eraser.erase()
        self.jobs.audit.note(actor, "remove the sample", "everything")

    def _stop_jobs(self, actor: Actor) -> None:
        """What is being computed would be written into the empty workspace."""
        for job in self.jobs.recent():
            if job.open:
                self.jobs.cancel(actor, job.id)
        end = time.monotonic() + PATIENCE
        while any(job.open for job in self.jobs.recent()):
            if time.monotonic() > end:
                raise Unavailable("A job is still at work and was asked to stop. Try again in a moment.")
            time.sleep(0.1)
        self.jobs.crew.dismiss()
