"""Empties a workspace: repository, database, index, caches and what was made from them. One that was killed is ended at the next start."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from core.errors import Refused, storing
from core.services.platform.settings import TeamSettings

if TYPE_CHECKING:
    from core.storage.git.repository import Repository
    from core.storage.index.generations import Generations
    from core.storage.state.database import Database

FOLDERS = ("impact", "as_of", "models", "reports", "cache")
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
