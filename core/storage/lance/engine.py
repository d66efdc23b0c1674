"""The engine `lance`: the rows of a profile are in one table, and a generation names the version of it that it reads."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from core.errors import BadInput, Unavailable
from core.profiles import LANCE
from core.storage.index.generation_list import Catalogue, Parent, folder_name, generation_of
from core.storage.index.opening import Analyse, BuildBatch, BuiltFiles, Timed
from core.storage.lance import rows_written, table
from core.storage.lance.opened import TableIndex
from core.types import Profile


class LanceEngine:
    """One table per profile, beside its generations or on a store."""

    def __init__(self, catalogue: Catalogue, tables: str, analyser: Callable[[Profile], Analyse]) -> None:
        """`tables`: where the tables are, such as s3://bucket/tables; beside their generations if empty."""
        self.catalogue, self._tables, self._analyser = catalogue, tables, analyser

    def open(self, path: Path, manifest: Mapping[str, Any], profile: Profile) -> TableIndex:
        facts, generation = manifest["table"], generation_of(path, manifest)
        return TableIndex(path / "served", _place(path, facts), facts, generation, profile, self._analyser(profile))

    def check(self, path: Path, manifest: Mapping[str, Any]) -> Sequence[str]:
        facts = manifest["table"]
        return tuple(rows_written.disagreements(path / "served", _place(path, facts), facts, manifest["chunks"]))

    def write(
        self, build: Path, profile: Profile, parent: Parent | None, batch: BuildBatch, timed: Timed
    ) -> BuiltFiles:
        """Write to the table of a profile; the generation reads the version that this gives."""
        if batch.vectors is None:
            raise BadInput(f"The engine {LANCE} keeps words and vectors in one table: it is built with both.")
        before = _before(parent) if parent else None
        place = self._place_of(profile)
        if before and "://" in before.place and not self._tables:  # LanceDB clones no table with credentials of its own
            raise Unavailable(
                f"The table of profile {profile.name!r} is on the store, where no state is built aside: earlier days that are not "
                "kept and the impact of a change can be seen with a profile whose engine is image."
            )
        rows = rows_written.TableRows(
            batch.gone, batch.documents, batch.chunks, batch.terms, batch.vectors, batch.position
        )
        target = rows_written.TableTarget(
            place,
            {path.name: manifest["table"]["version"] for path, manifest in self.catalogue.complete(profile)},
            {generation.folder for generation in self.catalogue.all(profile)},
        )
        (build / "served").mkdir()
        written = rows_written.write(build / "served", target, before, rows, self._analyser(profile), timed)
        known = {**written, "place": place if "://" in place else ""}
        return BuiltFiles(
            {"chunks": written["chunks"], "pending": 0, "table": known, "notes": rows_written.notes(written)}, {}
        )

    def published(self, profile: Profile, folder: str, facts: Mapping[str, Any]) -> None:
        """Keep the version that it reads."""
        table.protect(table.newest(self._place_of(profile)), {folder: facts["table"]["version"]})

    def copy(self, profile: Profile, target: Path) -> None:
        if not self._tables:
            table.copy(str(self.catalogue.folder(profile)), target)

    def remove(self, profile: Profile) -> None:
        table.remove(self._place_of(profile))

    def _place_of(self, profile: Profile) -> str:
        """Where the table of a profile is written."""
        return f"{self._tables}/{folder_name(profile)}" if self._tables else str(self.catalogue.folder(profile))


def _before(parent: Parent) -> rows_written.TableParent:
    """A parent whose rows are in a table."""
    facts = parent.manifest["table"]
    return rows_written.TableParent(parent.folder / "served", _place(parent.folder, facts), facts)


def _place(generation: Path, facts: Mapping[str, Any]) -> str:
    """Where the table of a generation is: at an address, or beside the generation."""
    return str(facts["place"]) or str(generation.parent)
