"""Backups: one consistent point of repository, database and files, taken while people work, and the way back.

Writers wait only while the branches are listed and the database's snapshot begins. The backup's repository has every
commit that its database names, because commits are never removed and the branches are those of that moment.
"""

from __future__ import annotations

import logging
import shutil
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from core import __version__
from core.access import BACKUP, READS, SYSTEM, UPKEEP, Actor, use_case
from core.cures import VERIFY, finish_restore, restore
from core.errors import BadInput, Corrupt, Unavailable, storage_failure
from core.ports import Clock, Progress, no_progress
from core.services.people.audit import Audit
from core.services.platform.settings import TeamSettings
from core.storage.state.sqlite import SqliteDatabase

if TYPE_CHECKING:
    from core.adapters.system.backup_files import Archives
    from core.storage.git.repository import Repository
    from core.storage.index.generations import Generations
    from core.storage.object_store.stored_backups import StoredBackups
    from core.storage.state.database import Database, Rehearsal


_MAIN = "refs/heads/main"
_LOG = logging.getLogger(__name__)
_MODELS = "models"  # files that are only ever replaced as a whole


@dataclass(frozen=True, slots=True)
class Backup:
    """A backup that is complete."""

    folder: str
    created: str
    version: str
    commit: str  # the newest one of main
    branches: int
    files: int
    bytes: int


@dataclass(frozen=True, slots=True)
class Backups:
    """Takes backups of the workspace in `home`, and restores one into it."""

    home: Path
    repository: Repository
    database: Database
    generations: Generations
    team_settings: TeamSettings
    archives: Archives
    audit: Audit
    clock: Clock
    open_database: Callable[[str], Database]  # behind a URL; that of the workspace's own file for ""
    ready: Callable[[Progress], tuple[str, ...]]  # makes restored files a workspace; returns what does not agree
    stored: StoredBackups

    @use_case("back up the workspace", BACKUP, whole=True)
    def upload(
        self, actor: Actor, address: str, *, with_index: bool = False, progress: Progress = no_progress
    ) -> Backup:
        """Save the workspace on a store, at an address that starts with s3://."""
        self.stored.refuse(address)
        with self.stored.scratch(address) as folder:
            backup = self.take(actor, folder, with_index=with_index, progress=progress)
            self.stored.upload(folder, address)
        return replace(backup, folder=address)

    @use_case("back up the workspace", whole=True)
    def take(self, actor: Actor, target: Path, *, with_index: bool = False, progress: Progress = no_progress) -> Backup:
        """Save the workspace as it is at one moment in a new folder."""
        self.archives.refuse(target.resolve(), self.home.resolve())
        backup = self.save(target, progress, with_index=with_index)
        self.audit.note(actor, "back up", target.name, detail=f"{backup.files} files, {backup.bytes} bytes")
        progress(3, 3, "Done")
        return backup

    def save(self, target: Path, progress: Progress, *, with_index: bool = False) -> Backup:
        """The same without a word in the database, which may be of an earlier version."""
        target = target.resolve()
        if damages := self.repository.lost(self.database.facts().commit):
            raise Corrupt("\n".join(map(str, damages)))
        with self.archives.writing(target) as folder:
            if with_index:  # before the moment, so that it is never ahead of the documents
                progress(0, 3, "Copying the index")
                self._copy_index(folder)
            progress(1, 3, "Copying documents and database")
            with self.database.frozen(self.repository.heads) as (heads, copy_database):
                copy_database(folder / "app.db")
            self._refuse_fewer(self.repository.copy(folder / "kb.git", heads), heads)
            _copy_folder(self.home / _MODELS, folder / _MODELS)
            progress(2, 3, "Writing the manifest")
            facts = {
                "workspace": self.repository.workspace(),
                "version": __version__,
                "created": self.clock.stamp(),
                "branches": heads,
            }
            return _backup(target, self.archives.publish(folder, target, facts))

    def _refuse_fewer(self, copy: Repository, heads: Mapping[str, str]) -> None:
        """A backup holds every document that Concord shows, also where git lists no main line."""
        shown = self.repository.paths(heads.get(_MAIN) or self.repository.head())
        kept = copy.paths(copy.head())
        if missing := sorted({*shown} - {*kept}):
            raise Corrupt(
                f"The backup would hold {len(kept)} of {len(shown)} files of the knowledge base: "
                f"{missing[0]!r} is missing. Nothing was saved.",
                VERIFY,
            )

    def _copy_index(self, folder: Path) -> None:
        for profile in self.team_settings.profiles():
            with suppress(Unavailable):  # a profile that was never built
                self.generations.copy(profile, folder / "index")

    # ------------------------------------------------------------ the way back

    @use_case("restore the workspace", BACKUP, whole=True)
    def download(self, actor: Actor, address: str, progress: Progress = no_progress) -> Backup:
        """Fill an empty workspace from a backup on a store."""
        with self.stored.scratch(address) as folder:
            self.stored.download(address, folder)
            return replace(self.restore(actor, folder, progress, address), folder=address)

    @use_case("restore the workspace", whole=True)
    def restore(self, actor: Actor, source: Path, progress: Progress = no_progress, address: str = "") -> Backup:
        """Fill an empty workspace from a backup, build its index, verify. `address`: of a backup from elsewhere."""
        source = source.resolve()
        self._refuse_store()
        progress(0, 3, "Checking the backup")
        manifest = self.archives.checked(source)
        SqliteDatabase(source / "app.db").facts()  # refuses what this version cannot open
        backup = _backup(source, manifest)
        if self.archives.half_restored(self.home) is None:
            self.archives.refuse_occupied(self.home)
            self.database.refuse_taken()
        with self.archives.restoring(self.home, address or str(source)):
            progress(1, 3, "Copying files")
            self.archives.unpack(source, manifest, self.home)
            self.repository.refuse_foreign_config()
            self.database.load(self.home / "app.db")
            if problems := self.ready(progress):
                said = " ".join(problems)
                raise storage_failure(said, self.home) or Corrupt(
                    f"The restored workspace does not agree with itself: {said}"
                )
            with self.database.transaction() as state:
                state.sessions.end_everybody()  # whoever signed out since would be signed in again
                state.tokens.revoke_everybody(self.clock.stamp())  # and a revoked token would be good again
            self.audit.note(actor, "restore", source.name, detail=f"as of {backup.created}")
        return backup

    def _refuse_store(self) -> None:
        """Machines that run would be given the index of the backup."""
        copies = self.generations.copies
        if copies and copies.index.places():
            raise BadInput(
                f"The store {copies.index.objects.url} serves machines already, "
                "and a restore would replace their index. Restore without CONCORD_STORE, or with an empty prefix."
            )

    @use_case("restore the workspace", whole=True)
    def move(self, actor: Actor, url: str, progress: Progress = no_progress) -> str:
        """Copy every row into the empty database behind a URL and put the old file aside, while Concord is stopped."""
        target = self.open_database(url)
        if target.place == self.database.place:
            raise BadInput(f"The database is in {target.place} already.")
        target.refuse_taken()
        self.audit.note(actor, "move the database", target.place)
        progress(0, 2, "Copying the database")
        copied = self.home / "moving.db"
        copied.unlink(missing_ok=True)  # of a move that was interrupted
        with self.database.frozen(lambda: None) as (_, copy_database):
            copy_database(copied)
        progress(1, 2, "Filling the other one")
        target.load(copied)
        self.database.retire()
        progress(2, 2, "Done")
        return target.place

    @use_case(UPKEEP)
    def refuse_half_restored(self) -> None:
        """A workspace whose restore was interrupted is not used before the restore was finished."""
        source = self.archives.half_restored(self.home)
        if source is not None:
            raise Unavailable(f"The workspace {str(self.home)!r} is half restored.", finish_restore(source))


