"""A node among others: it follows what they write, and records what one of them could not."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable
from typing import TYPE_CHECKING

from core.access import UPKEEP, use_case
from core.errors import ConcordError

if TYPE_CHECKING:
    from core.storage.git.repository import Repository
    from core.storage.state.database import Database

PAUSE = 1.0  # seconds between two looks at the shared repository
GRACE = 5.0  # seconds in which whoever moved the main line may record it; after that they are dead
_LOG = logging.getLogger(__name__)


class RepositorySync:
    """Keeps the clone of a node near the shared repository, while the node runs."""

    def __init__(
        self,
        repository: Repository,
        database: Database,
        repair: Callable[[], object],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.repository, self.database, self.repair, self.clock = repository, database, repair, clock
        self._unknown: tuple[str, float] = ("", 0.0)  # a commit of main that the audit lacks, and since when

    @use_case(UPKEEP)
    def run(self, ending: threading.Event) -> None:
        """Look about every second until the node ends; without a shared repository there is nothing to follow."""
        said = ""
        while self.repository.clone and not ending.wait(PAUSE):
            try:
                self.look()
                said = ""
            except ConcordError as error:
                if str(error) != said:
                    _LOG.error("%s", error)
                said = str(error)
            except Exception:  # the node serves on, and the next look tries again
                _LOG.exception("The shared repository was not followed.")

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
