"""The unpublished generation of a change: the knowledge base as it would be after the merge, for nobody but its
reviewers.
"""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from core.access import SYSTEM
from core.cures import measure_impact
from core.errors import NotFound, Unavailable
from core.ports import Index, Progress, no_progress
from core.services.index.builder import IndexBuilder
from core.types import Profile

if TYPE_CHECKING:
    from core.storage.git.repository import Repository
    from core.storage.index.generations import Generations


class ChangeStates:
    """One place for generations per open change, beside the index that people search."""

    def __init__(
        self,
        root: Path,
        repository: Repository,
        builder: IndexBuilder,
        place: Callable[[Path], Generations],
        measured: Callable[[int], tuple[str, str] | None] = lambda number: None,
    ) -> None:
        """`measured` gives head and main of an open change as they were measured, on whichever machine."""
        self.root = root
        self.repository = repository
        self.builder = builder
        self._place = place
        self._measured = measured

    @contextmanager
    def both(
        self, number: int, profile: Profile, main: str, head: str, progress: Progress = no_progress
    ) -> Iterator[tuple[Index, Index]]:
        """Main as it is, and as it would be with the change; only what the change edits is chunked and embedded."""
        if self.builder.generations.current(profile) is None or self.builder.behind(profile):
            self.builder.build(profile, progress=progress)
        with self.builder.generations.at(profile, main) as before:
            if before is None:
                raise Unavailable("The knowledge base moved on while this was measured. It is measured again.")
            index, parent = before
            place = self._of(number)
            commit = self.repository.try_merge(main, head, SYSTEM.person)
            self.builder.build_offline(profile, commit, parent, place, progress)
            self._said(number).write_text(f"{head} {main}", encoding="utf-8")
            yield index, place.open(profile)

    def replayed(self, profile: Profile, steps: Iterable[tuple[str, str]]) -> Iterator[tuple[Index, Index]]:
        """Main before and after each of its steps, the oldest first: every state is built from the last one, aside."""
        with tempfile.TemporaryDirectory(prefix="concord-") as folder:
            place = self._place(Path(folder))
            for before, after in steps:
                yield self._state(place, profile, before), self._state(place, profile, after)

    def _state(self, place: Generations, profile: Profile, commit: str) -> Index:
        parent = next(iter(place.usable(profile)), None)
        if parent is None or parent.manifest["commit"] != commit:
            self.builder.build_offline(profile, commit, parent, place)
        return place.open(profile)

    def open(self, number: int, profile: Profile) -> Index:
        """The state of an open change as it was last measured; built here if another machine measured it."""
        place, measured = self._of(number), self._measured(number)
        if measured and (place.current(profile) is None or self._stale(number, measured)):
            self._build(number, profile, *measured)
        if place.current(profile) is None:
            raise NotFound(
                f"The state of change {number} is not kept: it is merged, closed or not measured yet.",
                measure_impact(number),
            )
        return place.open(profile)

    def _stale(self, number: int, measured: tuple[str, str]) -> bool:
        said = self._said(number)
        return said.exists() and said.read_text(encoding="utf-8").split() != list(measured)

    def _build(self, number: int, profile: Profile, head: str, main: str) -> None:
        """From the newest generation here that holds nothing else than the state does."""
        commit = self.repository.try_merge(main, head, SYSTEM.person)
        parents = self.builder.generations.usable(profile)
        older = (parent for parent in parents if self.repository.contains(commit, parent.manifest["commit"]))
        self.builder.build_offline(profile, commit, next(older, None), self._of(number))
        self._said(number).write_text(f"{head} {main}", encoding="utf-8")

    def _said(self, number: int) -> Path:
        """Of which text on which main line the state is."""
        return self.root / str(number) / "MEASURED"

    def forget(self, number: int) -> None:
        """Give the disk back; whoever reads the state keeps the files that are open."""
        shutil.rmtree(self.root / str(number), ignore_errors=True)

    def sweep(self, kept: Collection[int]) -> None:
        """Remove the states of all other changes."""
        for folder in self.root.glob("*") if self.root.is_dir() else ():
            if not folder.name.isdecimal() or int(folder.name) not in kept:
                shutil.rmtree(folder, ignore_errors=True)

    def _of(self, number: int) -> Generations:
        return self._place(self.root / str(number))
