"""The engine `image`: a generation is a list of segments, each written once and mapped into memory."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from core.adapters.system import sums
from core.storage.index import inspection
from core.storage.index.arrays import image
from core.storage.index.generation_list import Analyse, BuildBatch, BuiltFiles, Parent, Timed, generation_of
from core.storage.index.mapped import MappedIndex
from core.storage.index.record import lance, segment_list, segments
from core.storage.index.record.segment_list import Segment
from core.storage.index.record.segments import SegmentRows
from core.types import Profile

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
    notes: Sequence[str]


class ImageEngine:
    """Segments: an edit adds a small one beside those of the parent, which are linked."""

    def __init__(self, exact_limit: int, analyser: Callable[[Profile], Analyse]) -> None:
        """`exact_limit`: vectors are searched exactly up to here, by an ANN index beyond."""
        self.exact_limit, self._analyser = exact_limit, analyser

    def open(self, path: Path, manifest: Mapping[str, Any], profile: Profile) -> MappedIndex:
        return MappedIndex(path, generation_of(path, manifest), profile, self._analyser(profile), self.exact_limit)

    def check(self, path: Path, manifest: Mapping[str, Any]) -> Sequence[str]:
        return tuple(inspection.disagreements(path, manifest))

    def write(
        self, build: Path, profile: Profile, parent: Parent | None, batch: BuildBatch, timed: Timed
    ) -> BuiltFiles:
        rows = segments.rows_of(batch.documents, batch.chunks, batch.terms, batch.vectors, batch.extracts)
        kept: list[Segment] = []
        parts = [rows]
        if parent:
            with timed("read"):
                kept, small = self._kept(parent, batch)
                parts = [*(_read(parent.folder, one, batch.embed) for one in small if one.live), rows]
        notes, own = _measured(parent), list(kept)
        if any(len(part.documents) for part in parts) or not kept:
            notes += self._write_segment(profile, build, kept, segments.joined(parts), timed)
        taken = _take_over(parent, build, kept) if parent else {}
        if parent and batch.embed and batch.vectors is not None:
            with timed("vectors"):
                notes += self._add_vectors(parent, build, own, batch.embed)
        return _files(build, notes, taken)

    def _kept(self, parent: Parent, batch: BuildBatch) -> tuple[list[Segment], list[Segment]]:
        """The segments of a parent that are taken over, and small ones that are written anew together with the batch."""
        before = [segment_list.without(parent.folder, one, batch.gone) for one in segment_list.listed(parent.folder)]
        edited = batch.vectors is not None and (batch.documents or batch.gone)
        small = segments.folded(before, len(batch.chunks)) if edited else []
        return [one for one in before if one not in small and one.live], small

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

    # ------------------------------------------------------------ merging

    def due(self, parent: Parent) -> bool:
        """Whether there are so many segments, or so much of one is gone, that they should become one."""
        return bool(segments.due(segment_list.listed(parent.folder)))

    def merge(self, profile: Profile, parent: Parent, folder: Path) -> MergedSegment:
        """Write the segments that are due as one."""
        every = segment_list.listed(parent.folder)
        chosen = segments.due(every)
        rows = segments.joined([segments.read(parent.folder, one) for one in chosen])
        segments.write(folder, rows, profile.lexical, alone=len(chosen) == len(every))
        return MergedSegment(chosen, folder, self._ann(folder))

    def put_in_place(self, build: Path, newest: Parent, parent: Parent, merged: MergedSegment) -> BuiltFiles | None:
        """The newest generation with a merged segment instead of those it was made from; None if none is there any more.

        What an edit took from one of them meanwhile, it wrote elsewhere or left out: that is gone from the merged one too.
        """
        now, chosen = segment_list.listed(newest.folder), merged.chosen
        shared = {old: one for old in chosen for one in now if _same(parent.folder, old, newest.folder, one)}
        if not shared:
            return None
        gone = [doc for old in chosen for doc in segment_list.gone_since(parent.folder, old, shared.get(old))]
        kept = [one for one in now if one not in shared.values()]
        place = segment_list.free_place(kept)
        segments.move(merged.folder, build / place)
        kept.append(segment_list.without(build, segment_list.whole(build, place), gone))
        kept.sort(key=lambda one: one.place)
        taken = _take_over(newest, build, kept)
        facts = {key: value for key, value in newest.manifest.items() if key not in _OF_FILES}
        made = _files(build, [*facts.get("notes", ()), *merged.notes], taken)
        return replace(made, facts={**facts, **made.facts})


def pending_texts(parent: Parent) -> list[str]:
    """What the embedder has still to read of a generation, segment by segment."""
    waiting = _waiting(parent.folder) if parent.manifest.get("pending") else []
    return [text for one in waiting for text in segments.texts(parent.folder, one)]


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
    segment_list.write_list(build, kept)
    for one in kept:
        segments.complete(one.folder(build))
    return {name: known[name] for name in names if name in known}


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
