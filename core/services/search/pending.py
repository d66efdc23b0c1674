"""Vectors that are still being computed: how far that is, and the one sentence that says so wherever people search."""

from __future__ import annotations

import math
from collections.abc import Callable
from datetime import datetime

from core.access import ANYONE, use_case
from core.bulk import WORKS
from core.services.jobs.jobs import Jobs, seconds_left
from core.types import Generation, Pending


def sentence(pending: Pending) -> str:
    """What to say above the results.

    >>> sentence(Pending(131, 531, 38.2))
    'By words so far: meaning is added in about 40 s.'
    >>> sentence(Pending(0, 531))
    'By words so far: meaning is added soon.'
    """
    if pending.stopped:
        return "By words so far: meaning could not be added. An admin can rebuild it on the Index page."
    return (
        "By words so far: meaning is added "
        f"{'soon' if pending.seconds is None else f'in about {_about(pending.seconds)}'}."
    )


def _about(seconds: float) -> str:
    """A time that is not known better.

    >>> _about(3.2), _about(38.2), _about(190), _about(9000)
    ('5 s', '40 s', '4 min', '3 h')
    """
    if seconds <= 90:
        return f"{max(5, 5 * math.ceil(seconds / 5))} s"
    return f"{math.ceil(seconds / 60)} min" if seconds <= 5400 else f"{math.ceil(seconds / 3600)} h"


class VectorProgress:
    """How far the vectors of a generation are, by the job that computes them."""

    def __init__(self, jobs: Jobs, now: Callable[[], datetime] = lambda: datetime.now().astimezone()) -> None:
        self.jobs, self._now = jobs, now

    @use_case(ANYONE)
    def of(self, generation: Generation | None) -> Pending | None:
        """None where every chunk has its vector."""
        if generation is None or not generation.pending:
            return None
        builds = (job for job in self.jobs.recent(50) if job.kind == "reindex")
        job = next((job for job in builds if job.arguments.get("profile") == generation.profile), None)
        if job is None or job.message != WORKS["embed"].title or not job.open:
            return Pending(0, generation.pending, stopped=job is not None and job.state in ("failed", "cancelled"))
        done = generation.pending - (job.total - job.done)
        return Pending(max(0, done), generation.pending, seconds_left(job, self._now()))
