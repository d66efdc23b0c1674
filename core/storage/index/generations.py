"""Generations on disk: built aside, published by one rename, pinned by their readers.

    index/<profile>-<digest>/
        LOCK                      one builder at a time
        CURRENT                   which generation serves; replaced atomically
        EMBEDDING                 one process at a time computes vectors that are pending
        gen-000007-1a2b3c4d5e6f/  segments (segment_list.py), MANIFEST.json, PIN, SHA256SUMS

A folder gets its name only when everything in it is on the disk, manifest and checksums last. Readers hold a shared lock
on PIN, so nothing is removed under them; a crash leaves a `building-` folder that the next builder sweeps. A generation is
checked when it is opened, and a build that starts from it looks at the sizes and times of its files: a damaged one is
passed over for the newest whole one. What a build takes over are hard links, with the checksums they had.

A generation may be published before its vectors are computed: its manifest says how many are pending, and words can be
searched. The next generation of the same commit links those words and has the vectors beside them.
"""

from __future__ import annotations

import fcntl
import json
import os
import shutil
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from shlex import quote
from typing import IO, TYPE_CHECKING, Any

from core import strict
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
from core.adapters.system.later import Later
from core.errors import BadInput, Corrupt, NotFound, StorageFailed, Unavailable, storing
from core.profiles import LANCE, identity
from core.storage.index import damage
from core.storage.object_store.copies import PublishedGenerations
from core.types import Chunk, Damage, Document, Extract, Generation, Profile

if TYPE_CHECKING:
    import numpy as np

    from core.storage.index import inspection, lance, segment_list, segments
    from core.storage.index.segment_list import Segment
    from core.storage.index.segments import SegmentRows
    from core.storage.lance import opened as lance_opened
    from core.storage.lance import table as lance_table
    from core.storage.lance import writing
    from core.storage.serving import fields, image, mapped, stopwords, tfidf

    Opened = mapped.MappedIndex | lance_opened.TableIndex
    Embed = Callable[[Sequence[str]], np.ndarray]  # texts to one vector each
else:  # what needs numpy and pyarrow
    np = Later("numpy")
    inspection, lance, segment_list, segments = (
        Later(f"core.storage.index.{name}") for name in ("inspection", "lance", "segment_list", "segments")
    )
    lance_opened, lance_table, writing = (
        Later(f"core.storage.lance.{name}") for name in ("opened", "table", "writing")
    )
    fields, image, mapped, stopwords, tfidf = (
        Later(f"core.storage.serving.{name}") for name in ("fields", "image", "mapped", "stopwords", "tfidf")
    )

FORMAT = 3  # 1 had no checksums, 2 was one segment
OWNER = "WORKSPACE"
_BUILDING = "building-"
_MERGING = "merging-"
_OF_FILES = (
    "format",
    "number",
    "profile",
    "digest",
    "chunks",
    "pending",
    "files",
    "written",
)  # written anew with every generation
_RECALL = "ANN index: recall@10"


@dataclass(frozen=True, slots=True)
class Parent:
    """The generation a build may start from."""

    folder: Path
    manifest: Mapping[str, Any]


