"""Folders that machines share file by file: trained models and reports. Each file is only ever replaced as a whole.

    shared/<folder>        the list of its files, replaced on the condition that nobody replaced it since it was read
    files/<sha256>-<token> their contents, as those of generations

A file that changed here since the last look is uploaded; one that changed there is fetched, checked and put in place.
If both changed, the file here wins.
"""

from __future__ import annotations

import json
import os
import secrets
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from core import strict
from core.adapters.system import sums
from core.adapters.system.files import read_json, scratch_folder, sweep, write_atomic
from core.errors import Conflict, Corrupt
from core.storage.object_store.objects import Conformance, ObjectStore
from core.storage.object_store.published import StoredFile, stored_file

SHARED = "shared/"
_SYNCED = ".store.json"  # path to checksum, as of the last look
_ASIDE = ".fetching-"
_TRIES = 20
_LAST = ("modules.json", "card.json")  # a folder with these is a whole model


def shared_keys(objects: ObjectStore) -> Iterator[str]:
    """The files that the lists of shared folders name."""
    for row in objects.list(SHARED):
        stored = objects.get(row.key)
        yield from (file["key"] for file in json.loads(stored.data)["files"].values()) if stored else ()


@dataclass(frozen=True, slots=True)
class FolderList:
    """The list of a shared folder on the store."""

    files: Mapping[str, StoredFile]
    etag: str = ""


class SharedFolder:
    """One folder of the workspace, the same on all machines."""

    def __init__(self, objects: ObjectStore, conformance: Conformance, root: Path) -> None:
        self.objects = objects
        self.conformance = conformance
        self.root = root
        self.key = SHARED + root.name

    def sync(self) -> None:
        """Upload what is new here, fetch what is new there."""
        for _ in range(_TRIES):
            listed, here, synced = self.listed(), self._here(), read_json(self.root / _SYNCED) or {}
            changed = {path for path, digest in here.items() if synced.get(path) != digest}
            changed -= {path for path in changed if path in listed.files and listed.files[path].sha256 == here[path]}
            try:
                listed = self._push(listed, {path: here[path] for path in sorted(changed)})
            except Conflict:
                continue
            self._pull(listed.files, here)
            if (now := {path: stored.sha256 for path, stored in listed.files.items()}) != synced:
                self.root.mkdir(parents=True, exist_ok=True)
                write_atomic(self.root / _SYNCED, strict.canonical(now))
            return
        raise Conflict(f"The list of {self.root.name} on the store keeps changing; try again.")

    def listed(self) -> FolderList:
        """What is shared."""
        stored = self.objects.get(self.key)
        if stored is None:
            return FolderList({})
        try:
            rows = json.loads(stored.data)["files"]
            return FolderList({path: StoredFile(**row) for path, row in rows.items()}, stored.etag)
        except (ValueError, KeyError, TypeError):
            raise Corrupt(f"{self.key} on the store {self.objects.url} is damaged. Delete it.") from None

    def _here(self) -> dict[str, str]:
        paths = [path for path in self.root.rglob("*") if path.is_file()] if self.root.is_dir() else []
        names = {str(path.relative_to(self.root)): path for path in paths}
        return {
            name: sums.sha256(path)
            for name, path in names.items()
            if not any(part.startswith(".") or part.endswith(".part") for part in Path(name).parts)
        }

    def _push(self, listed: FolderList, changed: Mapping[str, str]) -> FolderList:
        if not changed:
            return listed
        self.conformance.require()
        token = secrets.token_hex(6)
        files = {path: stored_file(self.root / path, digest, token) for path, digest in changed.items()}
        for path, stored in files.items():
            self.objects.put_file(stored.key, self.root / path)
        merged = {**listed.files, **files}
        text = strict.canonical({"files": merged, "token": token}).encode()
        try:
            etag = self.objects.put(self.key, text, if_none_match=not listed.etag, if_match=listed.etag)
        except Conflict:
            self.objects.delete(stored.key for stored in files.values())
            raise
        return FolderList(merged, etag)

    def _pull(self, files: Mapping[str, StoredFile], here: Mapping[str, str]) -> None:
        """Fetch aside and check everything first, then put it in place; what makes a model whole comes last."""
        missing = [path for path, stored in files.items() if here.get(path) != stored.sha256]
        if not missing:
            return
        sweep(self.root, _ASIDE)
        with scratch_folder(self.root, _ASIDE) as aside:
            for n, path in enumerate(missing):
                if {"..", "/"} & {*Path(path).parts} or self.objects.fetch(files[path].key, aside / str(n)) != files[
                    path
                ].sha256:
                    raise Corrupt(f"{path} of {self.root.name} is damaged on the store {self.objects.url}.")
            for n, path in sorted(enumerate(missing), key=lambda row: (Path(row[1]).name in _LAST, row[1])):
                (self.root / path).parent.mkdir(parents=True, exist_ok=True)
                os.replace(aside / str(n), self.root / path)
