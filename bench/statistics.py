"""Bootstrap intervals of a sweep: 101 alphas over 1,700 queries with 2,000 resamples."""

from __future__ import annotations

import numpy as np

from bench.measure import Timing, timed
from core.evaluation.statistics import bootstrap

QUERIES, ALPHAS = 1700, 101


def measure() -> Timing:
    scores = np.random.default_rng(42).random((QUERIES, ALPHAS))
    return timed(lambda seed: bootstrap(scores, seed=seed), range(5), warm=1)