class Generations:
    """All generations of all profiles of one workspace."""

    def __init__(
        self,
        root: Path,
        keep: int,
        exact_limit: int,
        analyser: Callable[[Profile], Callable[[str], list[str]]],
        copies: PublishedGenerations | None = None,
        tables: str = "",
    ) -> None:
        """`copies`: where machines share generations on a store, what lies here are copies of those.
        `tables`: where the tables of Lance profiles are, such as s3://bucket/tables; beside their generations if empty."""
        self.root, self.keep, self.exact_limit, self._analyser, self.copies = root, keep, exact_limit, analyser, copies
        self._tables = tables
        self._open: dict[str, tuple[Any, Opened]] = {}
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
        """Complete generations, newest first; without those that had words alone until another took their place."""
        serving = self._current_name(profile)
        complete = [_generation(path, manifest, path.name == serving) for path, manifest in self._complete(profile)]
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
        path, manifest = self._serving(profile)
        if profile.engine == LANCE:
            place = _table_place(path, manifest["table"])
            return tuple(writing.disagreements(path / "served", place, manifest["table"], manifest["chunks"]))
        return tuple(inspection.disagreements(path, manifest))

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

    def open(self, profile: Profile, *, words: bool = False) -> Opened:
        """The serving generation, ready to search; opened once and kept until another one is published.

        While one thread opens a new generation, the others go on with the one they have. One whose vectors are pending is
        given to those who can do with `words` alone; others are told to wait.
        """
        index = self._opened(profile)
        if index.generation.pending and not words:
            raise Unavailable(
                f"The vectors of profile {profile.name!r} are still being computed: until they are there, it can be searched "
                "by words alone, and nothing is measured. Try again in a while."
            )
        return index

    def _opened(self, profile: Profile) -> Opened:
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

    def _open_pinned(self, profile: Profile) -> Opened:
        return self._mapped(profile, *self._pinned(profile))

    def _mapped(self, profile: Profile, pin: IO[str], path: Path, manifest: Mapping[str, Any]) -> Opened:
        generation, analyse = _generation(path, manifest, True), self._analyser(profile)
        index: Opened
        if profile.engine == LANCE:
            facts = manifest["table"]
            index = lance_opened.TableIndex(
                path / "served", _table_place(path, facts), facts, generation, profile, analyse
            )
        else:
            index = mapped.MappedIndex(path, generation, profile, analyse, self.exact_limit)
        index.pin = pin
        return index

    @contextmanager
    def at(self, profile: Profile, commit: str) -> Iterator[tuple[Opened, Parent] | None]:
        """The generation of a commit, open and kept from being removed in the block; None if it is not kept any more."""
        found = self.kept(profile, commit)
        try:
            yield found
        finally:
            if found and found[0].pin:
                found[0].pin.close()

    def kept(self, profile: Profile, commit: str) -> tuple[Opened, Parent] | None:
        """The generation of a commit, pinned as long as its index lives; None if it is not kept any more."""
        for parent in self.usable(profile):
            if parent.manifest["commit"] != commit or parent.manifest.get("pending"):
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
            if any(damage.wrong_files(path, "/served/")):
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
            if profile.engine == LANCE and not self._tables:
                lance_table.copy(str(self.folder(profile)), place)

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

    def used(self) -> Mapping[str, list[str]]:
        """The generations that this process reads or would open next, by the folder of their profile."""
        named: dict[str, set[str]] = {}
        for path in self.root.glob("*/CURRENT"):
            if name := damage.pointer(path.parent).get("folder"):
                named[path.parent.name] = {str(name)}
        for place, (_, index) in list(self._open.items()):
            named.setdefault(place, set()).add(index.generation.folder)
        return {place: sorted(folders) for place, folders in sorted(named.items())}

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

    def usable(self, profile: Profile) -> Iterator[Parent]:
        """Generations that a build can start from, newest first."""
        for path, manifest in self._complete(profile):
            if any(damage.changed_files(path)):
                self._damaged.add(path)
            elif manifest.get("format") in (1, 2, FORMAT):
                yield Parent(path, manifest)

    def pending_texts(self, parent: Parent | None) -> list[str]:
        """What the embedder has still to read of a generation, segment by segment."""
        waiting = _waiting(parent.folder) if parent and parent.manifest.get("pending") else []
        return [text for one in waiting for text in segments.texts(parent.folder, one)] if parent else []

    @contextmanager
    def embedding(self, profile: Profile) -> Iterator[list[str]]:
        """Texts whose vectors are pending, for whoever computes them: one process at a time, while others build and search."""
        folder = self.folder(profile)
        folder.mkdir(parents=True, exist_ok=True)
        with storing(folder), flock(folder / "EMBEDDING"):
            with self._locked(folder):  # nothing is removed while it is read
                texts = self.pending_texts(next(self.usable(profile), None))
            yield texts

    def is_whole(self, parent: Parent) -> bool:
        """Whether every byte of a generation is what was published."""
        if any(damage.wrong_files(parent.folder)):
            self._damaged.add(parent.folder)
        return parent.folder not in self._damaged

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
            if profile.engine == LANCE:
                lance_table.remove(self._table_place(profile))
            shutil.rmtree(folder, ignore_errors=True)

    def sweep(self) -> None:
        """Remove what killed builders left, where nobody builds now."""
        for folder in (path for path in self.root.glob("*") if path.is_dir()):
            with storing(folder):
                descriptor = try_flock(folder / "LOCK")
            if descriptor is not None:
                self._remove_leftovers(folder)
                os.close(descriptor)
            sweep(folder, _MERGING)
            for place in (*folder.glob("gen-*"), *folder.glob("gen-*/segments/*")):
                for unfinished in (tfidf.UNFINISHED, fields.UNFINISHED, stopwords.UNFINISHED):
                    sweep(place, unfinished)

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
        vectors: np.ndarray | None,
        facts: Mapping[str, Any],
        timed: Callable[[str], Any],
        extracts: Sequence[Extract] | None = None,
        embed: Embed | None = None,
    ) -> Generation:
        """Write and publish a generation. `gone` are ids of documents that the parent has and this one has not.

        Without `vectors` they are pending; with them, `embed` gives those that are pending in the parent.
        """
        if profile.engine == LANCE:
            if vectors is None:
                raise BadInput(f"The engine {LANCE} keeps words and vectors in one table: it is built with both.")
            batch = writing.TableRows(gone, documents, chunks, terms, vectors, facts["position"])
            return self._write_table(profile, parent, batch, facts, timed)
        rows = segments.rows_of(documents, chunks, terms, vectors, extracts)
        with scratch_folder(self.folder(profile), _BUILDING) as build:
            kept: list[Segment] = []
            parts = [rows]
            if parent:
                with timed("read"):
                    before = [
                        segment_list.without(parent.folder, one, gone) for one in segment_list.listed(parent.folder)
                    ]
                    edited = vectors is not None and (documents or gone)
                    small = segments.folded(before, len(chunks)) if edited else []
                    kept = [one for one in before if one not in small and one.live]
                    parts = [*(_read(parent.folder, one, embed) for one in small if one.live), rows]
            notes = [*facts.get("notes", ()), *_measured(parent)]
            own = list(kept)
            if any(len(part.documents) for part in parts) or not kept:
                notes += self._write_segment(profile, build, kept, segments.joined(parts), timed)
            taken = self._take_over(parent, build, kept) if parent else {}
            if parent and embed and vectors is not None:
                with timed("vectors"):
                    notes += self._add_vectors(parent, build, own, embed)
            with timed("publish"):
                return self._publish(profile, build, {**facts, "notes": notes}, taken)

    def _write_segment(
        self, profile: Profile, build: Path, kept: list[Segment], rows: SegmentRows, timed: Callable[[str], Any]
    ) -> list[str]:
        """Write one more segment beside those that are kept; what there is to remark."""
        place = segment_list.free_place(kept)
        segments.write(build / place, rows, profile.lexical, alone=not kept, timed=timed)
        kept.append(segment_list.whole(build, place))
        kept.sort(key=lambda one: one.place)
        with timed("vectors"):
            return self._ann(build / place) if rows.vectors is not None else []

    def _add_vectors(self, parent: Parent, build: Path, kept: Sequence[Segment], embed: Embed) -> list[str]:
        """Vectors for the words that are taken over without; what there is to remark."""
        notes = []
        for one in kept:
            if not segments.has_vectors(parent.folder, one):
                segments.add_vectors(parent.folder, one, build, embed(segments.texts(parent.folder, one)))
                notes += self._ann(one.folder(build))
        return notes

    def _take_over(self, parent: Parent, build: Path, kept: Sequence[Segment]) -> dict[str, str]:
        """Link the files of the parent's segments that are kept. Gives their checksums."""
        known = sums.read(parent.folder) or {}
        names = [
            name
            for one in kept
            if not one.folder(build).joinpath("fts.duckdb").exists()
            for name in one.files(parent.folder)
        ]
        segments.link(parent.folder, build, names)
        segment_list.write_list(build, kept)
        for one in kept:
            segments.complete(one.folder(build))
        return {name: known[name] for name in names if name in known}

    def _write_table(
        self,
        profile: Profile,
        parent: Parent | None,
        batch: writing.TableRows,
        facts: Mapping[str, Any],
        timed: Callable[[str], Any],
    ) -> Generation:
        """Write to the table of a profile, and publish the version that this gives."""
        before = _before(parent) if parent else None
        place = self._table_place(profile)
        if before and "://" in before.place and not self._tables:  # LanceDB clones no table with credentials of its own
            raise Unavailable(
                f"The table of profile {profile.name!r} is on the store, where no state is built aside: earlier days that are not "
                "kept and the impact of a change can be seen with a profile whose engine is image."
            )
        needed = {path.name: manifest["table"]["version"] for path, manifest in self._complete(profile)}
        kept = {generation.folder for generation in self.all(profile)}
        with scratch_folder(self.folder(profile), _BUILDING) as build:
            (build / "served").mkdir()
            written = writing.write(
                build / "served", place, before, batch, self._analyser(profile), needed, kept, timed
            )
            notes = [*facts.get("notes", ()), *writing.notes(written)]
            table = {**written, "place": place if "://" in place else ""}
            with timed("publish"):
                known = {**facts, "chunks": written["chunks"], "table": table, "notes": notes}
                generation = self._publish(profile, build, known, {})
                lance_table.protect(lance_table.newest(place), {generation.folder: written["version"]})
        return generation

    def _table_place(self, profile: Profile) -> str:
        """Where the table of a profile is written."""
        return f"{self._tables}/{_folder_name(profile)}" if self._tables else str(self.folder(profile))

    def _ann(self, folder: Path) -> list[str]:
        """Beyond the exact limit: build the ANN index and measure its recall against exact search."""
        rows = image.map_array(folder / "served" / "vectors.npy")
        if len(rows) <= self.exact_limit:
            return []
        lance.build_ann(folder / "vec", len(rows))
        ids = image.read_table(folder / "served" / "chunks.arrow")["id"].to_pylist()
        sample = range(0, len(rows), max(1, len(rows) // 100))
        hits = 0
        for n in sample:
            best = {ids[m] for m in np.argsort(-(rows @ rows[n]), kind="stable")[:10].tolist()}
            hits += len(best.intersection(lance.search_ann(folder / "vec", rows[n], 10)[0]))
        return [f"{_RECALL} {hits / (10 * len(sample)):.3f} on {len(sample)} queries"]

    def _publish(self, profile: Profile, build: Path, facts: Mapping[str, Any], taken: Mapping[str, str]) -> Generation:
        """Give a folder with everything in it its name. `taken` are files that are links, with their checksums."""
        folder = self.folder(profile)
        numbers = [int(match[1]) for name in os.listdir(folder) if (match := damage.NAME.fullmatch(name))]
        number = max(numbers, default=0) + 1
        (build / "PIN").touch()
        fsync_tree(build, except_files=taken)
        names = sorted(str(path.relative_to(build)) for path in build.rglob("*") if path.is_file())
        written = damage.written(build, names)
        manifest = {
            "format": FORMAT,
            "number": number,
            "profile": strict.plain(profile),
            "digest": identity(profile),
            **facts,
            "chunks": facts["chunks"] if "chunks" in facts else sum(one.live for one in segment_list.listed(build)),
            "pending": 0 if "table" in facts else sum(one.live for one in _waiting(build)),
            "files": {name: size for name, (size, _) in written.items()},
            "written": written,
        }
        spelled = json.dumps(manifest, default=strict.plain, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
        write_atomic(build / "MANIFEST.json", spelled)
        sums.write(build, taken)
        final = folder / f"gen-{number:06d}-{str(facts['commit'])[:12]}"
        generation = _generation(final, manifest, True)
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
        if profile.engine == LANCE:
            return False  # its files are joined by every build
        parent = next(self.usable(profile), None)
        if parent and parent.manifest.get("pending"):
            return False  # the build that adds the vectors asks again
        return (
            parent is not None and bool(segments.due(segment_list.listed(parent.folder))) and not self.pinned(profile)
        )

    def merge(self, profile: Profile) -> Generation | None:
        """Write the segments that are due as one, while others build and search, then publish it; None if nothing was done."""
        if not self.merge_due(profile):
            return None
        parent = next(self.usable(profile))
        every = segment_list.listed(parent.folder)
        chosen = segments.due(every)
        sweep(self.folder(profile), _MERGING)
        with open(parent.folder / "PIN") as pin, scratch_folder(self.folder(profile), _MERGING) as aside:
            fcntl.flock(pin, fcntl.LOCK_SH)
            rows = segments.joined([segments.read(parent.folder, one) for one in chosen])
            segments.write(aside / "segment", rows, profile.lexical, alone=len(chosen) == len(every))
            notes = self._ann(aside / "segment")
            with self.building(profile) as newest:
                if newest and not self.pinned(profile):
                    return self._put_in_place(profile, newest, parent, chosen, aside / "segment", notes)
        return None

    def _put_in_place(
        self,
        profile: Profile,
        newest: Parent,
        parent: Parent,
        chosen: Sequence[Segment],
        merged: Path,
        notes: list[str],
    ) -> Generation | None:
        """Publish the newest generation with a merged segment instead of those it was made from; None if none is there any more.

        What an edit took from one of them meanwhile, it wrote elsewhere or left out: that is gone from the merged one too.
        """
        now = segment_list.listed(newest.folder)
        shared = {old: one for old in chosen for one in now if _same(parent.folder, old, newest.folder, one)}
        if not shared:
            return None
        gone = [doc for old in chosen for doc in segment_list.gone_since(parent.folder, old, shared.get(old))]
        kept = [one for one in now if one not in shared.values()]
        with scratch_folder(self.folder(profile), _BUILDING) as build:
            place = segment_list.free_place(kept)
            segments.move(merged, build / place)
            kept = sorted(
                [*kept, segment_list.without(build, segment_list.whole(build, place), gone)], key=lambda one: one.place
            )
            taken = self._take_over(newest, build, kept)
            facts = {key: value for key, value in newest.manifest.items() if key not in _OF_FILES}
            return self._publish(profile, build, {**facts, "notes": [*facts.get("notes", ()), *notes]}, taken)

    def adopt(self, profile: Profile, parent: Parent) -> Generation:
        """Publish a generation that was finished but not yet pointed to when its builder died."""
        folder, generation = self.folder(profile), _generation(parent.folder, parent.manifest, True)
        if self.copies and not self.copies.listed(folder, generation.folder):
            self.copies.publish(folder, generation, parent.folder)
        elif self._current_name(profile) != parent.folder.name or self.pinned(profile):
            self._point(profile, parent.folder.name, pinned=False)
        return generation

    def _point(self, profile: Profile, name: str, *, pinned: bool) -> None:
        if self.copies:
            self.copies.serve(self.folder(profile), name, pinned=pinned)
        else:
            damage.point(self.folder(profile), name, pinned=pinned)

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
        """Remove damaged generations, those beyond the last few and those whose vectors came later, except the serving one
        and what somebody still reads."""
        serving = self._current_name(profile)
        folder = self.folder(profile)
        whole = [path.name for path, manifest in self._complete(profile) if not manifest.get("pending")]
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


def _waiting(generation: Path) -> list[Segment]:
    """Segments whose vectors are pending."""
    return [one for one in segment_list.listed(generation) if not segments.has_vectors(generation, one)]


def _read(generation: Path, segment: Segment, embed: Embed | None) -> SegmentRows:
    """What a segment is written from, with vectors that were pending."""
    rows = segments.read(generation, segment)
    if rows.vectors is not None or embed is None:
        return rows
    return replace(rows, vectors=embed(segments.texts(generation, segment)))


def _same(first: Path, one: Segment, second: Path, other: Segment) -> bool:
    """Whether two generations share a segment."""
    file = Path("served", "chunks.arrow")
    return one.place == other.place and os.path.samefile(one.folder(first) / file, other.folder(second) / file)


def _measured(parent: Parent | None) -> list[str]:
    """What was remarked about the ANN index of segments that are taken over."""
    return [note for note in parent.manifest.get("notes", ()) if note.startswith(_RECALL)] if parent else []


def _before(parent: Parent) -> writing.TableParent:
    """A parent whose rows are in a table."""
    facts = parent.manifest["table"]
    return writing.TableParent(parent.folder / "served", _table_place(parent.folder, facts), facts)


def _table_place(generation: Path, facts: Mapping[str, Any]) -> str:
    """Where the table of a generation is: at an address, or beside the generation."""
    return str(facts["place"]) or str(generation.parent)


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
        bytes=sum(manifest["files"].values()) + manifest.get("table", {}).get("bytes", 0),
        folder=path.name,
        current=current,
        notes=tuple(manifest.get("notes", ())),
        calls=manifest.get("calls", 0),
        worth=manifest.get("worth", 0.0),
        pending=manifest.get("pending", 0),
    )


def _stamp(path: str) -> tuple[int, int] | None:
    """What changes when a file is replaced; None while there is none."""
    try:
        stat = os.stat(path)
    except OSError:
        return None
    return stat.st_ino, stat.st_mtime_ns
