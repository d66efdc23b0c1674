"""Which segments a generation has, and what of them is gone.

gen-N/                        the first segment: fts.duckdb, vec/, graph/
gen-N/segments/000001/        another one, of the same form
gen-N/SEGMENTS.json           the list; where earlier versions wrote none, the first segment is all, and whole
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from core import strict
from core.adapters.system.files import read_json, write_atomic
from core.errors import Corrupt

LIST = "SEGMENTS.json"
_FOLDERS = ("vec", "graph")


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
            raise Corrupt(f"{LIST} names {self.place!r}, which is no place of a segment.")


def listed(generation: Path) -> tuple[Segment, ...]:
    """The segments of a generation, the first one first."""
    if (generation / LIST).exists():
        rows = read_json(generation / LIST)
        return tuple(Segment(**{**row, "gone": tuple(row["gone"])}) for row in rows)
    facts = read_json(generation / "MANIFEST.json")
    return (Segment("", len(facts["documents"]), facts["chunks"], (), facts["chunks"]),)


def is_alone(segments: Sequence[Segment]) -> bool:
    """Whether one segment is all there is, and nothing of it is gone."""
    return len(segments) == 1 and not segments[0].gone


def free_place(others: Sequence[Segment]) -> str:
    """Where one more segment goes: to the first place, or else to the one after the last.

    >>> free_place([Segment("", 1, 1), Segment("segments/000004", 1, 1)])
    'segments/000005'
    """
    places = [segment.place for segment in others]
    last = max((int(place.rpartition("/")[2]) for place in places if place), default=0)
    return f"segments/{last + 1:06d}" if "" in places else ""


def write_list(generation: Path, segments: Sequence[Segment]) -> None:
    """Write down which segments a generation has."""
    write_atomic(generation / LIST, strict.canonical(strict.plain(segments)))
