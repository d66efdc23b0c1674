"""Which segments a generation has, and what of them is gone.

gen-N/                        the first segment: fts.duckdb, vec/, graph/, served/, fields/
gen-N/segments/000001/        another one, of the same form
gen-N/SEGMENTS.json           the list; where there is none, the first segment is all, and whole
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pyarrow as pa

from core import strict
from core.adapters.system.files import read_json, write_atomic
from core.errors import Corrupt
from core.storage.index.arrays import image

_FOLDERS = ("vec", "served", "graph", "fields", "fields-of-all-words")


@dataclass(frozen=True, slots=True)
class Segment:
    """One part of a generation: where it lies, what it holds, and the numbers of its documents that are gone."""

    place: str
    documents: int
    chunks: int
    gone: tuple[int, ...] = ()
    live: int = 0  # chunks of documents that are not gone

    def folder(self, generation: Path) -> Path:
        return generation / self.place if self.place else generation

    def files(self, generation: Path) -> list[str]:
        """Its files, as the generation names them."""
        folder = self.folder(generation)
        found = [folder / "fts.duckdb", *(path for name in _FOLDERS for path in sorted((folder / name).rglob("*")))]
        return [str(path.relative_to(generation)) for path in found if path.is_file()]

    def __post_init__(self) -> None:
        if self.place and not self.place.startswith("segments/"):
            raise Corrupt(f"{image.LIST} names {self.place!r}, which is no place of a segment.")


def listed(generation: Path) -> tuple[Segment, ...]:
    """The segments of a generation, the first one first."""
    if not image.is_alone(generation):
        rows = read_json(generation / image.LIST)
        return tuple(Segment(**{**row, "gone": tuple(row["gone"])}) for row in rows)
    return (whole(generation, ""),)


def whole(generation: Path, place: str) -> Segment:
    """A segment of which nothing is gone."""
    served = generation / place / "served"
    documents, chunks = (len(image.read_table(served / f"{name}.arrow")) for name in ("documents", "chunks"))
    return Segment(place, documents, chunks, (), chunks)


def free_place(others: Sequence[Segment]) -> str:
    """Where one more segment goes: to the first place, or else to the one after the last.

    >>> free_place([Segment("", 1, 1), Segment("segments/000004", 1, 1)])
    'segments/000005'
    """
    places = [segment.place for segment in others]
    last = max((int(place.rpartition("/")[2]) for place in places if place), default=0)
    return f"segments/{last + 1:06d}" if "" in places else ""


def write_list(generation: Path, segments: Sequence[Segment]) -> None:
    """Write down which segments a generation has, unless it is the first alone."""
    alone = [(segment.place, segment.gone) for segment in segments] == [("", ())]
    if not alone or not (generation / "served" / "impacts.npy").exists():
        write_atomic(generation / image.LIST, strict.canonical(strict.plain(segments)))


def without(generation: Path, segment: Segment, gone: Iterable[str]) -> Segment:
    """The segment after some more of its documents are gone."""
    ids = image.MappedTexts(_served(generation, segment, "documents"), "doc")
    numbers = {*segment.gone, *(n for doc in gone if (n := ids.find(doc)) is not None)}
    if len(numbers) == len(segment.gone):
        return segment
    left = replace(segment, gone=tuple(sorted(numbers)))
    return replace(left, live=segment.chunks - int(of_gone(generation, left).sum()))


def gone_since(generation: Path, before: Segment, now: Segment | None) -> list[str]:
    """The ids of documents that were in a segment before and are gone from it now; all where it is not there any more."""
    gone = range(before.documents) if now is None else now.gone
    numbers = sorted(set(gone).difference(before.gone))
    ids: list[str] = _served(generation, before, "documents")["doc"].take(np.array(numbers, np.int64)).to_pylist()
    return ids


def of_gone(generation: Path, segment: Segment) -> np.ndarray:
    """Which chunks belong to documents that are gone."""
    chunks = _served(generation, segment, "chunks")
    return np.isin(image.numbers(chunks, "doc"), np.array(segment.gone, np.int32))


def gone_chunks(generation: Path, segment: Segment) -> list[str]:
    """The ids of chunks whose documents are gone."""
    places = np.flatnonzero(of_gone(generation, segment))
    ids: list[str] = _served(generation, segment, "chunks")["id"].take(places).to_pylist()
    return ids


def _served(generation: Path, segment: Segment, name: str) -> pa.Table:
    return image.read_table(segment.folder(generation) / "served" / f"{name}.arrow")
