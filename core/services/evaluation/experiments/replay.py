"""What a replay of the thesis found, stage after stage."""

from __future__ import annotations

from dataclasses import dataclass, field

from core.evaluation.learning.crossfit import CrossFit
from core.evaluation.runs.run import Run
from core.evaluation.tuning.calibration import Calibration, Point
from core.services.evaluation.experiments.chunking import Trial

TAU = 0.95  # the thesis's own, where there are too few questions to calibrate one


@dataclass(slots=True)
class Replay:
    """What was found so far, stage after stage; `skipped` names what was left out and why."""

    chunkers: dict[str, Run] = field(default_factory=dict)
    trials: list[Trial] = field(default_factory=list)
    graphs: dict[str, Run] = field(default_factory=dict)
    alphas: dict[str, Run] = field(default_factory=dict)
    stages: dict[str, Run] = field(default_factory=dict)
    fits: dict[str, CrossFit] = field(default_factory=dict)
    calibrated: Calibration | None = None
    taus: tuple[Point, ...] = ()  # of table 5; the last reranks everything
    tau: float = TAU
    says: list[str] = field(default_factory=list)
    skipped: list[str] = field(default_factory=list)
