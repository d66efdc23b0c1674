"""How often a verdict is wrong where nothing differs, and how often it is found where something does."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from core.evaluation.statistics import LEAST, bootstrap, compare

PAIRS = 1000
SIZES = (10, 30, 100, 300)
TIES = (0.93, 0.7, 0.4)  # shares of questions that two close configurations answer alike
SHIFT = 0.05  # the true difference of the last column
GRADES = np.array([1.0, 0.63, 0.5, 0.43, 0.39, 0.36, 0.33, 0.32, 0.3, 0.29, 0.0])  # nDCG@10 of one relevant document

Pair = tuple[np.ndarray, np.ndarray]


def rows() -> Iterator[list[str]]:
    """One line per share of ties and number of questions."""
    for ties in TIES:
        for size in SIZES:
            rng = np.random.default_rng([size, round(100 * ties)])
            alike = [_pair(rng, size, ties) for _ in range(PAIRS)]
            apart = [_shifted(rng, *_pair(rng, size, ties)) for _ in range(PAIRS)]
            interval = _share(float(_interval_alone(*pair)) for pair in alike)
            yield [f"{ties:.0%}", str(size), interval, _share(map(_said, alike)), _share(map(_said, apart))]


def _pair(rng: np.random.Generator, size: int, ties: float) -> Pair:
    """Two configurations without a true difference: where they are not tied, each draws its own grade."""
    before = rng.choice(GRADES, size)
    return before, np.where(rng.random(size) < ties, before, rng.choice(GRADES, size))


def _shifted(rng: np.random.Generator, before: np.ndarray, after: np.ndarray) -> Pair:
    """The second one truly better by `SHIFT`: losses become wins until the expected gap is reached."""
    gaps = after - before
    expected = float(np.abs(gaps).mean())
    flip = rng.random(len(gaps)) < (SHIFT / expected if expected else 0.0)
    return before, np.where(flip, before + np.abs(gaps), after)


def _said(pair: Pair) -> float:
    return float(compare(*(side.tolist() for side in pair)).verdict != "not enough evidence")


def _interval_alone(before: np.ndarray, after: np.ndarray) -> bool:
    """What the interval alone would have said."""
    interval = bootstrap((after - before)[:, None])[0]
    return len(before) >= LEAST and (interval.low > 0 or interval.high < 0)


def _share(said: Iterator[float]) -> str:
    return f"{np.mean(list(said)):.1%}"
