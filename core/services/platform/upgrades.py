"""Upgrades: an older workspace is tried on a copy, saved as it is, and brought to this version. The way back is what was saved."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from core.access import READS, Actor, use_case
from core.errors import Corrupt
from core.ports import Progress, no_progress
from core.services.people.audit import Audit
from core.services.platform.backups import Backup, Backups

if TYPE_CHECKING:
    from core.storage.state.database import Database, Rehearsal


@dataclass(frozen=True, slots=True)
class Upgrade:
    """What brings a workspace to this version."""

    database: Rehearsal
    index: str  # kept, or built
    backup: Backup | None = None  # the workspace as it was


@dataclass(frozen=True, slots=True)
class Upgrades:
    """Works on a database that was not opened yet: opening it brings it to this version."""

    database: Database
    backups: Backups
    audit: Audit

    @use_case("upgrade the workspace", READS)
    def check(self, actor: Actor, progress: Progress = no_progress) -> Upgrade:
        """What an upgrade does, and how long it takes. Nothing is changed, and people work on meanwhile."""
        progress(0, 1, "Migrating a copy")
        rehearsal, profile = self.database.rehearse(), self.backups.team_settings.profile()
        progress(1, 1, "Done")
        served = self.backups.generations.current(profile) or not self.backups.repository.head()
        return Upgrade(rehearsal, "kept" if served else "built")

    @use_case("upgrade the workspace")
    def run(self, actor: Actor, target: Path, progress: Progress = no_progress) -> Upgrade:
        """Try it on a copy, save the workspace as it is in a new folder, upgrade, build the words of the index, verify."""
        plan = self.check(actor, progress)
        if not plan.database.needed and plan.index == "kept":
            return plan
        saved = self.backups.save(target, progress)
        if problems := self.backups.ready(progress):
            raise Corrupt(f"The upgraded workspace does not agree with itself: {' '.join(problems)} {way_back(saved)}")
        detail = f"from {plan.database.have} to {plan.database.newest}"
        self.audit.note(actor, "upgrade", target.name, detail=detail)
        return Upgrade(plan.database, plan.index, saved)


def way_back(saved: Backup) -> str:
    """How the version before gets the workspace that it left."""
    return f"The way back, with the version before and into an empty workspace: python -m core restore {saved.folder}"
