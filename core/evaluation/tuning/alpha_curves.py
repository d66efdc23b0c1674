"""A measure as a function of alpha, with intervals, and the best alphas of each question."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from core.errors import BadInput
from core.evaluation.statistics import Interval, bootstrap
from core.evaluation.tuning import sweep
from core.types import NOTHING, SearchConfig

if TYPE_CHECKING:
    import numpy as np

STEPS = 101


@dataclass(frozen=True, slots=True)
class Curve:
    """A measure over alpha. `best` is the alpha of the highest mean, the smallest of equals."""

    measure: str
    alphas: tuple[float, ...]
    points: tuple[Interval, ...]
    best: float
    questions: int


def table(rows: sweep.SweepTable, config: SearchConfig, measure: str, steps: int = STEPS) -> np.ndarray:
    """The measure of every question (rows) at every alpha (columns)."""
    import numpy as np

    if config.fusion != "convex" or set(config.legs) != {"bm25", "dense"}:
        raise BadInput("An alpha sweep needs convex fusion of bm25 and dense, for example --config convex-0.5.")
    scaled = sweep.normalise(rows, config)
    columns = [
        sweep.measured(rows, sweep.fuse(scaled, replace(config, alpha=alpha, weights=NOTHING)), measure)
        for alpha in alphas(steps)
    ]
    return np.stack(columns, axis=1)


def alphas(steps: int = STEPS) -> tuple[float, ...]:
    """Evenly from 0 to 1.

    >>> alphas(5)
    (0.0, 0.25, 0.5, 0.75, 1.0)
    """
    return tuple(round(step / (steps - 1), 12) for step in range(steps))


def curve(scores: np.ndarray, measure: str) -> Curve:
    """The mean at every alpha with its 95 % interval."""
    points = bootstrap(scores)
    best = max(range(len(points)), key=lambda n: (points[n].mean, -n))
    every = alphas(scores.shape[1])
    return Curve(measure, every, tuple(points), every[best], len(scores))


def by_category(scores: np.ndarray, categories: Mapping[str, Sequence[int]], measure: str) -> dict[str, Curve]:
    """One curve per category; `categories` holds the rows of each."""
    return {name: curve(scores[list(rows)], measure) for name, rows in categories.items() if rows}


def per_question(scores: np.ndarray) -> list[tuple[float, float]]:
    """The alphas between which each question does best; the whole range where alpha does not matter."""
    import numpy as np

    every = alphas(scores.shape[1])
    top = scores >= scores.max(axis=1, keepdims=True) - 1e-12
    first, last = np.argmax(top, axis=1), scores.shape[1] - 1 - np.argmax(top[:, ::-1], axis=1)
    return [(every[a], every[b]) for a, b in zip(first.tolist(), last.tolist(), strict=True)]
