"""Telling answerable questions from unanswerable ones: the area under the curve, what a threshold costs, a logistic fit.

Every question is asked twice: as it is, and with the documents that answer it taken away.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from core.errors import BadInput
from core.evaluation.statistics import RESAMPLES, SEED, Interval, wilson_lower, wilson_upper

if TYPE_CHECKING:
    import numpy as np

ALARMS = 0.1  # the share of answerable questions that may be doubted
STEPS = 20  # between the thresholds of a curve
_ROUNDS, _CONVERGED = 100, 1e-10


@dataclass(frozen=True, slots=True)
class ThresholdPoint:
    """What one threshold does: how many answerable questions it doubts, and how many unanswerable ones it lets pass."""

    threshold: float
    false_alarms: Interval
    misses: Interval


def auc(answerable: Sequence[float], unanswerable: Sequence[float]) -> float:
    """The chance that an answerable question has the higher confidence; equal ones count half.

    >>> auc([0.9, 0.4], [0.5, 0.1])
    0.75
    """
    return float(_wins(answerable, unanswerable).mean())


def auc_interval(answerable: Sequence[float], unanswerable: Sequence[float], resamples: int = RESAMPLES) -> Interval:
    """The same with its 95 % interval: questions are drawn anew, each with both of its confidences.

    >>> auc_interval([0.9, 0.8], [0.5, 0.1])
    Interval(mean=1.0, low=1.0, high=1.0)
    """
    import numpy as np

    wins, rng = _wins(answerable, unanswerable), np.random.default_rng(SEED)
    first, other = (rng.multinomial(n, np.full(n, 1.0 / n), resamples).astype(np.float64) for n in wins.shape)
    second = first if wins.shape[0] == wins.shape[1] else other
    areas = ((first @ wins) * second).sum(axis=1) / wins.size
    low, high = np.percentile(areas, [2.5, 97.5])
    return Interval(float(wins.mean()), float(low), float(high))


def point_at(threshold: float, answerable: Sequence[float], unanswerable: Sequence[float]) -> ThresholdPoint:
    """The error rates of one threshold, with Wilson's intervals.

    >>> point_at(0.5, [0.9, 0.4], [0.5, 0.1]).misses.mean
    0.5
    """
    doubted = sum(confidence < threshold for confidence in answerable)
    passed = sum(confidence >= threshold for confidence in unanswerable)
    return ThresholdPoint(threshold, _rate(doubted, len(answerable)), _rate(passed, len(unanswerable)))


def curve(answerable: Sequence[float], unanswerable: Sequence[float]) -> tuple[ThresholdPoint, ...]:
    """The error rates of every twentieth of the scale."""
    return tuple(point_at(step / STEPS, answerable, unanswerable) for step in range(STEPS + 1))


def threshold_for(answerable: Sequence[float], most: float = ALARMS) -> float:
    """The highest threshold, to the hundredth, that doubts at most this share of the answerable questions.

    >>> threshold_for([0.9, 0.8, 0.7, 0.2], 0.25), threshold_for([0.9, 0.57], 0.0), threshold_for([1 - 1e-16], 0.0)
    (0.7, 0.57, 0.99)
    """
    if not answerable:
        raise BadInput("No question to choose a threshold on.")
    if not 0 <= most < 1:
        raise BadInput(f"The share of false alarms lies between 0 and 1, not at {most:g}.")
    first = sorted(answerable)[int(most * len(answerable))]
    hundredths = int(100 * first + 1e-9)  # 0.57 is 56.99... of them
    return (hundredths - (hundredths / 100 > first)) / 100


def fit(rows: np.ndarray, labels: np.ndarray, ridge: float = 1.0) -> list[float]:
    """A logistic regression by Newton's method: the intercept, then one coefficient for each column. Columns should have
    like scales, since `ridge` holds all of them back alike.

    >>> import numpy as np
    >>> [round(value, 2) for value in fit(np.array([[0.0], [1.0], [0.0], [1.0]]), np.array([0, 1, 0, 1]), 0.1)]
    [-1.63, 3.27]
    """
    import numpy as np

    columns = np.column_stack([np.ones(len(rows)), rows])
    weights = np.zeros(columns.shape[1])
    penalty = ridge * np.diag([0.0, *[1.0] * (len(weights) - 1)])
    for _ in range(_ROUNDS):
        chance = 1.0 / (1.0 + np.exp(-columns @ weights))
        slope = columns.T @ (chance - labels) + penalty @ weights
        step = np.linalg.solve((columns.T * (chance * (1 - chance))) @ columns + penalty, slope)
        weights -= step
        if np.abs(step).max() < _CONVERGED:
            break
    fitted: list[float] = weights.tolist()
    return fitted


def _wins(answerable: Sequence[float], unanswerable: Sequence[float]) -> np.ndarray:
    """Whether each answerable question has the higher confidence than each unanswerable one."""
    import numpy as np

    if not len(answerable) or not len(unanswerable):
        raise BadInput("A curve needs answerable and unanswerable questions.")
    high, low = np.asarray(answerable)[:, None], np.asarray(unanswerable)[None, :]
    wins: np.ndarray = (high > low) + 0.5 * (high == low)
    return wins


def _rate(count: int, of: int) -> Interval:
    return Interval(count / of if of else 0.0, wilson_lower(count, of), wilson_upper(count, of))
