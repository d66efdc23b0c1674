"""What happens once a day."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from datetime import date

from core.errors import ConcordError
from core.ports import Clock

_LOG = logging.getLogger(__name__)


class Daily:
    """Runs the work of a day: at the start, and after midnight while the app runs. Each piece knows by itself what is done."""

    def __init__(self, clock: Clock, works: Sequence[Callable[[], object]]) -> None:
        self.clock, self.works = clock, works
        self._done: date | None = None

    def run(self) -> bool:
        """Do it, unless it was done today; whether it was. What fails is logged and does not stop the rest."""
        today = self.clock.today()
        if self._done == today:
            return False
        self._done = today
        for work in self.works:
            try:
                work()
            except ConcordError as error:
                _LOG.warning("The work of the day was not finished: %s", error)
        return True
