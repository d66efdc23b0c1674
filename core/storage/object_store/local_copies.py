"""Copies of published generations on this machine: fetched aside, checked file by file, put in place by one rename.

Whoever moves the local CURRENT reads the one on the store again under a lock, so that the last move follows the newest.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path

from core.adapters.system import sums
from core.adapters.system.files import flock, fsync_folder, fsync_tree, scratch_folder, sweep
from core.cures import reindex
from core.errors import Corrupt, NotFound, Unavailable
from core.storage.index import index_damage
from core.storage.object_store.collection import Collector
from core.storage.object_store.published import Pointer, PublishedGeneration, PublishedIndex, StoredFile
from core.types import Generation

_FETCHING = "fetching-"
_TRIES = 5  # of following a CURRENT that moves on while its generation is fetched
_AT_ONCE = 4  # files that are fetched at a time
_REINDEX = reindex(full=True)


class PublishedGenerations:
    """The generations of the store that are here: a folder per profile, named like its place on the store."""

    def __init__(self, index: PublishedIndex, collector: Collector) -> None:
        self.index, self.collector = index, collector
        self._seen: dict[str, Pointer] = {}  # by place: what was published when this process looked last
        self._base: dict[str, Pointer | None] = {}  # by place: what was published when the build that runs began

    def published(self, folder: Path) -> tuple[Generation, ...]:
        """What was published when this process looked last, whether it is here or not."""
        pointer = self._seen.get(folder.name)
        return tuple(row.generation for row in pointer.generations) if pointer else ()

    # ------------------------------------------------------------ following

    def follow(self, folder: Path, *, newest: bool = False) -> Pointer | None:
        """Fetch what serves and serve it; with `newest` also what a build starts from. None if nothing is published."""
        for attempt in range(_TRIES):
            pointer = self.index.read(folder.name)
            if pointer is None:
                return None
            try:
                for row in (pointer.serving, pointer.generations[0])[: 2 if newest else 1]:
                    self._bring(folder, row)
            except NotFound as error:  # it was retired since CURRENT was read, or its files are lost
                if attempt == _TRIES - 1:
                    raise Corrupt(str(error), _REINDEX) from None
                continue
            if self._point(folder, pointer):
                self._seen[folder.name] = pointer
                return pointer
        raise Unavailable(f"What is published of {folder.name} keeps changing; try again.")

    def moved(self, folders: Iterable[Path]) -> list[Path]:
        """The folders that do not serve what is published, as far as one request and this process can tell."""
        etags = self.index.places()
        seen = {folder: self._seen.get(folder.name) for folder in folders if folder.name in etags}
        return [
            folder
            for folder, pointer in seen.items()
            if pointer is None or pointer.etag != etags[folder.name] or not _says(folder, pointer)
        ]

    def discard(self, generations: Iterable[Path]) -> None:
        """Remove damaged copies, so that whole ones are fetched."""
        for path in generations:
            with suppress(FileNotFoundError):
                _discard(path)

    def _bring(self, folder: Path, row: PublishedGeneration) -> None:
        if not here(folder, row):
            fetch(self.index, folder, row)

    def _point(self, folder: Path, pointer: Pointer) -> bool:
        """Serve what CURRENT on the store says; False if it says something else by now."""
        with flock(folder / "POINTING"):
            if _says(folder, pointer):
                return True
            now = self.index.read(folder.name)
            if now is None or now.token != pointer.token:
                return False
            index_damage.point(folder, pointer.serves, pinned=pointer.pinned)
        return True

    # ------------------------------------------------------------ building

    def begin(self, folder: Path) -> None:
        """Bring what a build starts from; what lies here under a number that another machine gave is removed."""
        pointer = self._base[folder.name] = self.follow(folder, newest=True)
        if pointer is None:
            return
        newest = pointer.generations[0]
        if any(index_damage.changed_files(folder / newest.folder)):
            _discard(folder / newest.folder)
            fetch(self.index, folder, newest)
        names = [name for name in os.listdir(folder) if index_damage.NAME.fullmatch(name)]
        for name in names:
            if index_damage.number(name) >= index_damage.number(newest.folder) and pointer.named(name) is None:
                _discard(folder / name)

    def publish(self, folder: Path, generation: Generation, build: Path) -> None:
        """Publish a complete folder under its name, here and on the store. Conflict, if another machine was faster."""
        pointer = self.index.publish(folder.name, generation, build, self._base.get(folder.name))
        self._base[folder.name] = pointer
        row = pointer.named(generation.folder)
        if row and build.name != generation.folder:
            _place(build, folder / generation.folder, row)
        fsync_folder(folder)
        self.follow(folder)
        with suppress(Unavailable):  # it is published; what is left is collected another time
            self.collector.retire(folder.name)

    def serve(self, folder: Path, name: str, *, pinned: bool) -> None:
        """Serve another generation, on every machine."""
        self.index.point(folder.name, name, pinned=pinned)
        self.follow(folder)

    def listed(self, folder: Path, name: str) -> bool:
        """Whether a generation is published."""
        pointer = self.index.read(folder.name)
        return bool(pointer and pointer.named(name))

    def remove(self, folder: Path) -> None:
        self.index.remove(folder.name)
        self._seen.pop(folder.name, None)


def _says(folder: Path, pointer: Pointer) -> bool:
    said = index_damage.pointer(folder)
    return (said.get("folder"), said.get("pinned")) == (pointer.serves, pointer.pinned)


def here(folder: Path, published: PublishedGeneration) -> bool:
    """Whether the very generation lies in the folder of its profile, with all its files."""
    path = folder / published.folder
    return sums.is_whole(path / sums.NAME, published.sums) and all(
        (path / name).is_file() for name in sums.read(path) or ()
    )


def fetch(index: PublishedIndex, folder: Path, published: PublishedGeneration) -> None:
    """Bring a generation here. Files that lie here already, in another generation, are linked instead of fetched."""
    files = index.files(published)
    folder.mkdir(parents=True, exist_ok=True)
    sweep(folder, _FETCHING)
    with scratch_folder(folder, _FETCHING) as aside:
        known = _whole_files(folder, {stored.sha256 for stored in files.values()})
        with ThreadPoolExecutor(_AT_ONCE) as fetches:
            list(fetches.map(lambda name: _bring_file(index, files[name], aside / name, known), files))
        if not sums.is_whole(aside / sums.NAME, published.sums) or _differ(aside, files):
            raise Corrupt(f"{published.folder} on the store is not what was published.", _REINDEX)
        fsync_tree(aside)
        _place(aside, folder / published.folder, published)
    fsync_folder(folder)


def _whole_files(folder: Path, wanted: set[str]) -> Mapping[str, Path]:
    """Files of the generations here, by checksum; only those that still have it."""
    whole: dict[str, Path] = {}
    for path in sorted(folder.glob("gen-*"), reverse=True):
        for name, digest in (sums.read(path) or {}).items():
            if digest in wanted and digest not in whole and sums.is_whole(path / name, digest):
                whole[digest] = path / name
    return whole


def _bring_file(index: PublishedIndex, stored: StoredFile, target: Path, known: Mapping[str, Path]) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    if not stored.size:  # PIN among them, which is locked and must be a file of its own
        target.touch()
    elif stored.sha256 in known:
        os.link(known[stored.sha256], target)
    elif index.objects.fetch(stored.key, target) != stored.sha256:
        raise Corrupt(f"{stored.key} on the store {index.objects.url} is damaged.", _REINDEX)
    else:
        os.utime(target, ns=(stored.written, stored.written))


def _differ(aside: Path, files: Mapping[str, StoredFile]) -> bool:
    listed = sums.read(aside)
    return listed is None or listed != {name: stored.sha256 for name, stored in files.items() if name != sums.NAME}


def _place(aside: Path, final: Path, published: PublishedGeneration) -> None:
    """Give it its name. A damaged one makes room, and one that somebody brought meanwhile stays."""
    if final.exists() and not here(final.parent, published):
        _discard(final)
    try:
        aside.rename(final)
    except OSError:
        if not here(final.parent, published):
            raise


def _discard(path: Path) -> None:
    """Remove a generation; whoever reads it keeps the files that are open."""
    leaving = path.with_name(f"leaving-{path.name}-{os.getpid()}")
    path.rename(leaving)
    shutil.rmtree(leaving, ignore_errors=True)
