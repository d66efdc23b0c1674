"""How often each verdict is given where nothing differs, and where something does."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import numpy as np

from core.evaluation.statistics import BETTER, OPEN, SAME, WORSE, PairedComparison, compare

PAIRS = 2000
SIZES = (40, 100, 300)
TIES = (0.93, 0.7, 0.4)  # shares of questions that two close configurations answer alike
SHIFTS = (0.0, 0.02, 0.05)  # true differences
GRADES = np.array([1.0, 0.63, 0.5, 0.43, 0.39, 0.36, 0.33, 0.32, 0.3, 0.29, 0.0])  # nDCG@10 of one relevant document
APART = float(np.abs(GRADES[:, None] - GRADES).mean())  # of two grades, on average


def rows(pairs: int = PAIRS) -> Iterator[list[str]]:
    """A line for each share of ties, true difference and number of questions; few differing questions allow no
    large one.
    """
    for ties in TIES:
        for shift in (shift for shift in SHIFTS if shift < (1 - ties) * APART):
            for size in SIZES:
                rng = np.random.default_rng([size, round(100 * ties), round(100 * shift)])
                given = [verdict(rng, size, ties, shift) for _ in range(pairs)]
                counts = Counter(each.verdict for each in given)
                wrong = sum(_wrong(each, shift) for each in given)
                said = (*(counts[word] for word in (BETTER, WORSE, SAME, OPEN)), wrong)
                yield [f"{ties:.0%}", f"{shift:.2f}", str(size), *(f"{count / pairs:.1%}" for count in said)]


def verdict(rng: np.random.Generator, size: int, ties: float, shift: float) -> PairedComparison:
    """Two configurations where the second is truly better by `shift`. Where they are not tied, each draws its own
    grade,
    and so many losses become wins as the shift needs."""
    before = rng.choice(GRADES, size)
    gaps = np.where(rng.random(size) < ties, 0.0, rng.choice(GRADES, size) - before)
    flipped = rng.random(size) < shift / ((1 - ties) * APART)
    return compare([0.0] * size, np.where(flipped, np.abs(gaps), gaps).tolist())


def _wrong(given: PairedComparison, shift: float) -> bool:
    """Whether a verdict claims what is not true: a difference where there is none, the other sign, or too
    low a bound.
    """
    if given.verdict == SAME:
        return max(abs(given.difference.low), abs(given.difference.high)) < shift
    return given.verdict == WORSE or (given.verdict == BETTER and not shift)
