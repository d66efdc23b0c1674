"""Generations on the store: files named by their content, and one pointer per profile to those that count.

    index/<profile>-<digest>/CURRENT   which generation serves, and all that are kept, newest first; replaced only if it
                                       is still as it was read
    files/<sha256>-<token>             a file of a generation, or the list of its files; written once, never replaced

Other machines see a generation as soon as CURRENT names it; everything it needs is uploaded before. A build takes over
unchanged files of the newest generation and replaces CURRENT only if that is still the newest, so none of these files
was deleted in the meantime. Files that a killed build uploaded have no reference and are deleted a day later.
"""

from __future__ import annotations

import hashlib
import json
import secrets
import time
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field, fields, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

from core import strict
from core.adapters.system import sums
from core.cures import reindex
from core.errors import Conflict, Corrupt, NotFound, Refused
from core.storage.object_store.objects import Conformance, ObjectStore
from core.types import Generation

CURRENT = "CURRENT"
_OWNER = "WORKSPACE"
ORPHANED = 24 * 3600  # seconds after which a file that no generation names belongs to no build that still runs
_TRIES = 20  # of replacing CURRENT
_AT_ONCE = 4  # files that are uploaded or fetched at a time


@dataclass(frozen=True, slots=True)
class PublishedGeneration:
    """A generation as CURRENT names it."""

    folder: str
    files: str  # the key of the list of its files
    sums: str  # the sha256 of its SHA256SUMS
    facts: Mapping[str, Any]

    @property
    def generation(self) -> Generation:
        """What is known of it; facts of a later version of Concord are left out."""
        known = {option.name for option in fields(Generation)}
        facts = {name: value for name, value in self.facts.items() if name in known}
        return Generation(**{**facts, "notes": tuple(facts.get("notes", ())), "current": False})


@dataclass(frozen=True, slots=True)
class Pointer:
    """What CURRENT says. `token` makes every version of it another text, so that its ETag is never seen twice."""

    serves: str
    pinned: bool
    generations: tuple[PublishedGeneration, ...]  # newest first
    token: str = ""
    etag: str = field(default="", compare=False)

    def named(self, folder: str) -> PublishedGeneration | None:
        return next((row for row in self.generations if row.folder == folder), None)

    @property
    def serving(self) -> PublishedGeneration:
        found = self.named(self.serves)
        if found is None:
            raise Corrupt(f"CURRENT on the store names {self.serves!r}, which is not one of its generations.")
        return found


@dataclass(frozen=True, slots=True)
class StoredFile:
    """A file on the store. `written` is when it was, in nanoseconds: copies keep it."""

    key: str
    sha256: str
    size: int
    written: int


