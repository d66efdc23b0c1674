"""Opening generations: pinned by their readers, opened once, and kept until another one is published."""

from __future__ import annotations

import fcntl
import os
import shutil
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from functools import cached_property
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from core.errors import Corrupt, Unavailable
from core.storage.index import index_damage
from core.storage.index.generation_list import Catalogue, Parent, folder_name
from core.storage.object_store.local_copies import PublishedGenerations
from core.types import Profile

if TYPE_CHECKING:
    from core.storage.index.image_engine import ImageEngine
    from core.storage.index.mapped import MappedIndex


class OpenGenerations(Catalogue):
    """Generations that are read."""

    def __init__(
        self, root: Path, copies: PublishedGenerations | None = None, view: Callable[[Any], Any] = lambda index: index
    ) -> None:
        """`view` gives an open generation as whoever reads now may see it."""
        super().__init__(root, copies)
        self._view = view
        self._open: dict[str, tuple[Any, MappedIndex]] = {}
        self._opening = threading.Lock()

    @cached_property
    def engine(self) -> ImageEngine:
        """How generations are written and read."""
        raise NotImplementedError

    def check(self, profile: Profile) -> tuple[str, ...]:
        """What contradicts itself in the generation that serves."""
        path, manifest = self._serving(profile)
        return tuple(self.engine.check(path, manifest))

    def open(self, profile: Profile, *, words: bool = False) -> MappedIndex:
        """The serving generation, ready to search; opened once and kept until another one is published.

        While one thread opens a new generation, the others go on with the one they have. One whose vectors are pending
        is given to those who can do with `words` alone; others are told to wait.
        """
        index = self._opened(profile)
        if index.generation.pending and not words:
            raise Unavailable(
                f"The vectors of profile {profile.name!r} are still being computed: until they are there, it can be "
                "searched "
                "by words alone, and nothing is measured. Try again in a while."
            )
        seen: MappedIndex = self._view(index)
        return seen

    def _opened(self, profile: Profile) -> MappedIndex:
        key = folder_name(profile)
        stamp = _stamp(f"{self.root}/{key}/CURRENT")  # text: joining paths would cost more than asking for the file
        opened = self._open.get(key)
        if opened and opened[0] == stamp:
            return opened[1]
        if not self._opening.acquire(blocking=opened is None) and opened:
            return opened[1]
        try:
            opened = self._open.get(key)
            if opened and opened[0] == stamp:
                return opened[1]
            index = self._pinned_index(profile, *self._pinned(profile))
            self._open[key] = (stamp, index)
            return index
        finally:
            self._opening.release()

    def _pinned_index(self, profile: Profile, pin: IO[str], path: Path, manifest: Mapping[str, Any]) -> MappedIndex:
        index = self.engine.open(path, manifest, profile)
        index.pin = pin
        return index

    @contextmanager
    def at(self, profile: Profile, commit: str) -> Iterator[tuple[MappedIndex, Parent] | None]:
        """The generation of a commit, open and kept from being removed in the block; None if it is not kept any
        more.
        """
        found = self.kept(profile, commit)
        try:
            yield found
        finally:
            if found and found[0].pin:
                found[0].pin.close()

    def kept(self, profile: Profile, commit: str) -> tuple[MappedIndex, Parent] | None:
        """The generation of a commit, pinned as long as its index lives; None if it is not kept any more."""
        for parent in self.usable(profile):
            if parent.manifest["commit"] != commit or parent.manifest.get("pending"):
                continue
            with suppress(FileNotFoundError):  # removed since it was listed
                pin = open(parent.folder / "PIN")  # noqa: SIM115  kept open as long as the index lives
                fcntl.flock(pin, fcntl.LOCK_SH)
                if (parent.folder / "MANIFEST.json").exists():
                    return self._pinned_index(profile, pin, parent.folder, parent.manifest), parent
                pin.close()
        return None

    def _pinned(self, profile: Profile) -> tuple[IO[str], Path, Mapping[str, Any]]:
        """Pin, then look again: a folder that vanished in between was replaced by a newer one. Close the pin to let
        go.
        """
        for _ in range(20):
            path, manifest = self._serving(profile)
            if any(index_damage.wrong_files(path, "/vec/")):
                self._damaged.add(path)
                continue
            try:
                pin = open(path / "PIN")  # noqa: SIM115  kept open as long as the index lives
                fcntl.flock(pin, fcntl.LOCK_SH)
                if (path / "MANIFEST.json").exists() and self._is_ready(path, profile):
                    return pin, path, manifest
                pin.close()
            except FileNotFoundError:
                time.sleep(0.01)
        raise Unavailable(f"The index of profile {profile.name!r} keeps changing; try again.")

    def _is_ready(self, path: Path, profile: Profile) -> bool:
        """Make the arrays of a generation that are missing; False, if what they follow from is damaged."""
        try:
            self.engine.ready(path, profile)
        except Corrupt:
            self._damaged.add(path)
            return False
        return True

    def copy(self, profile: Profile, target: Path) -> None:
        """Copy the generation that serves into another place for generations."""
        pin, path, _ = self._pinned(profile)
        with pin:
            place = target / self.folder(profile).name
            shutil.copytree(path, place / path.name)
            shutil.copyfile(self.folder(profile) / "CURRENT", place / "CURRENT")

    def used(self) -> Mapping[str, list[str]]:
        """The generations that this process reads or would open next, by the folder of their profile."""
        named: dict[str, set[str]] = {}
        for path in self.root.glob("*/CURRENT"):
            if name := index_damage.pointer(path.parent).get("folder"):
                named[path.parent.name] = {str(name)}
        for place, (_, index) in list(self._open.items()):
            named.setdefault(place, set()).add(index.generation.folder)
        return {place: sorted(folders) for place, folders in sorted(named.items())}


def _stamp(path: str) -> tuple[int, int] | None:
    """What changes when a file is replaced; None while there is none."""
    try:
        stat = os.stat(path)
    except OSError:
        return None
    return stat.st_ino, stat.st_mtime_ns
