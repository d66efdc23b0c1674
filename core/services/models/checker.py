"""Checks language models with known items, feature by feature, and keeps what was found."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from core import strict
from core.access import Actor, use_case
from core.errors import BadInput, Unusable
from core.ports import Llm, Progress, no_progress
from core.services.jobs.jobs import Job, Jobs
from core.services.models.fitness import FEATURES, Fitness, ModelCheck
from core.services.models.probes import PROBES, Probe


class ModelChecker:
    """Runs the probes. `probed` gives a model without a cache and whether or not it is fit."""

    def __init__(self, probed: Callable[[str], Llm], fitness: Fitness, jobs: Jobs) -> None:
        self.probed, self.fitness, self.jobs = probed, fitness, jobs

    @use_case("check a language model")
    def check(
        self, actor: Actor, name: str = "", features: Sequence[str] = (), progress: Progress = no_progress
    ) -> tuple[ModelCheck, ...]:
        """Probe a model, the configured one by default; what was found before stays if it does not answer."""
        unknown = [feature for feature in features if feature not in FEATURES]
        if unknown:
            raise BadInput(f"There is no feature {unknown[0]!r}. Features: {', '.join(FEATURES)}.")
        llm, checks = self.probed(name), []
        chosen = list(features or FEATURES)
        for n, feature in enumerate(chosen):
            progress(n, len(chosen), f"Checking: {FEATURES[feature]}")
            checks.append(probe(llm, feature, PROBES[feature]))
            self.fitness.keep(checks[-1])
        progress(len(chosen), len(chosen), "Checked")
        fit = sum(check.fit for check in checks)
        self.fitness.audit.note(actor, "check a language model", llm.name, detail=f"fit for {fit} of {len(checks)}")
        return tuple(checks)

    @use_case("check a language model")
    def start(self, actor: Actor, name: str = "") -> Job:
        """Check a model in the background."""
        self.probed(name)  # a name that cannot be used is refused at once
        return self.jobs.start("check-model", {"name": name}, actor)

    def work(self, arguments: Mapping[str, Any], progress: Progress) -> Any:
        """The job `check-model`."""
        actor = self.jobs.actor(arguments, "check a language model")
        return [strict.plain(check) for check in self.check(actor, arguments["name"], progress=progress)]


def probe(llm: Llm, feature: str, items: Probe) -> ModelCheck:
    """How many items of a feature a model gets right; a server that does not answer is no verdict on the model."""
    started, right, why = time.perf_counter(), [], ""
    for item in items.items:
        try:
            right.append(item(llm))
        except Unusable as error:
            right.append(False)
            why = str(error)
        if not right[-1] and not why:
            why = "Its answers have the right form and are wrong."
    fooled = [item for item, passed in zip(items.items, right, strict=True) if item in items.must and not passed]
    why = "It obeys instructions in the passage that it judges." if fooled else why
    fit = sum(right) >= items.needed and not fooled
    seconds = round((time.perf_counter() - started) / len(right), 2)
    return ModelCheck(llm.name, llm.server, feature, sum(right), len(right), fit, "" if fit else why, seconds)
