"""Generations on disk: built aside, published by one rename, pinned by their readers.

    index/<profile>-<digest>/
        LOCK                      one builder at a time
        CURRENT                   which generation serves; replaced atomically
        EMBEDDING                 one process at a time computes vectors that are pending
        gen-000007-1a2b3c4d5e6f/  segments (segment_list.py), MANIFEST.json, PIN, SHA256SUMS

A folder gets its name only when everything in it is on the disk, manifest and checksums last. Readers hold a shared
lock on PIN, so nothing is removed under them; a crash leaves a `building-` folder that the next builder sweeps. A
generation is checked when it is opened, and a build that starts from it looks at the sizes and times of its files: a
damaged one is passed over for the newest whole one. What a build takes over are hard links, with the checksums they
had.

A generation may be published before its vectors are computed: its manifest says how many are pending, and words can be
searched. The next generation of the same commit links those words and has the vectors beside them.
"""

from __future__ import annotations

import fcntl
import json
import os
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from core import strict
from core.adapters.system import sums
from core.adapters.system.files import (
    files_below,
    flock,
    fsync_folder,
    fsync_tree,
    scratch_folder,
    sweep,
    try_flock,
    write_atomic,
)
from core.adapters.system.later import Later
from core.errors import NotFound, storing
from core.profiles import identity
from core.storage.index import index_damage
from core.storage.index.generation_list import FORMAT, Analyse, BuildBatch, Parent, Timed, generation_of
from core.storage.index.opening import OpenGenerations
from core.storage.object_store.local_copies import PublishedGenerations
from core.types import Generation, Profile

if TYPE_CHECKING:
    from core.storage.index import image_engine
else:  # what needs numpy and pyarrow
    image_engine = Later("core.storage.index.image_engine")

_BUILDING = "building-"
_MERGING = "merging-"


class IndexLimits(NamedTuple):
    """How many generations stay, and up to how many chunks vectors are searched exactly."""

    keep: int
    exact: int


