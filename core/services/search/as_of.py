"""Search as of an earlier day: a kept generation answers at once, an older one is built aside from the caches."""

from __future__ import annotations

import os
import shutil
import threading
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from core.access import ANYONE, SYSTEM, reading_as, use_case
from core.errors import Unavailable
from core.lru import LruCache
from core.ports import Index, Progress, no_progress
from core.services.index.builder import IndexBuilder
from core.services.platform.main_line import MainLine, Moment
from core.types import Profile

if TYPE_CHECKING:
    from core.storage.index.generation_list import Parent
    from core.storage.index.generations import Generations

KEPT = 6  # states that stay on the disk; the one used longest ago goes first
OPEN = 4  # of them that stay open


@dataclass(frozen=True, slots=True)
class PastIndex:
    """The index of an earlier state, and the state it is of."""

    index: Index
    moment: Moment


class AsOf:
    """Indexes of earlier states of the main line, beside the ones that serve."""

    def __init__(
        self,
        root: Path,
        line: MainLine,
        builder: IndexBuilder,
        place: Callable[[Path], Generations],
        require_room: Callable[[str], None] = lambda what: None,
        view: Callable[[Index], Index] = lambda index: index,
    ) -> None:
        """`view` gives an index as whoever reads now may see it; what is kept is whole."""
        self._view = view
        self.root = root
        self.line = line
        self.builder = builder
        self._place = place
        self._require_room = require_room
        self._open: LruCache[tuple[str, Profile], Index] = LruCache(OPEN)
        self._opening = threading.Lock()  # one build at a time: whoever asks for the same state finds it built

    @use_case(ANYONE)
    def moment(self, when: str) -> Moment:
        """The state at the end of a day, or of a commit."""
        return self.line.moment(when)

    @use_case(ANYONE)
    def open(self, when: str, profile: Profile, progress: Progress = no_progress) -> PastIndex:
        """The index of a profile as it was; built aside if no generation of that state is kept."""
        moment = self.moment(when)
        with self._opening, reading_as(SYSTEM):
            key = (moment.commit, profile)
            index = self._open.find(key, lambda: self._another(moment.commit, profile, progress))
        return PastIndex(self._view(index), moment)

    def _another(self, commit: str, profile: Profile, progress: Progress) -> Index:
        """One more open index; where memory is short, in the place of all others."""
        try:
            self._require_room("no earlier state is opened")
        except Unavailable:
            self._open.clear()
            self._require_room("no earlier state is opened")
        return self._found(commit, profile, progress)

    def _found(self, commit: str, profile: Profile, progress: Progress) -> Index:
        kept = self.builder.generations.kept(profile, commit)
        if kept:
            return kept[0]
        place = self._place(self.root / commit)
        if place.current(profile) is None:
            self.builder.build_offline(profile, commit, self._parent(commit, profile), place, progress)
        os.utime(self.root / commit)
        self._sweep()
        return place.open(profile)

    def _parent(self, commit: str, profile: Profile) -> Parent | None:
        """The nearest generation before the state; later ones do not help, for they lack what was removed since."""
        contains = self.builder.repository.contains
        older = (
            parent for parent in self.builder.generations.usable(profile) if contains(commit, parent.manifest["commit"])
        )
        return next(older, None)

    def _sweep(self) -> None:
        """Remove the states used longest ago; whoever reads one keeps the files that are open."""
        folders = sorted(self.root.iterdir(), key=lambda folder: -folder.stat().st_mtime)
        for folder in folders[KEPT:]:
            shutil.rmtree(folder, ignore_errors=True)
