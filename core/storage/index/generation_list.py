"""The catalogue of generations: which there are on disk, which of them are whole, and which one serves."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from core.adapters.system.files import write_atomic
from core.cures import RECREATE, reindex, remove
from core.errors import Corrupt, StorageFailed, Unavailable, storing
from core.profiles import identity
from core.storage.index import index_damage
from core.storage.object_store.local_copies import PublishedGenerations
from core.types import Chunk, Damage, Document, Extract, Generation, Profile

if TYPE_CHECKING:
    import numpy as np

    Embed = Callable[[Sequence[str]], np.ndarray]  # texts to one vector each

FORMAT = 4  # 3 had the arrays inside
OWNER = "WORKSPACE"


@dataclass(frozen=True, slots=True)
class Parent:
    """The generation a build may start from."""

    folder: Path
    manifest: Mapping[str, Any]


Analyse = Callable[[str], list[str]]
Timed = Callable[[str], Any]


@dataclass(frozen=True, slots=True)
class BuildBatch:
    """What a build adds to its parent, and what it takes away. Without `vectors` they are pending; with them, `embed`
    gives those that are pending in the parent."""

    gone: Sequence[str]  # ids of documents that the parent has and this one has not
    documents: Sequence[Document]
    chunks: Sequence[Chunk]
    terms: Sequence[str]
    vectors: np.ndarray | None
    extracts: Sequence[Extract] | None = None
    embed: Embed | None = None


@dataclass(frozen=True, slots=True)
class BuiltFiles:
    """What an engine says of the files that it put into a folder: facts for the manifest, and which are links, with
    their checksums."""

    facts: Mapping[str, Any]
    links: Mapping[str, str]


class Catalogue:
    """All generations of all profiles of one workspace, to look at."""

    def __init__(self, root: Path, copies: PublishedGenerations | None = None) -> None:
        """`copies`: where machines share generations on a store, what lies here are copies of those."""
        self.root, self.copies = root, copies
        self._damaged: set[Path] = set()  # generations in which this process found a damaged file

    def folder(self, profile: Profile) -> Path:
        """The place of a profile's generations."""
        return self.root / folder_name(profile)

    def belong(self, workspace: str) -> None:
        """Write down whose index it is, where nobody did yet; refuse the one of another workspace."""
        if self.owner() is None:
            with suppress(StorageFailed), storing(self.root):  # a disk that cannot be written is read as it is
                self.root.mkdir(parents=True, exist_ok=True)
                write_atomic(self.root / OWNER, f"{workspace}\n")
        elif foreign := self.foreign(workspace):
            raise foreign[0].refusal()

    def foreign(self, workspace: str) -> list[Damage]:
        """Whether nothing says that it is the index of this workspace."""
        anew = remove(self.root, reindex().command, what="Rebuild the index")
        if self.owner() is None and any(self.root.glob("*/gen-*")):
            return [Damage(f"index/{OWNER}", "is missing", RECREATE)]
        if self.owner() in (None, workspace):
            return []
        return [Damage(f"index/{OWNER}", "is damaged, or the index is one of another workspace", anew)]

    def owner(self) -> str | None:
        """The id of the workspace whose index it is; None if nothing says so."""
        try:
            return (self.root / OWNER).read_text(encoding="latin-1").strip()
        except OSError:
            return None

    def newest_commit(self) -> str:
        """The commit of the generation built last, of whichever profile; "" if there is none."""
        manifests = [index_damage.manifest(path) for path in self.root.glob("*/gen-*")]
        built = [(manifest["built"], manifest["commit"]) for manifest in manifests if manifest]
        return str(max(built)[1]) if built else ""

    def all(self, profile: Profile) -> tuple[Generation, ...]:
        """Complete generations, newest first; without those that had words alone until another took their place."""
        serving = self._current_name(profile)
        complete = [generation_of(path, manifest, path.name == serving) for path, manifest in self.complete(profile)]
        if self.copies:
            here = {generation.folder for generation in complete}
            complete += [row for row in self.copies.published(self.folder(profile)) if row.folder not in here]
        left = (one for one in complete if not one.pending or one.folder == serving)
        return tuple(sorted(left, key=lambda generation: -generation.number))

    def current(self, profile: Profile) -> Generation | None:
        """The generation that serves: the published one, or the newest that is whole if that one is damaged."""
        try:
            path, manifest = self._serving(profile)
        except Unavailable:
            return None
        generation = generation_of(path, manifest)
        other = f"{path.name} serves because it is the newest whole one: CURRENT, or what it names, is damaged."
        return (
            generation
            if path.name == self._current_name(profile)
            else replace(generation, notes=(*generation.notes, other))
        )

    def pinned(self, profile: Profile) -> bool:
        """Whether somebody rolled back on purpose, so that the index must not catch up by itself."""
        return bool(index_damage.pointer(self.folder(profile)).get("pinned"))

    def manifest(self, profile: Profile) -> Mapping[str, Any]:
        """The manifest of the generation that serves."""
        return self._serving(profile)[1]

    def damaged(self) -> Iterator[Damage]:
        """Every damaged file of every generation of every profile."""
        folders = sorted(path for path in self.root.iterdir() if path.is_dir()) if self.root.is_dir() else []
        for folder in folders:
            yield from index_damage.files(folder)

    def usable(self, profile: Profile) -> Iterator[Parent]:
        """Generations that a build can start from, newest first."""
        for path, manifest in self.complete(profile):
            if any(index_damage.changed_files(path)):
                self._damaged.add(path)
            elif manifest.get("format") in (3, FORMAT):
                yield Parent(path, manifest)

    def is_whole(self, parent: Parent) -> bool:
        """Whether every byte of a generation is what was published."""
        if any(index_damage.wrong_files(parent.folder)):
            self._damaged.add(parent.folder)
        return parent.folder not in self._damaged

    def _current_name(self, profile: Profile) -> str:
        return str(index_damage.pointer(self.folder(profile)).get("folder", ""))

    def complete(self, profile: Profile) -> list[tuple[Path, Mapping[str, Any]]]:
        """Folders with a manifest whose files have the sizes it names, newest first."""
        folder = self.folder(profile)
        names = (
            sorted((name for name in os.listdir(folder) if index_damage.NAME.fullmatch(name)), reverse=True)
            if folder.is_dir()
            else []
        )
        manifests = (
            (folder / name, index_damage.manifest(folder / name))
            for name in names
            if folder / name not in self._damaged
        )
        return [(path, manifest) for path, manifest in manifests if manifest and _whole(path, manifest)]

    def _serving(self, profile: Profile) -> tuple[Path, Mapping[str, Any]]:
        name = self._current_name(profile)
        complete = self.complete(profile)
        for path, manifest in complete:
            if path.name == name:
                return path, manifest
        if complete:
            return complete[0]
        if name and self._damaged:
            raise Corrupt(f"Every generation of profile {profile.name!r} is damaged.", reindex(profile.name))
        raise Unavailable(f"The profile {profile.name!r} has no index yet.", reindex(profile.name))


def folder_name(profile: Profile) -> str:
    """Of the place for all generations of a profile."""
    return f"{profile.name}-{identity(profile)}"


def _whole(path: Path, manifest: Mapping[str, Any]) -> bool:
    try:
        return all(os.stat(f"{path}/{name}").st_size == size for name, size in manifest["files"].items())
    except OSError:
        return False


def generation_of(path: Path, manifest: Mapping[str, Any], current: bool = True) -> Generation:
    """As a manifest describes it."""
    return Generation(
        number=manifest["number"],
        profile=manifest["profile"]["name"],
        digest=manifest["digest"],
        commit=manifest["commit"],
        documents=len(manifest["documents"]),
        chunks=manifest["chunks"],
        built=manifest["built"],
        seconds=manifest["seconds"],
        bytes=sum(manifest["files"].values()),
        folder=path.name,
        current=current,
        notes=tuple(manifest.get("notes", ())),
        calls=manifest.get("calls", 0),
        worth=manifest.get("worth", 0.0),
        pending=manifest.get("pending", 0),
    )
