"""Backups on a store: the files of a backup below one address, its manifest last."""

from __future__ import annotations

import json
import re
import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

from core.errors import BadInput, Conflict, Corrupt, NotFound, storing
from core.storage.object_store.objects import ObjectStore

_MANIFEST = "MANIFEST.json"
_AT_ONCE = 4  # files that are uploaded or fetched at a time


class StoredBackups:
    """Takes a backup from a folder to a store, and back."""

    def refuse(self, url: str) -> None:
        """A backup never replaces anything."""
        if next(_objects(url).list(""), None):
            raise BadInput(f"There already is something in {url!r}. Name a place that does not exist yet.")

    @contextmanager
    def scratch(self, url: str) -> Iterator[Path]:
        """A folder on this machine with the name of the backup; it goes when the block ends."""
        with storing(tempfile.gettempdir()), tempfile.TemporaryDirectory(prefix="concord-backup-") as folder:
            yield Path(folder) / url.rstrip("/").rpartition("/")[2]

    def upload(self, folder: Path, url: str) -> None:
        """Put every file of a complete backup there; it counts from the moment in which its manifest is there."""
        objects = ObjectStore(url)
        names = [str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()]
        with ThreadPoolExecutor(_AT_ONCE) as uploads:
            list(uploads.map(lambda name: objects.put_file(name, folder / name), [n for n in names if n != _MANIFEST]))
        try:
            objects.put(_MANIFEST, (folder / _MANIFEST).read_bytes(), if_none_match=True)
        except Conflict:
            raise BadInput(f"Something else took the name {url!r} meanwhile. Name another place.") from None

    def download(self, url: str, folder: Path) -> None:
        """Fetch a backup as it is; whoever reads it compares it with its manifest."""
        objects = _objects(url)
        manifest = objects.get(_MANIFEST)
        if manifest is None:
            raise NotFound(f"There is no backup in {url!r}: it has no {_MANIFEST}.")
        try:
            names = [str(row["path"]) for row in json.loads(manifest.data)["files"]]
        except (ValueError, KeyError, TypeError):
            raise Corrupt(f"The backup in {url!r} is damaged: {_MANIFEST}. Take another backup.") from None
        folder.mkdir(parents=True)
        (folder / _MANIFEST).write_bytes(manifest.data)
        with ThreadPoolExecutor(_AT_ONCE) as fetches:
            list(fetches.map(lambda name: self._fetch(objects, name, folder), names))

    def _fetch(self, objects: ObjectStore, name: str, folder: Path) -> None:
        target = folder / name
        if not target.resolve().is_relative_to(folder.resolve()):
            raise Corrupt(f"The backup in {objects.url!r} names a file outside of it: {name!r}.")
        target.parent.mkdir(parents=True, exist_ok=True)
        objects.fetch(name, target)


def _objects(url: str) -> ObjectStore:
    if not re.fullmatch(r"s3://[a-z0-9][a-z0-9.-]+/[\w./-]*\w/?", url):
        raise BadInput(f"A backup on a store is named like s3://bucket/backups/monday, got {url!r}.")
    return ObjectStore(url)
