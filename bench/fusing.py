"""Fusion alone: two legs of 1,000 candidates each, half of them shared, to one ranking.

The first fusion of a query also converts the candidates to arrays; a moving slider reuses them.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from bench.measure import Timing, timed
from core.retrieval.candidates import Candidates, fuse, stored
from core.retrieval.config import parse
from core.retrieval.ordering import rank

LEG, SHARED, TIMES = 1000, 500, 101
NAMES = ("convex-0.5", "tm2c2-0.5", "rrf-60", "rsf", "dbsn", "combsum", "combmnz")


def candidates(exact: bool, seed: int = 42) -> Candidates:
    """Candidates of two legs; with `exact` each leg also scores what only the other retrieved."""
    chance = np.random.default_rng(seed)
    chunks = chance.permutation(20_000)[: 2 * LEG - SHARED].tolist()
    retrieved_by = {"bm25": chunks[:LEG], "dense": chunks[LEG - SHARED :]}
    drawn = {"bm25": chance.gamma(2.0, 4.0, len(chunks)), "dense": chance.uniform(-0.2, 0.9, len(chunks))}
    full = {leg: dict(zip(chunks, scores.tolist(), strict=True)) for leg, scores in drawn.items()}
    retrieved = {leg: rank({chunk: full[leg][chunk] for chunk in own}) for leg, own in retrieved_by.items()}
    scores = {leg: {**retrieved[leg], **full[leg]} for leg in full} if exact else retrieved
    return stored(retrieved, scores, {"bm25": 0.0, "dense": -1.0})


def measure() -> list[tuple[str, str, Timing, Timing]]:
    """Milliseconds of normalisation, fusion and ranking by configuration: for the first time, and again."""
    timings = []
    for name in NAMES:
        config = parse(name)
        stored_candidates = candidates(config.missing == "exact")
        fresh = [replace(stored_candidates) for _ in range(TIMES)]
        first = timed(lambda gathered, c=config: fuse(gathered, c), fresh, warm=0)
        timings.append(
            (name, config.missing, first, timed(lambda _, g=stored_candidates, c=config: fuse(g, c), range(TIMES)))
        )
    return timings