class Generations(OpenGenerations):
    """Generations that are built, published and retired."""

    def __init__(
        self,
        root: Path,
        limits: IndexLimits,
        analyser: Callable[[Profile], Analyse],
        copies: PublishedGenerations | None = None,
        *,
        arrays: Sequence[Path],
        view: Callable[[Any], Any] = lambda index: index,
    ) -> None:
        """`arrays`: the folder where what searches map is kept, and others that may have it."""
        super().__init__(root, copies, view)
        self.keep, self.exact_limit = limits
        self._analyser, self._arrays = analyser, arrays

    @cached_property
    def engine(self) -> image_engine.ImageEngine:
        return image_engine.ImageEngine(self.exact_limit, self._analyser, self._arrays[0], self._arrays[1:])

    # ------------------------------------------------------------ copies of what is published

    def follow(self, profiles: Sequence[Profile]) -> None:
        """Serve what is published on the store, and remove what is not kept any more. Searches go on meanwhile."""
        if not self.copies:
            return
        moved = self.copies.moved(map(self.folder, profiles))
        for profile in profiles:
            folder = self.folder(profile)
            if folder in moved or folder / self._current_name(profile) in self._damaged:
                with storing(folder):
                    self._follow(profile, self.copies)

    def _follow(self, profile: Profile, copies: PublishedGenerations) -> None:
        folder = self.folder(profile)
        folder.mkdir(parents=True, exist_ok=True)
        broken = {path for path in self._damaged if path.parent == folder}
        copies.discard(broken)
        self._damaged -= broken
        copies.follow(folder)
        if (lock := try_flock(folder / "LOCK")) is not None:  # else a builder is at work, and removes them itself
            self._retire(profile)
            os.close(lock)

    # ------------------------------------------------------------ building

    @contextmanager
    def building(self, profile: Profile) -> Iterator[Parent | None]:
        """Hold the builder's lock; what a killed builder left is swept. Yields the newest whole generation."""
        folder = self.folder(profile)
        with storing(folder), self._locked(folder):
            self._remove_leftovers(folder)
            if self.copies:
                self.copies.begin(folder)
            yield next(self.usable(profile), None)

    def pending_texts(self, profile: Profile, parent: Parent | None) -> list[str]:
        """What the embedder has still to read of a generation, segment by segment."""
        return self.engine.pending_texts(profile, parent) if parent and parent.manifest.get("pending") else []

    @contextmanager
    def embedding(self, profile: Profile) -> Iterator[list[str]]:
        """Texts whose vectors are pending, for whoever computes them: one process at a time, while others build and
        search.
        """
        folder = self.folder(profile)
        folder.mkdir(parents=True, exist_ok=True)
        with storing(folder), flock(folder / "EMBEDDING"):
            with self._locked(folder):  # nothing is removed while it is read
                texts = self.pending_texts(profile, next(self.usable(profile), None))
            yield texts

    @contextmanager
    def _locked(self, folder: Path) -> Iterator[None]:
        folder.mkdir(parents=True, exist_ok=True)
        with flock(folder / "LOCK"):
            yield

    def _remove_leftovers(self, folder: Path) -> None:
        """What killed builders left; the caller holds the builder's lock."""
        for stale in (*folder.glob(f"{_BUILDING}*"), *folder.glob("leaving-*")):
            shutil.rmtree(stale, ignore_errors=True)
        for stale in folder.glob(".CURRENT.*"):
            stale.unlink(missing_ok=True)

    def remove(self, profile: Profile) -> None:
        """Delete every generation of a profile; whoever reads one keeps the files that are open."""
        folder = self.folder(profile)
        if not folder.is_dir():
            return
        with self._locked(folder), self._opening:
            self._open.pop(folder.name, None)
            if self.copies:
                self.copies.remove(folder)
            shutil.rmtree(folder, ignore_errors=True)

    def sweep(self) -> None:
        """Remove what killed builders left, where nobody builds now."""
        for folder in (path for path in self.root.glob("*") if path.is_dir()):
            with storing(folder):
                descriptor = try_flock(folder / "LOCK")
            if descriptor is not None:
                self._remove_leftovers(folder)
                if any("table" in (index_damage.manifest(path) or {}) for path in folder.glob("gen-*")):
                    shutil.rmtree(folder, ignore_errors=True)  # of the engine lance, which earlier versions had
                os.close(descriptor)
            sweep(folder, _MERGING)
        self._collect()

    def _collect(self) -> None:
        """Remove the arrays that no generation needs any more."""
        self.engine.collect(sorted(self.root.glob("*/gen-*")))

    def prepare(self) -> None:
        """Load the libraries that writing needs: seconds that a builder can spend while something else computes."""
        import duckdb  # noqa: F401
        import lancedb  # noqa: F401

    def write(
        self, profile: Profile, parent: Parent | None, batch: BuildBatch, facts: Mapping[str, Any], timed: Timed
    ) -> Generation:
        """Write and publish a generation."""
        with scratch_folder(self.folder(profile), _BUILDING) as build:
            made = self.engine.write(build, profile, parent, batch, timed)
            notes = [*facts.get("notes", ()), *made.facts["notes"]]
            with timed("publish"):
                return self._publish(profile, build, {**facts, **made.facts, "notes": notes}, made.links)

    def _publish(self, profile: Profile, build: Path, facts: Mapping[str, Any], taken: Mapping[str, str]) -> Generation:
        """Give a folder with everything in it its name. `taken` are files that are links, with their checksums."""
        folder = self.folder(profile)
        numbers = [int(match[1]) for name in os.listdir(folder) if (match := index_damage.NAME.fullmatch(name))]
        number = max(numbers, default=0) + 1
        (build / "PIN").touch()
        fsync_tree(build, except_files=taken)
        written = index_damage.written(build, files_below(build))
        manifest = {
            "format": FORMAT,
            "number": number,
            "profile": strict.plain(profile),
            "digest": identity(profile),
            **facts,
            "files": {name: size for name, (size, _) in written.items()},
            "written": written,
        }
        spelled = json.dumps(manifest, default=strict.plain, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
        write_atomic(build / "MANIFEST.json", spelled)
        sums.write(build, taken)
        final = folder / f"gen-{number:06d}-{str(facts['commit'])[:12]}"
        generation = generation_of(final, manifest)
        if self.copies:
            self.copies.publish(folder, generation, build)
        else:
            build.rename(final)
            fsync_folder(folder)
            self._point(profile, final.name, pinned=False)
        self._retire(profile)
        return generation

    # ------------------------------------------------------------ merging

    def merge_due(self, profile: Profile) -> bool:
        """Whether there are so many segments, or so much of one is gone, that they should become one."""
        if self.pinned(profile):
            return False
        parent = next(self.usable(profile), None)
        if parent is None or parent.manifest.get("pending"):
            return False  # the build that adds the vectors asks again
        return self.engine.due(parent)

    def merge(self, profile: Profile) -> Generation | None:
        """Write the segments that are due as one, while others build and search, then publish it; None if nothing was
        done.
        """
        if not self.merge_due(profile):
            return None
        parent, folder = next(self.usable(profile)), self.folder(profile)
        sweep(folder, _MERGING)
        with open(parent.folder / "PIN") as pin, scratch_folder(folder, _MERGING) as aside:
            fcntl.flock(pin, fcntl.LOCK_SH)
            merged = self.engine.merge(profile, parent, aside / "segment")
            with self.building(profile) as newest:
                if newest and not self.pinned(profile):
                    with scratch_folder(folder, _BUILDING) as build:
                        made = self.engine.put_in_place(build, profile, newest, parent, merged)
                        return self._publish(profile, build, made.facts, made.links) if made else None
        return None

    def adopt(self, profile: Profile, parent: Parent) -> Generation:
        """Publish a generation that was finished but not yet pointed to when its builder died."""
        folder, generation = self.folder(profile), generation_of(parent.folder, parent.manifest)
        if self.copies and not self.copies.listed(folder, generation.folder):
            self.copies.publish(folder, generation, parent.folder)
        elif self._current_name(profile) != parent.folder.name or self.pinned(profile):
            self._point(profile, parent.folder.name, pinned=False)
        return generation

    def _point(self, profile: Profile, name: str, *, pinned: bool) -> None:
        if self.copies:
            self.copies.serve(self.folder(profile), name, pinned=pinned)
        else:
            index_damage.point(self.folder(profile), name, pinned=pinned)

    def rollback(self, profile: Profile, number: int) -> Generation:
        """Serve an older generation until the next build is asked for."""
        folder = self.folder(profile)
        with storing(folder), self._locked(folder):
            for generation in self.all(profile):
                if generation.number == number and not generation.pending:
                    self._point(profile, generation.folder, pinned=True)
                    return replace(generation, current=True)
        known = ", ".join(str(one.number) for one in self.all(profile) if not one.pending) or "none"
        raise NotFound(f"The profile {profile.name!r} has no generation {number}. Generations: {known}.")

    def _retire(self, profile: Profile) -> None:
        """Remove damaged generations, those beyond the last few and those whose vectors came later, except the serving
        one and what somebody still reads."""
        serving = self._current_name(profile)
        folder = self.folder(profile)
        whole = [path.name for path, manifest in self.complete(profile) if not manifest.get("pending")]
        for name in filter(index_damage.NAME.fullmatch, os.listdir(folder)):
            if name in whole[: self.keep]:
                continue
            if name == serving:
                continue
            pin = try_flock(folder / name / "PIN")
            if pin is None:
                continue
            (folder / name).rename(folder / f"leaving-{name}")
            os.close(pin)
            shutil.rmtree(folder / f"leaving-{name}", ignore_errors=True)
        self._collect()
