"""How fast a whole query set follows a slider: synthetic questions, two legs, depth 100."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from bench.measure import Timing, timed
from core.evaluation.statistics import bootstrap
from core.evaluation.tuning import sweep
from core.retrieval.candidates import stored
from core.retrieval.config import parse
from core.retrieval.ordering import rank
from core.types import SearchConfig

QUESTIONS, DEPTH, CHUNKS = 1700, 100, 20_000


def synthetic(questions: int = QUESTIONS, depth: int = DEPTH, seed: int = 42) -> sweep.SweepTable:
    """Two legs that agree on some candidates; one or two judged documents per question."""
    chance = np.random.default_rng(seed)
    candidates, units, gains = [], [], []
    for _ in range(questions):
        pool = chance.choice(CHUNKS, size=2 * depth, replace=False)
        scores = {"bm25": chance.gamma(2.0, 4.0, 2 * depth), "dense": chance.uniform(-0.2, 0.9, 2 * depth)}
        full = {leg: dict(zip(pool.tolist(), drawn.tolist(), strict=True)) for leg, drawn in scores.items()}
        retrieved = {leg: dict(list(rank(drawn).items())[:depth]) for leg, drawn in full.items()}
        union = {chunk for leg in retrieved.values() for chunk in leg}
        exact = {leg: {c: s for c, s in drawn.items() if c in union} for leg, drawn in full.items()}
        candidates.append(stored(retrieved, exact, {"bm25": 0.0, "dense": -1.0}))
        units.append({chunk: chunk // 8 for chunk in union})
        judged = chance.choice(sorted(union), size=2, replace=False) // 8
        gains.append(dict.fromkeys(judged.tolist(), 1.0))
    return sweep.matrix(candidates, units, gains, depth)


def measure() -> list[tuple[str, Timing]]:
    """A sweep with intervals, then one move of each slider: milliseconds."""
    rows, config = synthetic(), replace(parse("tm2c2-0.5"), depth=DEPTH)

    def all_alphas(_: int) -> object:
        return sweep.alpha_curve(sweep.table(rows, config, "nDCG@10"), "nDCG@10")

    timings = [("101 alphas with intervals", timed(all_alphas, range(3), warm=1))]
    for name in ("convex-0.37", "tm2c2-0.61", "rrf-40", "dbsn", "combmnz", "dense"):
        position = replace(parse(name), depth=50)
        timings.append((f"one move: {name}", timed(lambda _, position=position: _move(rows, position), range(9))))
    return timings


def _move(rows: sweep.SweepTable, config: SearchConfig) -> float:
    places = sweep.ranks(rows, sweep.fuse(sweep.normalise(rows, config), config))
    return bootstrap(sweep.values(rows, places, "nDCG@10")[:, None])[0].mean
