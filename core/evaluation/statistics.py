"""Bootstrap intervals, paired comparisons, Holm's correction and Wilson bounds: which is better, by how much, how
sure.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from math import ceil, exp, isfinite, sqrt
from statistics import NormalDist
from typing import TYPE_CHECKING

from core.errors import BadInput

if TYPE_CHECKING:
    import numpy as np

RESAMPLES = 2000
SEED = 42
LEAST = 30  # queries; an interval over fewer says little about others
DIFFER = 10  # queries that differ at all; what fewer say is chance, whatever the interval
ERROR = 0.05  # the largest p of better and worse, and the share of intervals that miss (docs/research/benchmarks.md)
FLIPS = 10_000  # random sign patterns of the randomisation test
EXACT = 12  # queries that differ: up to here every sign pattern is tried
ENTRIES = 4_000_000  # of the matrix of signs, so that many queries do not fill the memory
MATTERS = 0.02  # the smallest difference that anybody would act on
BETTER, WORSE = "better", "worse"
SAME, OPEN = "no difference", "open"
VERDICTS = (BETTER, WORSE, SAME, OPEN)
TIE = 1e-9
_NORMAL = NormalDist()


@dataclass(frozen=True, slots=True)
class Interval:
    """A mean with the range that 95 % of resamples fall into."""

    mean: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class PairedComparison:
    """A paired comparison. `verdict` is better, worse, "no difference" (none larger than `MATTERS`: the interval shows
    it) or open; `needed` is how many more judged questions would probably settle it. Where `comparisons` are many, p,
    interval, verdict and `needed` are corrected for their number."""

    difference: Interval
    wins: int
    ties: int
    losses: int
    queries: int
    verdict: str
    needed: int
    sentence: str
    p: float = 1.0
    comparisons: int = 1
    deviation: float = 0.0  # of the differences of single questions

    @property
    def word(self) -> str:
        """The verdict as tables show it: with the largest difference that there can be, where there is none that
        matters.

        >>> compare([0.5] * 60, [0.502, 0.498] * 30).word
        'no difference larger than 0.001'
        """
        return f"{SAME} larger than {_largest(self.difference):.3f}" if self.verdict == SAME else self.verdict

    @property
    def differ(self) -> int:
        """Queries that are not ties."""
        return self.wins + self.losses


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
    before: Sequence[float], after: Sequence[float], *, resamples: int = RESAMPLES, seed: int = SEED
) -> PairedComparison:
    """How much better `after` is than `before`, question by question.

    >>> compare([0.5] * 40, [0.75] * 40).sentence
    'Better by 0.250 (0.250 to 0.250), p < 0.001: 40 wins, 0 ties, 0 losses.'
    >>> compare([0.5] * 60, [0.75] * 4 + [0.5] * 56).verdict
    'open'
    """
    import numpy as np

    if len(before) != len(after):
        raise BadInput(f"A paired comparison needs the same queries: {len(before)} before, {len(after)} after.")
    gaps = np.asarray(after, dtype=np.float64) - np.asarray(before, dtype=np.float64)
    interval = bootstrap(gaps[:, None], resamples, seed)[0]
    wins, losses = int((gaps > TIE).sum()), int((gaps < -TIE).sum())
    deviation = float(gaps.std(ddof=1)) if len(gaps) > 1 else 0.0
    counts = (wins, len(gaps) - wins - losses, losses, len(gaps))
    measured = PairedComparison(interval, *counts, "", 0, "", randomisation(gaps, seed), deviation=deviation)
    return _judged(measured, 1)


def randomisation(gaps: np.ndarray, seed: int = SEED) -> float:
    """How often chance alone gives a difference this large: the paired randomisation test, two-sided (Fisher 1935).

    Without a true difference every sign of every gap is a coin. Few gaps are tried in all patterns, many in random
    ones; beyond what those can resolve, Hoeffding's bound holds.

    >>> import numpy as np
    >>> randomisation(np.array([0.1, 0.2, 0.0, 0.3, 0.1])), randomisation(np.zeros(9))
    (0.125, 1.0)
    >>> randomisation(np.array([0.6151814836283251, 0.1875, 0.1875, -1.0]))  # no pattern is nearer to nothing
    1.0
    """
    import numpy as np

    sizes = gaps[np.abs(gaps) > TIE]
    if not len(sizes):
        return 1.0
    few = len(sizes) <= EXACT
    seen = abs(float(sizes.sum())) * (1 - 1e-6) - TIE
    lengths = np.abs(sizes).astype(np.float64 if few else np.float32)  # a sum of few is compared with itself
    beyond = np.abs(_signs(len(sizes), seed) @ lengths) >= seen
    if few:
        return float(beyond.mean())
    bound = 2 * exp(-(seen**2) / (2 * float((sizes**2).sum())))
    return min(float(1 + beyond.sum()) / (1 + len(beyond)), bound)


def _signs(gaps: int, seed: int) -> np.ndarray:
    """Patterns of plus and minus: all of them, or random ones."""
    import numpy as np

    if gaps <= EXACT:
        return (2 * (np.arange(2**gaps)[:, None] >> np.arange(gaps) & 1) - 1).astype(np.float32)
    return _coins(1 << (gaps - 1).bit_length(), seed)[:, :gaps]


@lru_cache(maxsize=2)
def _coins(gaps: int, seed: int) -> np.ndarray:
    """Random patterns, a row each; cached by powers of two, since the number of gaps moves with every slider."""
    import numpy as np

    rows = min(FLIPS, max(1000, ENTRIES // gaps))
    return (2.0 * np.random.default_rng(seed).integers(0, 2, size=(rows, gaps), dtype=np.int8) - 1).astype(np.float32)


def holm(comparisons: Sequence[PairedComparison], of: int = 0) -> list[PairedComparison]:
    """The same comparisons corrected for their number (Holm 1979), or for a larger number that they are part of.

    >>> single = compare([0.5] * 60, [0.5] * 48 + [0.6] * 10 + [0.4] * 2)
    >>> single.verdict, holm([single], of=15)[0].verdict
    ('better', 'open')
    """
    total = max(of, len(comparisons))
    order = sorted(range(len(comparisons)), key=lambda n: comparisons[n].p)
    corrected, highest, step = list(comparisons), 0.0, total
    for place, n in enumerate(order):
        if comparisons[n].p * (total - place) > highest:
            highest, step = min(1.0, comparisons[n].p * (total - place)), total - place
        share = step if highest <= ERROR else total
        corrected[n] = _judged(replace(comparisons[n], p=highest, comparisons=total), share)
    return corrected


def _judged(measured: PairedComparison, share: int) -> PairedComparison:
    """With its verdict: enough questions, enough that differ, and neither interval nor test allow for chance.

    `share` is among how many comparisons the risk of an error is divided.
    """
    interval = _widened(measured.difference, _reach(share) / _reach(1), measured.p)
    judged = replace(measured, difference=interval, verdict=OPEN)
    if measured.queries >= LEAST and measured.differ >= DIFFER:
        judged = replace(judged, verdict=_verdict(interval, measured.p))
    more = needed(interval.mean, measured.deviation, measured.queries, measured.differ, share)
    judged = replace(judged, needed=more if judged.verdict == OPEN else 0)
    return replace(judged, sentence=_sentence(judged))


def _verdict(interval: Interval, p: float) -> str:
    if p <= ERROR and (interval.low > 0 or interval.high < 0):
        return BETTER if interval.mean > 0 else WORSE
    return SAME if _largest(interval) <= MATTERS else OPEN


def _widened(interval: Interval, by: float, p: float) -> Interval:
    """The interval at the level that is tested; it holds 0 where the test does not exclude it."""
    low, high = (interval.mean + by * (end - interval.mean) for end in (interval.low, interval.high))
    return Interval(interval.mean, *((low, high) if p <= ERROR else (min(low, 0.0), max(high, 0.0))))


def _reach(share: int) -> float:
    """Standard errors from the mean to the ends of an interval: 1.96, more among several comparisons.

    >>> round(_reach(1), 2), round(_reach(14), 2)
    (1.96, 2.91)
    """
    return _NORMAL.inv_cdf(1 - ERROR / (2 * share))


def _largest(interval: Interval) -> float:
    """The largest difference that an interval allows."""
    return max(abs(interval.low), abs(interval.high))


def needed(difference: float, deviation: float, queries: int, differ: int = DIFFER, share: int = 1) -> int:
    """How many more judged questions would probably settle it: show this difference, or that none is there that
    matters.

    The usual power estimate with 80 %, at the corrected level: n = ((1.96 + 0.84) * deviation / difference) ** 2; and
    so many that enough of them differ.

    >>> needed(0.02, 0.2, 100), needed(0.02, 0.2, 100, share=14), needed(0.025, 0.1, 60, differ=4)
    (685, 1311, 90)
    """
    shows = max(abs(difference), MATTERS - abs(difference))
    power = _reach(share) + _NORMAL.inv_cdf(0.8)
    total = max((power * deviation / shows) ** 2, queries * DIFFER / differ if differ else 0)
    return max(0, ceil(total) - queries, LEAST - queries) if isfinite(total) else 0


def _sentence(judged: PairedComparison) -> str:
    interval, counts = judged.difference, f"{judged.wins} wins, {judged.ties} ties, {judged.losses} losses"
    if not judged.differ:
        return f"No question changed: all {judged.queries:,} score the same."
    if judged.verdict in (BETTER, WORSE):
        low, high = sorted((abs(interval.low), abs(interval.high)))
        size = f"{abs(interval.mean):.3f} ({low:.3f} to {high:.3f})"
        return f"{judged.verdict.capitalize()} by {size}, {_chance(judged)}: {counts}."
    size = f"{interval.mean:+.3f} ({interval.low:+.3f} to {interval.high:+.3f})"
    sentence = f"{judged.word.capitalize()}: {_few(judged)}{size}, {_chance(judged)}, {counts}."
    about = f" About {judged.needed:,} more judged questions would probably settle it."
    return f"{sentence}{about if judged.needed else ''}"


def _few(judged: PairedComparison) -> str:
    """Where there are too few questions, or almost all are ties, that is what to say first."""
    if judged.queries < LEAST:
        return f"a verdict needs at least {LEAST} judged questions, and these are {judged.queries}; "
    if judged.differ < DIFFER:
        return f"only {judged.differ} of {judged.queries} questions differ, and a verdict needs {DIFFER}; "
    return ""


def _chance(judged: PairedComparison) -> str:
    """The p with what it was compared with, where it is too high, and the number of comparisons it is corrected for."""
    value = "p < 0.001" if judged.p < 0.001 else f"p = {judged.p:.3f}"
    value += f" (above {ERROR})" if judged.p > ERROR else ""
    return value if judged.comparisons == 1 else f"{value} after Holm over {judged.comparisons} comparisons"


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