class PublishedIndex:
    """Publishes generations and lists them. A place is the folder of one profile, such as `local-1a2b3c4d5e6f`."""

    def __init__(self, objects: ObjectStore, conformance: Conformance) -> None:
        self.objects, self.conformance = objects, conformance
        self.replaced: Callable[[], object] = lambda: None  # other nodes are told
        self._read_files = lru_cache(maxsize=64)(self._list_of_files)

    def belong(self, workspace: str) -> None:
        """Write down whose store it is, where nobody did yet; refuse the one of another workspace."""
        with suppress(Conflict):
            if self.objects.get(_OWNER) is None:
                self.objects.put(_OWNER, workspace.encode(), if_none_match=True)
        owner = self.objects.get(_OWNER)
        if owner and owner.data.decode("latin-1") != workspace:
            raise Refused(
                f"The store {self.objects.url} holds the files of another workspace. "
                "Name another prefix in CONCORD_STORE."
            )

    # ------------------------------------------------------------ looking

    def places(self) -> Mapping[str, str]:
        """Every place that has a generation, with what changes when its CURRENT does."""
        listed = self.objects.list("index/")
        return {row.key.split("/")[1]: row.etag for row in listed if row.key.endswith(f"/{CURRENT}")}

    def read(self, place: str) -> Pointer | None:
        """What is published in a place; None if nothing is."""
        stored = self.objects.get(_key(place))
        if stored is None:
            return None
        try:
            raw = json.loads(stored.data)
            rows = tuple(PublishedGeneration(**row) for row in raw["generations"])
            return Pointer(raw["serves"], raw["pinned"], rows, raw["token"], stored.etag)
        except (ValueError, KeyError, TypeError):
            raise Corrupt(f"{_key(place)} on the store {self.objects.url} is damaged. Delete it.", reindex()) from None

    def files(self, published: PublishedGeneration) -> Mapping[str, StoredFile]:
        """The files of a generation, by their path in its folder."""
        return self._read_files(published.files)

    def _list_of_files(self, key: str) -> Mapping[str, StoredFile]:
        stored = self.objects.get(key)
        if stored is None:
            raise NotFound(f"The store {self.objects.url} has no object {key!r}.")
        if not key.startswith(f"files/{hashlib.sha256(stored.data).hexdigest()}-"):
            raise Corrupt(f"{key} on the store {self.objects.url} is damaged.")
        return {name: StoredFile(**row) for name, row in json.loads(stored.data).items()}

    # ------------------------------------------------------------ publishing

    def publish(self, place: str, generation: Generation, build: Path, base: Pointer | None) -> Pointer:
        """Upload what is new in a complete folder, then let CURRENT name it. Conflict, if another build was faster."""
        began, parent = time.monotonic(), base.generations[0] if base else None
        row, uploaded = self._upload(generation, build, parent)
        try:
            if time.monotonic() - began > ORPHANED / 2:
                raise Conflict("The upload took so long that its files may have been deleted.")
            return self._add(place, row, parent, base)
        except Conflict:
            pointer = self.read(place)
            if pointer and row in pointer.generations:  # it was written, the answer got lost, and others wrote since
                return pointer
            self.objects.delete(uploaded)  # their names are this upload's own
            raise

    def _add(
        self, place: str, row: PublishedGeneration, parent: PublishedGeneration | None, base: Pointer | None
    ) -> Pointer:
        """Let CURRENT name a generation as the newest, as long as its parent is still the newest."""
        for _ in range(_TRIES):
            if parent != (base.generations[0] if base else None):
                break
            try:
                return self.replace(place, base, Pointer(row.folder, False, (row, *(base.generations if base else ()))))
            except Conflict:  # somebody rolled back, or old ones were dropped: the newest may still be the same
                base = self.read(place)
        raise Conflict(f"Another build published a generation of {place} first.", (place,))

    def point(self, place: str, folder: str, *, pinned: bool) -> Pointer:
        """Let CURRENT serve one of the generations that it names."""
        for _ in range(_TRIES):
            pointer = self.read(place)
            if pointer is None or pointer.named(folder) is None:
                raise NotFound(f"{folder} is not on the store any more.")
            if (pointer.serves, pointer.pinned) == (folder, pinned):
                return pointer
            try:
                return self.replace(place, pointer, replace(pointer, serves=folder, pinned=pinned))
            except Conflict:
                continue
        raise Conflict(f"CURRENT of {place} on the store keeps changing; try again.", (place,))

    def replace(self, place: str, old: Pointer | None, new: Pointer) -> Pointer:
        """Replace CURRENT. Conflict, if it is not the one that was read any more."""
        self.conformance.require()
        new = replace(new, token=secrets.token_hex(8))
        text = strict.canonical({name: value for name, value in strict.plain(new).items() if name != "etag"})
        etag = self.objects.put(_key(place), text.encode(), if_none_match=old is None, if_match=old.etag if old else "")
        self.replaced()
        return replace(new, etag=etag)

    def _upload(
        self, generation: Generation, build: Path, parent: PublishedGeneration | None
    ) -> tuple[PublishedGeneration, list[str]]:
        """Upload a folder; returns how CURRENT names it, and the keys that are new. Equal files are stored once."""
        token, listed = secrets.token_hex(6), sums.read(build)
        if listed is None:
            raise Corrupt(f"{build.name} has no whole list of checksums, so it is not published.")
        own = sums.sha256(build / sums.NAME)
        wanted = {**listed, sums.NAME: own}
        known = {stored.sha256: stored for stored in self.files(parent).values()} if parent else {}
        missing = {digest: name for name, digest in wanted.items() if digest not in known}
        fresh = {digest: stored_file(build / name, digest, token) for digest, name in missing.items()}
        with ThreadPoolExecutor(_AT_ONCE) as uploads:
            list(uploads.map(lambda digest: self.objects.put_file(fresh[digest].key, build / missing[digest]), missing))
        known |= fresh
        text = strict.canonical({name: known[digest] for name, digest in wanted.items()}).encode()
        key = f"files/{hashlib.sha256(text).hexdigest()}-{token}"
        self.objects.put(key, text)
        row = PublishedGeneration(generation.folder, key, own, strict.plain(generation))
        return row, [*(stored.key for stored in fresh.values()), key]

    def remove(self, place: str) -> None:
        """Forget a place; its files are deleted when they are found to be named by nobody."""
        self.objects.delete([_key(place)])


def _key(place: str) -> str:
    return f"index/{place}/{CURRENT}"


def stored_file(path: Path, digest: str, token: str) -> StoredFile:
    stat = path.stat()
    return StoredFile(f"files/{digest}-{token}", digest, stat.st_size, stat.st_mtime_ns)