def _copy_folder(source: Path, target: Path) -> None:
    if source.is_dir():
        shutil.copytree(
            source, target, ignore=shutil.ignore_patterns(".*")
        )  # without files that are just being written


def _backup(folder: Path, manifest: Mapping[str, Any]) -> Backup:
    files = manifest["files"]
    return Backup(
        folder=str(folder),
        created=manifest["created"],
        version=manifest["version"],
        commit=manifest["branches"].get(_MAIN, ""),
        branches=len(manifest["branches"]),
        files=len(files),
        bytes=sum(row["size"] for row in files),
    )


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
    migrate: Callable[[], object]

    @use_case(UPKEEP)
    def begin(self) -> None:
        """Save and migrate a workspace of an earlier version, before a server or `init` opens it."""
        if self.database.on_server or not self.database.earlier():
            return
        self.backups.refuse_half_restored()
        with self.backups.archives.upgrading(self.backups.home, self.database.earlier) as (have, place):
            if not have:
                return  # another process was faster
            saved = self.backups.save(place, no_progress)
            self.migrate()
            self.audit.note(SYSTEM, "upgrade", place.name, detail=f"from {have}")
            _LOG.warning("Upgraded from revision %d. The workspace is saved as it was. %s", have, way_back(saved))

    @use_case("upgrade the workspace", READS)
    def check(self, actor: Actor, progress: Progress = no_progress) -> Upgrade:
        """What an upgrade does, and how long it takes. Nothing is changed, and people work on meanwhile."""
        progress(0, 1, "Migrating a copy")
        rehearsal, profile = self.database.rehearse(), self.backups.team_settings.profile()
        progress(1, 1, "Done")
        served = self.backups.generations.current(profile) or not self.backups.repository.head()
        return Upgrade(rehearsal, "kept" if served else "built")

    @use_case("upgrade the workspace")
    def run(self, actor: Actor, target: Path | None, progress: Progress = no_progress) -> Upgrade:
        """Try it on a copy, save the workspace as it is in a new folder, upgrade, build the words of the index, verify.

        Without a folder, the database is on a server and was saved with the tools of that server.
        """
        self._refuse(target)
        plan = self.check(actor, progress)
        if not plan.database.needed and plan.index == "kept":
            return plan
        saved = self.backups.save(target, progress) if target else None
        if problems := self.backups.ready(progress):
            raise Corrupt(f"The upgraded workspace does not agree with itself: {' '.join(problems)} {way_back(saved)}")
        detail = f"from {plan.database.have} to {plan.database.newest}"
        self.audit.note(actor, "upgrade", target.name if target else self.database.name, detail=detail)
        return Upgrade(plan.database, plan.index, saved)

    def _refuse(self, target: Path | None) -> None:
        """Refuse a way of saving that this database does not have."""
        if target:
            self.backups.archives.refuse(target.resolve(), self.backups.home.resolve())
        if self.database.on_server == bool(target) and self.database.earlier():
            raise BadInput(f"The database is {self.database.place}.", self.database.upgrade)


def way_back(saved: Backup | None) -> str:
    """How the version before gets the workspace that it left."""
    if saved is None:
        return "The way back, with the version before: the dump of the database."
    return f"The way back, with the version before and into an empty workspace: {restore(saved.folder).command}"
