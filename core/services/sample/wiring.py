"""The sample, wired."""

from __future__ import annotations

from collections.abc import Callable

from core.access import SYSTEM
from core.services.impact.impacts import Impacts
from core.services.platform.base import Base, Step
from core.services.sample.past import SamplePast
from core.services.sample.sample import JOB, Eraser, Sample


def wire(base: Base, impacts: Impacts, past: Callable[[], SamplePast], seed: list[Step]) -> Sample:
    settings = base.settings
    elsewhere = bool(settings.database or settings.repository or settings.store)
    anew = [*seed, lambda: base.team_settings.start(SYSTEM.person)]
    eraser = Eraser(
        settings.home, base.repository, base.database, base.generations, base.team_settings, anew, elsewhere
    )
    sample = Sample(base.team_settings, impacts.jobs, past, eraser, impacts.start)
    base.events.built.then(sample.follow)
    base.upkeep.works[JOB] = sample.work
    return sample
