"""Generations on disk: built aside, published by one rename, pinned by their readers.

    index/<profile>-<digest>/
        LOCK                      one builder at a time
        CURRENT                   which generation serves; replaced atomically
        gen-000007-1a2b3c4d5e6f/  fts.duckdb, vec/, graph/, served/, MANIFEST.json, PIN, SHA256SUMS

A folder gets its name only when everything in it is on the disk, manifest and checksums last. Readers hold a shared lock
on PIN, so nothing is removed under them; a crash leaves a `building-` folder that the next builder sweeps. A generation is
checked when it is opened and before a build starts from it: a damaged one is passed over for the newest whole one.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from shlex import quote
from typing import IO, Any

import numpy as np

from core import strict
from core.adapters.index import damage, duckdb, graph, inspection, lance
from core.adapters.serving import fields, image, stopwords, tfidf
from core.adapters.serving.mapped import MappedIndex
from core.adapters.system import sums
from core.adapters.system.files import (
    flock,
    fsync_folder,
    fsync_tree,
    scratch_folder,
    sweep,
    try_flock,
    write_atomic,
)
from core.errors import Corrupt, NotFound, StorageFailed, Unavailable, storing
from core.profiles import identity
from core.types import Chunk, Damage, Document, Extract, Generation, Profile

FORMAT = 2  # 1 had no checksums
OWNER = "WORKSPACE"
_BUILDING = "building-"


@dataclass(frozen=True, slots=True)
class Parent:
    """The generation a build may start from."""

    folder: Path
    manifest: Mapping[str, Any]


class Generations:
    """All generations of all profiles of one workspace."""

    def __init__(
        self, root: Path, keep: int, exact_limit: int, analyser: Callable[[Profile], Callable[[str], list[str]]]
    ) -> None:
        self.root, self.keep, self.exact_limit, self._analyser = root, keep, exact_limit, analyser
        self._open: dict[str, tuple[Any, MappedIndex]] = {}
        self._opening = threading.Lock()
        self._damaged: set[Path] = set()  # generations in which this process found a damaged file

    def folder(self, profile: Profile) -> Path:
        """The place of a profile's generations."""
        return self.root / _folder_name(profile)

    def belong(self, workspace: str) -> None:
        """Write down whose index it is, where nobody did yet; refuse the one of another workspace."""
        if self.owner() is None:
            with suppress(StorageFailed), storing(self.root):  # a disk that cannot be written is read as it is
                self.root.mkdir(parents=True, exist_ok=True)
                write_atomic(self.root / OWNER, f"{workspace}\n")
        elif foreign := self.foreign(workspace):
            raise Corrupt(str(foreign[0]))

    def foreign(self, workspace: str) -> list[Damage]:
        """Whether nothing says that it is the index of this workspace."""
        anew = f"Build the index anew with: rm -r {quote(str(self.root))} && python -m core reindex"
        if self.owner() is None and any(self.root.glob("*/gen-*")):
            return [Damage(f"index/{OWNER}", "is missing", "Write it anew with: python -m core init")]
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
        manifests = [damage.manifest(path) for path in self.root.glob("*/gen-*")]
        built = [(manifest["built"], manifest["commit"]) for manifest in manifests if manifest]
        return str(max(built)[1]) if built else ""

    # ------------------------------------------------------------ looking

    def all(self, profile: Profile) -> tuple[Generation, ...]:
        """Complete generations, newest first."""
        serving = self._current_name(profile)
        complete = [_generation(path, manifest, path.name == serving) for path, manifest in self._complete(profile)]
        return tuple(sorted(complete, key=lambda generation: -generation.number))

    def current(self, profile: Profile) -> Generation | None:
        """The generation that serves: the published one, or the newest that is whole if that one is damaged."""
        try:
            path, manifest = self._serving(profile)
        except Unavailable:
            return None
        generation = _generation(path, manifest, True)
        other = f"{path.name} serves because it is the newest whole one: CURRENT, or what it names, is damaged."
        return (
            generation
            if path.name == self._current_name(profile)
            else replace(generation, notes=(*generation.notes, other))
        )

    def pinned(self, profile: Profile) -> bool:
        """Whether somebody rolled back on purpose, so that the index must not catch up by itself."""
        return bool(damage.pointer(self.folder(profile)).get("pinned"))

    def manifest(self, profile: Profile) -> Mapping[str, Any]:
        """The manifest of the generation that serves."""
        return self._serving(profile)[1]

    def check(self, profile: Profile) -> tuple[str, ...]:
        """What contradicts itself in the generation that serves."""
        return tuple(inspection.disagreements(*self._serving(profile)))

    def _current_name(self, profile: Profile) -> str:
        return str(damage.pointer(self.folder(profile)).get("folder", ""))

    def damaged(self) -> Iterator[Damage]:
        """Every damaged file of every generation of every profile."""
        folders = sorted(path for path in self.root.iterdir() if path.is_dir()) if self.root.is_dir() else []
        for folder in folders:
            yield from damage.files(folder)

    def _complete(self, profile: Profile) -> list[tuple[Path, Mapping[str, Any]]]:
        """Folders with a manifest whose files have the sizes it names, newest first."""
        folder = self.folder(profile)
        names = (
            sorted((name for name in os.listdir(folder) if damage.NAME.fullmatch(name)), reverse=True)
            if folder.is_dir()
            else []
        )
        manifests = (
            (folder / name, damage.manifest(folder / name)) for name in names if folder / name not in self._damaged
        )
        return [(path, manifest) for path, manifest in manifests if manifest and _whole(path, manifest)]

    def _serving(self, profile: Profile) -> tuple[Path, Mapping[str, Any]]:
        name = self._current_name(profile)
        complete = self._complete(profile)
        for path, manifest in complete:
            if path.name == name:
                return path, manifest
        if complete:
            return complete[0]
        if name and self._damaged:
            raise Corrupt(
                f"Every generation of profile {profile.name!r} is damaged. "
                f"Build it anew with: python -m core reindex --profile {profile.name}"
            )
        raise Unavailable(
            f"The profile {profile.name!r} has no index yet. Build it with: python -m core reindex --profile {profile.name}"
        )

    # ------------------------------------------------------------ reading

    def open(self, profile: Profile) -> MappedIndex:
        """The serving generation, ready to search; opened once and kept until another one is published.

        While one thread opens a new generation, the others go on with the one they have.
        """
        key = _folder_name(profile)
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
            index = self._open_pinned(profile)
            self._open[key] = (stamp, index)
            return index
        finally:
            self._opening.release()

    def _open_pinned(self, profile: Profile) -> MappedIndex:
        return self._mapped(profile, *self._pinned(profile))

    def _mapped(self, profile: Profile, pin: IO[str], path: Path, manifest: Mapping[str, Any]) -> MappedIndex:
        index = MappedIndex(path, _generation(path, manifest, True), profile, self._analyser(profile), self.exact_limit)
        index.pin = pin
        return index

    @contextmanager
    def at(self, profile: Profile, commit: str) -> Iterator[tuple[MappedIndex, Parent] | None]:
        """The generation of a commit, open and kept from being removed in the block; None if it is not kept any more."""
        found = self.kept(profile, commit)
        try:
            yield found
        finally:
            if found and found[0].pin:
                found[0].pin.close()

    def kept(self, profile: Profile, commit: str) -> tuple[MappedIndex, Parent] | None:
        """The generation of a commit, pinned as long as its index lives; None if it is not kept any more."""
        for parent in self.usable(profile):
            if parent.manifest["commit"] != commit:
                continue
            with suppress(FileNotFoundError):  # removed since it was listed
                pin = open(parent.folder / "PIN")  # noqa: SIM115  kept open as long as the index lives
                fcntl.flock(pin, fcntl.LOCK_SH)
                if (parent.folder / "MANIFEST.json").exists():
                    return self._mapped(profile, pin, parent.folder, parent.manifest), parent
                pin.close()
        return None

    def _pinned(self, profile: Profile) -> tuple[IO[str], Path, Mapping[str, Any]]:
        """Pin, then look again: a folder that vanished in between was replaced by a newer one. Close the pin to let go."""
        for _ in range(20):
            path, manifest = self._serving(profile)
            if any(damage.wrong_files(path, "served/")):
                self._damaged.add(path)
                continue
            try:
                pin = open(path / "PIN")  # noqa: SIM115  kept open as long as the index lives
                fcntl.flock(pin, fcntl.LOCK_SH)
                if (path / "MANIFEST.json").exists():
                    return pin, path, manifest
                pin.close()
            except FileNotFoundError:
                time.sleep(0.01)
        raise Unavailable(f"The index of profile {profile.name!r} keeps changing; try again.")

    def copy(self, profile: Profile, target: Path) -> None:
        """Copy the generation that serves into another place for generations."""
        pin, path, _ = self._pinned(profile)
        with pin:
            place = target / self.folder(profile).name
            shutil.copytree(path, place / path.name)
            shutil.copyfile(self.folder(profile) / "CURRENT", place / "CURRENT")

    # ------------------------------------------------------------ building

    @contextmanager
    def building(self, profile: Profile) -> Iterator[Parent | None]:
        """Hold the builder's lock; what a killed builder left is swept. Yields the newest whole generation."""
        folder = self.folder(profile)
        with storing(folder), self._locked(folder):
            self._remove_leftovers(folder)
            yield next(self.usable(profile), None)

    def usable(self, profile: Profile) -> Iterator[Parent]:
        """Generations that a build can start from, newest first."""
        for path, manifest in self._complete(profile):
            if any(damage.wrong_files(path)):
                self._damaged.add(path)
            elif manifest.get("format") in (1, FORMAT):
                yield Parent(path, manifest)

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
            shutil.rmtree(folder, ignore_errors=True)

    def sweep(self) -> None:
        """Remove what killed builders left, where nobody builds now."""
        for folder in (path for path in self.root.glob("*") if path.is_dir()):
            with storing(folder):
                descriptor = try_flock(folder / "LOCK")
            if descriptor is not None:
                self._remove_leftovers(folder)
                os.close(descriptor)
            for generation in folder.glob("gen-*"):
                for unfinished in (tfidf.UNFINISHED, fields.UNFINISHED, stopwords.UNFINISHED):
                    sweep(generation, unfinished)

    def prepare(self) -> None:
        """Load the libraries that writing needs: seconds that a builder can spend while something else computes."""
        import duckdb  # noqa: F401
        import lancedb  # noqa: F401

    def write(
        self,
        profile: Profile,
        parent: Parent | None,
        gone: Sequence[str],
        documents: Sequence[Document],
        chunks: Sequence[Chunk],
        terms: Sequence[str],
        vectors: np.ndarray,
        facts: Mapping[str, Any],
        timed: Callable[[str], Any],
        extracts: Sequence[Extract] | None = None,
    ) -> Generation:
        """Write and publish a generation. `gone` are ids of documents that the parent has and this one has not."""
        with scratch_folder(self.folder(profile), _BUILDING) as build:
            (build / "served").mkdir()
            (build / "vec").mkdir()
            before = parent.folder if parent else None
            ids = [chunk.id for chunk in chunks]
            dropped = _chunks_of(before, gone) if before else []
            with timed("lexical"):
                source = before / "fts.duckdb" if before else None
                with duckdb.written(build / "fts.duckdb", source, gone, documents, chunks, terms) as connection:
                    image.compile_lexical(connection, build / "served", profile.lexical)
            with timed("vectors"):
                lance.write(build / "vec", before / "vec" if before else None, dropped, ids, vectors)
                rows = (
                    image.merge_vectors(before / "served", set(dropped), ids, vectors)
                    if before
                    else vectors[np.argsort(np.array(ids), kind="stable")]
                )
                image.write_vectors(build / "served", rows)
                notes = [*facts.get("notes", ()), *self._ann(build, rows)]
            if extracts is not None:
                with timed("graph"):
                    graph.write(build, before, dropped, ids, extracts)
            with timed("publish"):
                return self._publish(profile, build, {**facts, "chunks": len(rows), "notes": notes})

    def _ann(self, build: Path, rows: np.ndarray) -> list[str]:
        """Beyond the exact limit: build the ANN index and measure its recall against exact search."""
        if len(rows) <= self.exact_limit:
            return []
        lance.build_ann(build / "vec", len(rows))
        ids = image.read_table(build / "served" / "chunks.arrow")["id"].to_pylist()
        sample = range(0, len(rows), max(1, len(rows) // 100))
        hits = 0
        for n in sample:
            best = {ids[m] for m in np.argsort(-(rows @ rows[n]), kind="stable")[:10].tolist()}
            hits += len(best.intersection(lance.search_ann(build / "vec", rows[n], 10)[0]))
        return [f"ANN index: recall@10 {hits / (10 * len(sample)):.3f} on {len(sample)} queries"]

    def _publish(self, profile: Profile, build: Path, facts: Mapping[str, Any]) -> Generation:
        folder = self.folder(profile)
        numbers = [int(match[1]) for name in os.listdir(folder) if (match := damage.NAME.fullmatch(name))]
        number = max(numbers, default=0) + 1
        (build / "PIN").touch()
        fsync_tree(build)
        files = {
            str(path.relative_to(build)): path.stat().st_size for path in sorted(build.rglob("*")) if path.is_file()
        }
        manifest = {
            "format": FORMAT,
            "number": number,
            "profile": strict.plain(profile),
            "digest": identity(profile),
            **facts,
            "files": files,
        }
        write_atomic(build / "MANIFEST.json", strict.canonical(manifest))
        sums.write(build)
        final = folder / f"gen-{number:06d}-{str(facts['commit'])[:12]}"
        build.rename(final)
        fsync_folder(folder)
        self._point(profile, final.name, pinned=False)
        self._retire(profile)
        return _generation(final, manifest, True)

    def adopt(self, profile: Profile, parent: Parent) -> Generation:
        """Publish a generation that was finished but not yet pointed to when its builder died."""
        if self._current_name(profile) != parent.folder.name or self.pinned(profile):
            self._point(profile, parent.folder.name, pinned=False)
        return _generation(parent.folder, parent.manifest, True)

    def _point(self, profile: Profile, name: str, *, pinned: bool) -> None:
        pointer = {"folder": name, "pinned": pinned}
        write_atomic(
            self.folder(profile) / "CURRENT", strict.canonical({**pointer, "sum": damage.pointer_sum(pointer)})
        )

    def rollback(self, profile: Profile, number: int) -> Generation:
        """Serve an older generation until the next build is asked for."""
        folder = self.folder(profile)
        with storing(folder), self._locked(folder):
            for path, manifest in self._complete(profile):
                if manifest["number"] == number:
                    self._point(profile, path.name, pinned=True)
                    return _generation(path, manifest, True)
        known = ", ".join(str(generation.number) for generation in self.all(profile)) or "none"
        raise NotFound(f"The profile {profile.name!r} has no generation {number}. Generations: {known}.")

    def _retire(self, profile: Profile) -> None:
        """Remove damaged generations and those beyond the last few, except the serving one and what somebody still reads."""
        serving = self._current_name(profile)
        folder = self.folder(profile)
        whole = [path.name for path, _ in self._complete(profile)]
        for name in filter(damage.NAME.fullmatch, os.listdir(folder)):
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


def _chunks_of(parent: Path, docs: Sequence[str]) -> list[str]:
    """Ids of the chunks that belong to some documents of a generation, in order."""
    gone = set(docs)
    numbers = [
        n
        for n, doc in enumerate(image.read_table(parent / "served" / "documents.arrow")["doc"].to_pylist())
        if doc in gone
    ]
    chunks = image.read_table(parent / "served" / "chunks.arrow")
    places = np.flatnonzero(np.isin(image.numbers(chunks, "doc"), numbers))
    ids: list[str] = chunks["id"].take(places).to_pylist()
    return ids


def _folder_name(profile: Profile) -> str:
    return f"{profile.name}-{identity(profile)}"


def _whole(path: Path, manifest: Mapping[str, Any]) -> bool:
    try:
        return all(os.stat(path / name).st_size == size for name, size in manifest["files"].items())
    except OSError:
        return False


def _generation(path: Path, manifest: Mapping[str, Any], current: bool) -> Generation:
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
    )


def _stamp(path: str) -> tuple[int, int] | None:
    """What changes when a file is replaced; None while there is none."""
    try:
        stat = os.stat(path)
    except OSError:
        return None
    return stat.st_ino, stat.st_mtime_ns
