"""What happens once a day."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Sequence
from datetime import date

from core.access import UPKEEP, use_case
from core.errors import ConcordError
from core.ports import Clock

HOUR, WEEK, PAUSE = 3600.0, 7 * 86_400.0, 600.0  # seconds
_LOG = logging.getLogger(__name__)


class Daily:
    """Runs the work of a day: at the start, and after midnight while the app runs. Each piece knows by itself what is done.

    Where nodes share a database, the first to `claim` the day does it for all; if it dies, another one does after an hour.
    """

    def __init__(
        self,
        clock: Clock,
        works: Sequence[Callable[[], object]],
        claim: Callable[[str, float], bool] = lambda name, seconds: True,
    ) -> None:
        self.clock, self.works, self.claim = clock, works, claim
        self._done: date | None = None
        self._again = 0.0  # when to ask once more whether the node that does it is alive

    @use_case(UPKEEP)
    def run(self) -> bool:
        """Do it, unless it was done today; whether it was. What fails is logged and does not stop the rest."""
        today = self.clock.today()
        if self._done == today or time.monotonic() < self._again:
            return False
        if not self.claim(f"day {today}", HOUR):
            self._again = time.monotonic() + PAUSE
            return False
        self._done = today
        for work in self.works:
            try:
                work()
            except ConcordError as error:
                _LOG.warning("The work of the day was not finished: %s", error)
        self.claim(f"day {today}", WEEK)
        return True
