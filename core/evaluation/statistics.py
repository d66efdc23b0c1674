"""Bootstrap intervals, paired comparisons and Wilson bounds: which is better, by how much, how sure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import ceil, isfinite, sqrt
from typing import TYPE_CHECKING

from core.errors import BadInput

if TYPE_CHECKING:
    import numpy as np

RESAMPLES = 2000
SEED = 42
LEAST = 30  # queries; an interval over fewer says little about others
MATTERS = 0.01  # the smallest difference that anybody would act on
POWER = 1.96 + 0.8416  # 95 % confidence, 80 % power
TIE = 1e-9


@dataclass(frozen=True, slots=True)
class Interval:
    """A mean with the range that 95 % of resamples fall into."""

    mean: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class PairedComparison:
    """A paired comparison. `verdict` is better, worse or "not enough evidence"; `needed` is how many more judged
    queries would probably settle it."""

    difference: Interval
    wins: int
    ties: int
    losses: int
    queries: int
    verdict: str
    needed: int
    sentence: str


def bootstrap(scores: np.ndarray, resamples: int = RESAMPLES, seed: int = SEED) -> list[Interval]:
    """The mean of each column with its 95 % interval; rows are queries, columns alternatives.

    Resampling queries means weighing them by how often each was drawn: one product of matrices does all columns.

    >>> import numpy as np
    >>> bootstrap(np.array([[0.25, 1.0], [0.25, 0.0]]))[0]
    Interval(mean=0.25, low=0.25, high=0.25)
    """
    import numpy as np

    table = np.asarray(scores, dtype=np.float64)
    if table.ndim != 2 or not len(table):
        raise BadInput("There is nothing to resample: no query has a score.")
    drawn = _draws(len(table), resamples, seed) @ table / len(table)
    low, high = np.percentile(drawn, [2.5, 97.5], axis=0)
    means = table.mean(axis=0)
    return [
        Interval(float(m), min(float(m), float(a)), max(float(m), float(b)))
        for m, a, b in zip(means, low, high, strict=True)
    ]


@lru_cache(maxsize=2)
def _draws(queries: int, resamples: int, seed: int) -> np.ndarray:
    """How often each query is drawn in each resample; cached, since sliders and leaderboards repeat the same draws."""
    import numpy as np

    drawn = np.random.default_rng(seed).integers(0, queries, size=(resamples, queries), dtype=np.int64)
    drawn += np.arange(resamples, dtype=np.int64)[:, None] * queries
    return np.bincount(drawn.ravel(), minlength=resamples * queries).reshape(resamples, queries).astype(np.float64)


def compare(
    before: Sequence[float],
    after: Sequence[float],
    *,
    matters: float = MATTERS,
    resamples: int = RESAMPLES,
    seed: int = SEED,
) -> PairedComparison:
    """How much better `after` is than `before`, query by query.

    >>> compare([0.5] * 40, [0.75] * 40).sentence
    'Better by 0.250 (0.250 to 0.250): 40 wins, 0 ties, 0 losses.'
    """
    import numpy as np

    if len(before) != len(after):
        raise BadInput(f"A paired comparison needs the same queries: {len(before)} before, {len(after)} after.")
    gaps = np.asarray(after, dtype=np.float64) - np.asarray(before, dtype=np.float64)
    interval = bootstrap(gaps[:, None], resamples, seed)[0]
    wins, losses = int((gaps > TIE).sum()), int((gaps < -TIE).sum())
    settled = len(gaps) >= LEAST and (interval.low > 0 or interval.high < 0)
    verdict = ("better" if interval.mean > 0 else "worse") if settled else "not enough evidence"
    more = (
        0 if settled else needed(interval.mean, float(gaps.std(ddof=1)) if len(gaps) > 1 else 0.0, len(gaps), matters)
    )
    counts = f"{wins} wins, {len(gaps) - wins - losses} ties, {losses} losses"
    sentence = _sentence(interval, verdict, counts, more, matters)
    return PairedComparison(interval, wins, len(gaps) - wins - losses, losses, len(gaps), verdict, more, sentence)


def needed(difference: float, deviation: float, queries: int, matters: float = MATTERS) -> int:
    """How many more judged queries would show this difference, or one that matters if this one does not.

    The usual power estimate: n = ((1.96 + 0.84) * deviation / difference) ** 2.

    >>> needed(0.02, 0.2, 100)
    685
    """
    total = (POWER * deviation / max(abs(difference), matters)) ** 2
    return max(0, ceil(total) - queries, LEAST - queries) if isfinite(total) else 0


def _sentence(interval: Interval, verdict: str, counts: str, more: int, matters: float) -> str:
    sizes = f"{abs(interval.mean):.3f}"
    if verdict != "not enough evidence":
        low, high = sorted((abs(interval.low), abs(interval.high)))
        return f"{verdict.capitalize()} by {sizes} ({low:.3f} to {high:.3f}): {counts}."
    sentence = f"Not enough evidence: the difference is {interval.mean:+.3f} ({interval.low:+.3f} to {interval.high:+.3f}), {counts}."
    if not more:
        return f"{sentence} If there is a difference, it is {_at_most(interval, matters)}."
    about = max(abs(interval.mean), matters)
    return f"{sentence} About {more:,} more judged queries would show a difference of {about:.3f}."


def _at_most(interval: Interval, matters: float) -> str:
    """The largest difference that the interval allows, unless it is too small to matter."""
    far = max(abs(interval.low), abs(interval.high))
    return f"smaller than {matters:g}" if far < matters else f"probably not larger than {far:.3f}"


def percentile(values: Sequence[float], share: float) -> float:
    """The value below which a share of all values lies, between neighbours where it falls between them.

    >>> percentile([1.0, 2.0, 3.0, 4.0], 0.5), percentile([1.0, 2.0], 0.95)
    (2.5, 1.95)
    """
    if not values:
        return 0.0
    ordered = sorted(values)
    place = share * (len(ordered) - 1)
    low = int(place)
    high = min(low + 1, len(ordered) - 1)
    return ordered[low] + (ordered[high] - ordered[low]) * (place - low)


def wilson_lower(hits: int, n: int, z: float = 1.96) -> float:
    """The lowest precision still plausible at 95 % after `hits` successes in `n` trials (Wilson 1927).

    >>> round(wilson_lower(45, 50), 3)
    0.786
    """
    return max(0.0, _wilson(hits, n, -z)) if n else 0.0


def wilson_upper(hits: int, n: int, z: float = 1.96) -> float:
    """The highest precision still plausible at 95 % after `hits` successes in `n` trials.

    >>> round(wilson_upper(45, 50), 3)
    0.957
    """
    return min(1.0, _wilson(hits, n, z)) if n else 1.0


def _wilson(hits: int, n: int, z: float) -> float:
    p = hits / n
    return (p + z * z / (2 * n) + z * sqrt(p * (1 - p) / n + z * z / (4 * n * n))) / (1 + z * z / n)
