"""What a node does by itself while it runs: its loops, and among other nodes that it follows what they write."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from core.access import UPKEEP, use_case
from core.errors import ConcordError
from core.types import REPOSITORY_MOVED

if TYPE_CHECKING:
    from core.storage.git.repository import Repository
    from core.storage.state.database import Database

PAUSE, ENDING = (
    1.0,
    5.0,
)  # seconds between two looks at what other nodes wrote, where nobody tells, and for a loop to end
GRACE = 5.0  # seconds in which whoever moved the main line may record it; after that they are dead
_LOG = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Loop:
    """What a node does again and again. A refusal that repeats is said once."""

    step: Callable[[], object]
    pause: float  # seconds between two rounds
    failed: str  # what the log says of a round that failed
    ended: Callable[[], object] = lambda: None
    ending: threading.Event = field(default_factory=threading.Event)
    wait: Callable[[threading.Event, float], bool] = (
        threading.Event.wait
    )  # for the next round; whether the end came meanwhile

    def run(self) -> None:
        said = ""
        while not self.wait(self.ending, self.pause):
            try:
                self.step()
                said = ""
            except ConcordError as error:
                if str(error) != said:
                    _LOG.error("%s %s", self.failed, error.at_terminal())
                said = str(error)
            except Exception:  # the node serves on, and the next round tries again
                _LOG.exception("%s", self.failed)
        self.ended()


class Background:
    """The loops of a node, each in its own thread: some follow what other nodes write, some are for servers."""

    def __init__(self, following: Sequence[Loop], serving: Sequence[Loop]) -> None:
        self.following, self.serving = following, serving
        self._threads: list[threading.Thread] = []

    @use_case(UPKEEP)
    def start(self, serves: bool = True) -> None:
        """A worker only follows."""
        for loop in (*self.following, *(self.serving if serves else ())):
            loop.ending.clear()
            self._threads.append(threading.Thread(target=loop.run, daemon=True))
            self._threads[-1].start()

    @use_case(UPKEEP)
    def end(self) -> None:
        """What is under way is written down, if it is quick."""
        for loop in (*self.following, *self.serving):
            loop.ending.set()
        for thread in self._threads:
            thread.join(ENDING)
        self._threads.clear()


class RepositorySync:
    """Keeps the clone of a node near the shared repository, while the node runs."""

    def __init__(
        self,
        repository: Repository,
        database: Database,
        repair: Callable[[], object],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.repository = repository
        self.database = database
        self.repair = repair
        self.clock = clock
        self._unknown: tuple[str, float] = ("", 0.0)  # a commit of main that the audit lacks, and since when

    def wait(self, ending: threading.Event, pause: float) -> bool:
        """For the next look: until a push is told, but not longer than usual while a commit is not recorded."""
        return ending.wait(pause) if self._unknown[0] else self.database.wait(REPOSITORY_MOVED, ending, pause)

    @use_case(UPKEEP)
    def look(self) -> None:
        """Once: fetch, and record a commit whose node died before it did."""
        self.repository.follow()
        head = self.repository.head()
        if not head or self.database.audit.last_commit() == head:
            self._unknown = ("", 0.0)
        elif self._unknown[0] != head:
            self._unknown = (head, self.clock())
        elif self.clock() - self._unknown[1] >= GRACE:
            self.repair()
            self._unknown = (head, self.clock())
