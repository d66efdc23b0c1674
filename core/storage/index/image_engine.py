"""How generations are written and opened: a list of segments, each written once and mapped into memory."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from core import strict
from core.adapters.system import sums
from core.storage.index import inspection
from core.storage.index.arrays import cache as array_cache
from core.storage.index.arrays import image
from core.storage.index.arrays.cache import ArrayCache
from core.storage.index.arrays.gone import gone_chunks, gone_since, of_gone, without
from core.storage.index.generation_list import Analyse, BuildBatch, BuiltFiles, Parent, Timed, generation_of
from core.storage.index.mapped import MappedIndex
from core.storage.index.record import lance, segment_list, segments, vectors
from core.storage.index.record.segment_list import Segment
from core.storage.index.record.segments import SegmentRows
from core.types import LexicalOptions, Profile

if TYPE_CHECKING:
    from core.storage.index.generation_list import Embed

_RECALL = "ANN index: recall@10"
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


@dataclass(frozen=True, slots=True)
class MergedSegment:
    """One segment written from several of a parent, before it is put in their place."""

    chosen: Sequence[Segment]
    folder: Path
    segment: Segment
    notes: Sequence[str]


class ImageEngine:
    """Segments: an edit adds a small one beside those of the parent, which are linked."""

    def __init__(
        self, exact_limit: int, analyser: Callable[[Profile], Analyse], arrays: Path, others: Sequence[Path] = ()
    ) -> None:
        """`exact_limit`: vectors are searched exactly up to here, by an ANN index beyond. `arrays` are kept in a
        folder; in `others` they are looked for, too."""
        self.exact_limit, self._analyser = exact_limit, analyser
        self.arrays, self._others = arrays, others

    def cache(self, options: LexicalOptions) -> ArrayCache:
        """The arrays of what is analysed so."""
        return ArrayCache(self.arrays, options, self._others)

    def ready(self, path: Path, profile: Profile) -> None:
        """Make the arrays of a generation that are missing; Corrupt if what they follow from is damaged."""
        cache = self.cache(profile.lexical)
        for segment in segment_list.listed(path):
            cache.checked(path, segment)

    def collect(self, generations: Sequence[Path]) -> None:
        """Remove the arrays that none of these generations needs."""
        array_cache.collect(self.arrays, generations)

    def open(self, path: Path, manifest: Mapping[str, Any], profile: Profile) -> MappedIndex:
        cache = self.cache(profile.lexical)
        return MappedIndex(
            path, cache, generation_of(path, manifest), profile, self._analyser(profile), self.exact_limit
        )

    def check(self, path: Path, manifest: Mapping[str, Any]) -> Sequence[str]:
        options = strict.parse(LexicalOptions, manifest["profile"]["lexical"], "the manifest")
        return tuple(inspection.disagreements(path, manifest, self.cache(options)))

    def write(
        self, build: Path, profile: Profile, parent: Parent | None, batch: BuildBatch, timed: Timed
    ) -> BuiltFiles:
        cache = self.cache(profile.lexical)
        rows = segments.rows_of(batch.documents, batch.chunks, batch.terms, batch.vectors, batch.extracts)
        kept: list[Segment] = []
        parts = [rows]
        if parent:
            with timed("read"):
                kept, small = _kept(cache, parent, batch)
                parts = [*(_read(cache, parent.folder, one, batch.embed) for one in small if one.live), rows]
        notes, own = _measured(parent), list(kept)
        if any(len(part.documents) for part in parts) or not kept:
            place = segment_list.free_place(kept)
            segment = self._write_segment(cache, build, place, segments.joined(parts), timed)
            kept = sorted([*kept, segment], key=lambda one: one.place)
            with timed("vectors"):
                notes += self._ann(cache, build, segment)
        taken = _take_over(parent, build, kept) if parent else {}
        segment_list.write_list(build, kept)
        if parent and batch.embed and batch.vectors is not None:
            with timed("vectors"):
                notes += self._add_vectors(cache, parent, build, own, batch.embed)
        return _files(build, notes, taken)

    def _write_segment(
        self, cache: ArrayCache, build: Path, place: str, rows: SegmentRows, timed: Callable[[str], Any]
    ) -> Segment:
        """Write one more segment, and its arrays, so that the first search does not wait for them."""
        segment = Segment(place, len(rows.documents), len(rows.chunks), (), len(rows.chunks))
        with cache.making() as aside:
            with segments.written(segment.folder(build), rows, timed) as connection:
                array_cache.write(connection, aside, cache.options)
            with timed("lexical"):
                cache.keep(aside, build, segment)
        return segment

    def _add_vectors(
        self, cache: ArrayCache, parent: Parent, build: Path, kept: Sequence[Segment], embed: Embed
    ) -> list[str]:
        """Vectors for the words that are taken over without; what there is to remark."""
        notes = []
        for one in kept:
            if not vectors.present(one.folder(parent.folder)):
                ids, live = _ids(cache, parent.folder, one), ~of_gone(cache, parent.folder, one)
                embedded = embed(_texts(cache, parent.folder, one))
                rows = np.zeros((len(ids), embedded.shape[1]), dtype=np.float32)  # what is gone gets zeros
                rows[live] = embedded
                vectors.write(one.folder(build), ids, rows)
                notes += self._ann(cache, build, one)
        return notes

    def _ann(self, cache: ArrayCache, generation: Path, segment: Segment) -> list[str]:
        """Beyond the exact limit: build the ANN index and measure its recall against exact search."""
        rows = cache.vectors(generation, segment) if segment.chunks > self.exact_limit else None
        if rows is None:
            return []
        folder, ids = segment.folder(generation) / vectors.FOLDER, _ids(cache, generation, segment)
        lance.build_ann(folder, len(rows))
        sample = range(0, len(rows), max(1, len(rows) // 100))
        hits = 0
        for n in sample:
            best = {ids[m] for m in np.argsort(-(rows @ rows[n]), kind="stable")[:10].tolist()}
            hits += len(best.intersection(lance.search_ann(folder, rows[n], 10)[0]))
        return [f"{_RECALL} {hits / (10 * len(sample)):.3f} on {len(sample)} queries"]

    # ------------------------------------------------------------ merging

    def due(self, parent: Parent) -> bool:
        """Whether there are so many segments, or so much of one is gone, that they should become one."""
        return bool(segments.due(segment_list.listed(parent.folder)))

    def merge(self, profile: Profile, parent: Parent, folder: Path) -> MergedSegment:
        """Write the segments that are due as one."""
        cache = self.cache(profile.lexical)
        chosen = segments.due(segment_list.listed(parent.folder))
        rows = segments.joined([_read(cache, parent.folder, segment, None) for segment in chosen])
        segment = self._write_segment(cache, folder, "", rows, lambda name: nullcontext())
        return MergedSegment(chosen, folder, segment, self._ann(cache, folder, segment))

    def put_in_place(
        self, build: Path, profile: Profile, newest: Parent, parent: Parent, merged: MergedSegment
    ) -> BuiltFiles | None:
        """The newest generation with a merged segment instead of those it was made from; None if none is there any
        more.

        What an edit took from one of them meanwhile, it wrote elsewhere or left out: that is gone from the merged one
        too.
        """
        cache = self.cache(profile.lexical)
        now, chosen = segment_list.listed(newest.folder), merged.chosen
        shared = {old: one for old in chosen for one in now if _same(parent.folder, old, newest.folder, one)}
        if not shared:
            return None
        gone = [doc for old in chosen for doc in gone_since(cache, parent.folder, old, shared.get(old))]
        kept = [one for one in now if one not in shared.values()]
        segment = replace(merged.segment, place=segment_list.free_place(kept))
        segments.move(merged.folder, segment.folder(build))
        kept = sorted([*kept, without(cache, build, segment, gone)], key=lambda one: one.place)
        taken = _take_over(newest, build, kept)
        segment_list.write_list(build, kept)
        facts = {key: value for key, value in newest.manifest.items() if key not in _OF_FILES}
        made = _files(build, [*facts.get("notes", ()), *merged.notes], taken)
        return replace(made, facts={**facts, **made.facts})

    def pending_texts(self, profile: Profile, parent: Parent) -> list[str]:
        """What the embedder has still to read of a generation, segment by segment."""
        cache = self.cache(profile.lexical)
        waiting = _waiting(parent.folder) if parent.manifest.get("pending") else []
        return [text for one in waiting for text in _texts(cache, parent.folder, one)]


def _kept(cache: ArrayCache, parent: Parent, batch: BuildBatch) -> tuple[list[Segment], list[Segment]]:
    """The segments of a parent that are taken over, and small ones that are written anew together with the batch."""
    before = [without(cache, parent.folder, one, batch.gone) for one in segment_list.listed(parent.folder)]
    edited = batch.vectors is not None and (batch.documents or batch.gone)
    small = segments.folded(before, len(batch.chunks)) if edited else []
    return [one for one in before if one not in small and one.live], small


def _ids(cache: ArrayCache, generation: Path, segment: Segment) -> list[str]:
    return cache.read(generation, segment, _chunk_ids)


def _chunk_ids(folder: Path) -> list[str]:
    ids: list[str] = image.read_table(folder / "chunks.arrow")["id"].to_pylist()
    return ids


def _texts(cache: ArrayCache, generation: Path, segment: Segment) -> list[str]:
    """What the embedder reads of each chunk that is not gone, in the order of their ids."""
    live = np.flatnonzero(~of_gone(cache, generation, segment)).tolist()
    return cache.read(generation, segment, lambda folder: image.embedded_texts(folder, live))


def _files(build: Path, notes: Sequence[str], taken: Mapping[str, str]) -> BuiltFiles:
    counts = {
        "chunks": sum(one.live for one in segment_list.listed(build)),
        "pending": sum(one.live for one in _waiting(build)),
    }
    return BuiltFiles({**counts, "notes": list(notes)}, taken)


def _take_over(parent: Parent, build: Path, kept: Sequence[Segment]) -> dict[str, str]:
    """Link the files of the parent's segments that are kept. Gives their checksums."""
    known = sums.read(parent.folder) or {}
    names = [
        name
        for one in kept
        if not one.folder(build).joinpath("fts.duckdb").exists()
        for name in one.files(parent.folder)
    ]
    segments.link(parent.folder, build, names)
    return {name: known[name] for name in names if name in known}


def _waiting(generation: Path) -> list[Segment]:
    """Segments whose vectors are pending."""
    return [one for one in segment_list.listed(generation) if not vectors.present(one.folder(generation))]


def _read(cache: ArrayCache, generation: Path, segment: Segment, embed: Embed | None) -> SegmentRows:
    """What a segment is written from, with vectors that were pending."""
    rows = segments.read(generation, segment, gone_chunks(cache, generation, segment))
    if rows.vectors is not None or embed is None:
        return rows
    return replace(rows, vectors=embed(_texts(cache, generation, segment)))


def _same(first: Path, one: Segment, second: Path, other: Segment) -> bool:
    """Whether two generations share a segment."""
    file = "fts.duckdb"
    return one.place == other.place and os.path.samefile(one.folder(first) / file, other.folder(second) / file)


def _measured(parent: Parent | None) -> list[str]:
    """What was remarked about the ANN index of segments that are taken over."""
    return [note for note in parent.manifest.get("notes", ()) if note.startswith(_RECALL)] if parent else []
