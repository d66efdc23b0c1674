"""Telling answerable questions from unanswerable ones: the area under the curve, what a threshold costs, a logistic
fit.

Every question is asked twice: as it is, and with the documents that answer it taken away.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import date
from functools import cached_property
from math import exp, log
from typing import TYPE_CHECKING, Any, cast

from core.analysis import analyser
from core.errors import BadInput
from core.evaluation.statistics import RESAMPLES, SEED, Interval, wilson_lower, wilson_upper
from core.ports import Index
from core.types import Filters

if TYPE_CHECKING:
    import numpy as np


ALARMS = 0.05  # the share of answerable questions that may be doubted
STEPS = 20  # between the thresholds of a curve
_ROUNDS, _CONVERGED = 100, 1e-10


@dataclass(frozen=True, slots=True)
class ThresholdPoint:
    """What one threshold does: how many answerable questions it doubts, and how many unanswerable ones it lets pass."""

    threshold: float
    false_alarms: Interval
    misses: Interval


def auc_interval(answerable: Sequence[float], unanswerable: Sequence[float], resamples: int = RESAMPLES) -> Interval:
    """The chance that an answerable question has the higher confidence (equal ones count half), with its 95 % interval:
    questions are drawn anew, each with both of its confidences.

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


def threshold_curve(answerable: Sequence[float], unanswerable: Sequence[float]) -> tuple[ThresholdPoint, ...]:
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
    """A logistic regression by Newton's method: the intercept, then one coefficient for each column. Columns should
    have like scales, since `ridge` holds all of them back alike.

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


def without(index: Index, documents: Collection[int]) -> Index:
    """The index as it would be without these documents: nothing of them is found, and words are as rare as they are in
    the rest. BM25 still weighs words by all documents, which moves ranks a little and no cosine."""
    return cast("Index", _Remainder(index, documents))


class _Remainder:
    """Everything else is the index's own."""

    def __init__(self, index: Index, documents: Collection[int]) -> None:
        self._index = index
        self._gone = [chunk for document in documents for chunk in index.chunks_of(document)]

    def __getattr__(self, name: str) -> Any:
        return getattr(self._index, name)

    def allowed(self, filters: Filters, today: date) -> np.ndarray:
        """What passes the filters and is still there."""
        import numpy as np

        mask = self._index.allowed(filters, today)
        left = np.ones(self._index.size, dtype=np.bool_) if mask is None else mask.copy()
        left[self._gone] = False
        return left

    def rarity(self, term: str) -> float:
        """The inverse document frequency among what is left; 0 for a term that is gone with the documents."""
        known = self._index.rarity(term)
        chunks = (self._index.size + 1) / exp(known) - 0.5 - self._lost[term] if known else 0.0
        return log((self._index.size - len(self._gone) + 1) / (chunks + 0.5)) if chunks > 0.5 else 0.0

    @cached_property
    def _lost(self) -> Counter[str]:
        """How many of the passages that are gone hold each term."""
        analyse = analyser(self._index.profile.lexical)
        texts = (f"{self._index.context(chunk)}\n\n{self._index.excerpt(chunk)}" for chunk in self._gone)
        return Counter(term for text in texts for term in set(analyse(text)))
