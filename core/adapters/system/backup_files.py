"""Backups on disk: folders of plain files with a manifest that names each by size and sha256.

A backup gets its name only when everything in it is on the disk, the manifest last.
"""

from __future__ import annotations

import errno
import hashlib
import os
import re
import shutil
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from core import strict
from core.adapters.system.files import (
    flock,
    fsync_folder,
    fsync_tree,
    read_json,
    scratch_folder,
    sweep,
    try_flock,
    write_atomic,
)
from core.errors import BadInput, Conflict, Corrupt, NotFound, storing

MANIFEST = "MANIFEST.json"
FORMAT = 1
_RESTORING = "RESTORING"  # lies in a workspace until its restore is finished, and names the backup
_UNFINISHED = ".concord-backup-"
_UPGRADES, _KEPT = "upgrades", 2  # folder of a workspace, and how many copies it keeps
_PLACES = re.compile(  # what a backup holds; a hook or another setting of git would be run as a program
    r"app\.db|(?:models|reports|index)/.+|kb\.git/(?:HEAD|config|packed-refs|objects/pack/pack-[0-9a-f]{40}\.(?:pack"
    r"|idx|rev))"
)


class Archives:
    """Writes and reads backups."""

    def refuse(self, target: Path, home: Path) -> None:
        """A backup never replaces anything, and never lies inside what it saves."""
        if target.is_relative_to(home):
            raise BadInput(
                f"{str(target)!r} lies inside the workspace, and would be lost with it. Name a folder elsewhere."
            )
        if target.exists() and (not target.is_dir() or any(target.iterdir())):
            raise BadInput(f"There already is something in {str(target)!r}. Name a folder that does not exist yet.")

    @contextmanager
    def writing(self, target: Path) -> Iterator[Path]:
        """A private folder beside `target` to put files in; `publish` gives it its name. What killed ones left is
        swept.
        """
        with storing(target):
            target.parent.mkdir(parents=True, exist_ok=True)
            sweep(target.parent, _UNFINISHED)
            with scratch_folder(target.parent, _UNFINISHED, 0o700) as folder:
                yield folder

    @contextmanager
    def upgrading(self, home: Path, earlier: Callable[[], int]) -> Iterator[tuple[int, Path]]:
        """The revision that an earlier version left in a workspace, and a place in it for a backup of that. One
        process at a time; the copies of the newest revisions are kept.
        """
        folder = home / _UPGRADES
        with storing(home):
            folder.mkdir(0o700, exist_ok=True)
            with flock(folder / ".lock"):
                have = earlier()
                place = folder / f"revision-{have:04}"
                if have:
                    shutil.rmtree(place, ignore_errors=True)
                yield have, place
                for old in sorted(folder.glob("revision-*"))[:-_KEPT]:
                    shutil.rmtree(old, ignore_errors=True)

    def publish(self, folder: Path, target: Path, facts: Mapping[str, Any]) -> dict[str, Any]:
        """Write the manifest and give the backup its name, at once and only if nobody took it meanwhile."""
        value = {"format": FORMAT, **facts, "files": [_described(folder, name) for name in _files(folder)]}
        manifest = {**value, "sha256": _digest(value)}
        fsync_tree(folder)
        write_atomic(folder / MANIFEST, strict.canonical(manifest))
        try:
            folder.rename(target)
        except OSError as error:
            if error.errno not in (errno.ENOTEMPTY, errno.EEXIST):
                raise
            raise BadInput(f"Something else took the name {str(target)!r} meanwhile. Name another folder.") from None
        fsync_folder(target.parent)
        return manifest

    def checked(self, folder: Path) -> dict[str, Any]:
        """The manifest of a backup, after every file was compared with it."""
        if not (folder / MANIFEST).is_file():
            raise NotFound(f"There is no backup in {str(folder)!r}: it has no {MANIFEST}.")
        manifest = read_json(folder / MANIFEST)
        value = dict(manifest) if isinstance(manifest, dict) else {}
        if value.pop("sha256", "") != _digest(value):
            raise Corrupt(f"The backup in {str(folder)!r} is damaged: {MANIFEST}. Take another backup.")
        if value["format"] != FORMAT:
            raise BadInput(
                f"The backup in {str(folder)!r} is of format {value['format']}, which this version cannot read."
            )
        damaged = [row["path"] for row in value["files"] if not _known(row["path"]) or not _whole(folder, row)]
        if damaged:
            more = f" and {len(damaged) - 10} more" if len(damaged) > 10 else ""
            raise Corrupt(
                f"The backup in {str(folder)!r} is damaged: {', '.join(damaged[:10])}{more}. "
                "Nothing was restored. Take another backup."
            )
        return value

    def half_restored(self, home: Path) -> str | None:
        """The backup that an interrupted restore into `home` read from, or None."""
        try:
            return (home / _RESTORING).read_text(encoding="utf-8") or "DIR"
        except OSError:
            return None

    def refuse_occupied(self, home: Path) -> None:
        """A restore fills an empty workspace."""
        if home.is_dir() and any(home.iterdir()):
            raise BadInput(
                f"The workspace {str(home)!r} is not empty, and a restore replaces nothing. "
                "Name another one with --home, or move this one away."
            )

    @contextmanager
    def restoring(self, home: Path, source: str) -> Iterator[None]:
        """Claim an empty workspace, or one that an interrupted restore left; the mark goes when the block ends well."""
        if self.half_restored(home) is None:
            self.refuse_occupied(home)
        with storing(home):
            home.mkdir(parents=True, exist_ok=True)
            descriptor = try_flock(home / _RESTORING)
        if descriptor is None:
            raise Conflict(f"Another process is restoring {str(home)!r}. Wait until it has finished.")
        with storing(home), os.fdopen(descriptor, "w", encoding="utf-8") as mark:
            mark.write(source)
            mark.flush()
            os.fsync(descriptor)
            _empty(home)
            yield
            (home / _RESTORING).unlink()
        fsync_folder(home)

    def unpack(self, folder: Path, manifest: Mapping[str, Any], home: Path) -> None:
        """Copy every file of a backup to its place, synced."""
        for row in manifest["files"]:
            place = home / row["path"]
            place.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(folder / row["path"], place)
        fsync_tree(home)


def _empty(home: Path) -> None:
    for path in home.iterdir():
        if path.is_dir():
            shutil.rmtree(path)
        elif path.name != _RESTORING:
            path.unlink()


def _files(folder: Path) -> list[str]:
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())


def _described(folder: Path, name: str) -> dict[str, Any]:
    path = folder / name
    return {"path": name, "size": path.stat().st_size, "sha256": _sha256(path)}


def _known(path: str) -> bool:
    """Whether a file belongs into a backup, under a path inside of it.

    >>> _known("app.db"), _known("models/../../x"), _known("/etc/passwd"), _known("kb.git/hooks/reference-transaction")
    (True, False, False, False)
    """
    return _PLACES.fullmatch(path) is not None and ".." not in Path(path).parts


def _whole(folder: Path, row: Mapping[str, Any]) -> bool:
    path = folder / row["path"]
    try:
        return bool(os.stat(path).st_size == row["size"] and _sha256(path) == row["sha256"])
    except OSError:
        return False


def _sha256(path: Path) -> str:
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _digest(value: Mapping[str, Any]) -> str:
    return hashlib.sha256(strict.canonical(value).encode()).hexdigest()
