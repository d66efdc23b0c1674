"""Normalisation and fusion: from what each leg scored to one ranking. Small pure functions, one per formula.

A leg's scores are a mapping from chunk to score. Sources: Bruch et al. 2023 (convex, TM2C2), Cormack et al. 2009
(RRF), Fox and Shaw 1994 (CombSUM, CombMNZ); RSF and DBSN as in the compliance benchmark.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from itertools import chain
from math import fsum

Scores = Mapping[int, float]

SIGMAS = 3.0  # z-scores are clipped here


def rank(scores: Scores) -> dict[int, float]:
    """Best first, ties in the order of ids.

    >>> rank({3: 0.5, 1: 0.5, 2: 0.9})
    {2: 0.9, 1: 0.5, 3: 0.5}
    """
    score = scores.__getitem__
    best = sorted(sorted(scores), key=score, reverse=True)  # sorting is stable: equal scores stay in the order of ids
    return dict(zip(best, map(score, best), strict=True))


# ---------------------------------------------------------------- normalisation


def minmax(scores: Scores, floor: float = 0.0) -> dict[int, float]:
    """The worst becomes 0 and the best 1. A constant leg is 1 where it says anything at all, else 0.

    >>> minmax({1: 2.0, 2: 4.0, 3: 3.0})
    {1: 0.0, 2: 1.0, 3: 0.5}
    >>> minmax({1: 7.0}), minmax({1: 0.0, 2: 0.0})
    ({1: 1.0}, {1: 0.0, 2: 0.0})
    """
    return _between(scores, min(scores.values(), default=0.0), floor)


def theoretical(scores: Scores, floor: float = 0.0) -> dict[int, float]:
    """TM2C2: 0 is the lowest score the leg could give (0 for BM25, -1 for cosine), 1 the best candidate.

    >>> theoretical({1: 0.5, 2: 0.125}, floor=-1.0)
    {1: 1.0, 2: 0.75}
    """
    if min(scores.values(), default=floor) < floor:  # rounding can take a cosine below -1
        scores = {chunk: max(floor, score) for chunk, score in scores.items()}
    return _between(scores, floor, floor)


def _between(scores: Scores, low: float, floor: float) -> dict[int, float]:
    high = max(scores.values(), default=0.0)
    if high <= low:
        return {chunk: float(score > floor) for chunk, score in scores.items()}
    width = high - low
    return {chunk: (score - low) / width for chunk, score in scores.items()}


def zscore(scores: Scores, floor: float = 0.0) -> dict[int, float]:
    """DBSN: distance from the mean in standard deviations, clipped at three, moved to 0..1.

    >>> {chunk: round(score, 3) for chunk, score in zscore({1: 1.0, 2: 2.0, 3: 3.0}).items()}
    {1: 0.296, 2: 0.5, 3: 0.704}
    """
    mean = fsum(scores.values()) / max(1, len(scores))  # fsum: the same whatever the order
    apart = [score - mean for score in scores.values()]
    sigma = (fsum([far * far for far in apart]) / max(1, len(scores))) ** 0.5
    if sigma <= 1e-12 * max(1.0, abs(mean)):
        return {chunk: 0.5 if score > floor else 0.0 for chunk, score in scores.items()}
    apart = [far / sigma for far in apart]
    if min(apart) < -SIGMAS or max(apart) > SIGMAS:
        apart = [min(SIGMAS, max(-SIGMAS, far)) for far in apart]
    return {chunk: (far + SIGMAS) / (2 * SIGMAS) for chunk, far in zip(scores, apart, strict=True)}


def by_max(scores: Scores, floor: float = 0.0) -> dict[int, float]:
    """Share of the best score; what is below zero counts as zero.

    >>> by_max({1: 4.0, 2: 1.0})
    {1: 1.0, 2: 0.25}
    """
    high = max(scores.values(), default=0.0)
    return {chunk: max(0.0, score / high) if high > 0 else 0.0 for chunk, score in scores.items()}


def as_is(scores: Scores, floor: float = 0.0) -> dict[int, float]:
    """No normalisation: the legs' own scales."""
    return dict(scores)


NORMALISATIONS: Mapping[str, Callable[[Scores, float], dict[int, float]]] = {
    "minmax": minmax,
    "tm2c2": theoretical,
    "zscore": zscore,
    "max": by_max,
    "none": as_is,
}


# ---------------------------------------------------------------- fusion


def weighted_sum(legs: Mapping[str, Scores], weights: Mapping[str, float]) -> dict[int, float]:
    """Convex combination: each leg's share of the weight times its normalised score; absent counts as 0.

    >>> weighted_sum({"bm25": {1: 1.0, 2: 0.5}, "dense": {1: 0.0, 2: 1.0}}, {"bm25": 0.75, "dense": 0.25})
    {1: 0.75, 2: 0.625}
    """
    total = sum(weights[leg] for leg in legs) or 1.0
    return _added(legs, {leg: weights[leg] / total for leg in legs})


def reciprocal_rank(rankings: Mapping[str, Iterable[int]], k: int, weights: Mapping[str, float]) -> dict[int, float]:
    """RRF: the sum of weight / (k + rank) over the legs that retrieved the chunk.

    >>> {c: round(s, 5) for c, s in reciprocal_rank({"a": [1, 2], "b": [2]}, 60, {"a": 1.0, "b": 1.0}).items()}
    {1: 0.01639, 2: 0.03252}
    """
    fused: dict[int, float] = {}
    for leg in sorted(rankings):
        weight, so_far = weights[leg], fused.get
        fused |= {chunk: so_far(chunk, 0.0) + weight / place for place, chunk in enumerate(rankings[leg], k + 1)}
    return fused


def comb_sum(legs: Mapping[str, Scores]) -> dict[int, float]:
    """CombSUM: the sum of normalised scores.

    >>> comb_sum({"a": {1: 1.0}, "b": {1: 0.5, 2: 0.5}})
    {1: 1.5, 2: 0.5}
    """
    return _added(legs, dict.fromkeys(legs, 1.0))


def comb_mnz(legs: Mapping[str, Scores], retrieved: Mapping[str, Iterable[int]]) -> dict[int, float]:
    """CombMNZ: CombSUM times the number of legs that retrieved the chunk.

    >>> comb_mnz({"a": {1: 1.0}, "b": {1: 0.5, 2: 0.5}}, {"a": [1], "b": [1, 2]})
    {1: 3.0, 2: 0.5}
    """
    votes = Counter(chain.from_iterable(map(set, retrieved.values())))
    return {chunk: score * votes[chunk] for chunk, score in comb_sum(legs).items()}


def _added(legs: Mapping[str, Scores], shares: Mapping[str, float]) -> dict[int, float]:
    """Every chunk with the sum of share times score, in the order of the legs' names."""
    fused: dict[int, float] = {}
    for leg in sorted(legs):
        share, so_far = shares[leg], fused.get
        own = legs[leg].items()
        if fused:
            fused |= {chunk: so_far(chunk, 0.0) + share * score for chunk, score in own}
        else:
            fused = {chunk: share * score for chunk, score in own}
    return fused


# ---------------------------------------------------------------- one table of all fusions


@dataclass(frozen=True, slots=True)
class Legs:
    """What fusion gets: per leg its own ranking, its scores over all candidates (normalised), and its weight."""

    retrieved: Mapping[str, Mapping[int, float]]
    normalised: Mapping[str, Scores]
    weights: Mapping[str, float]
    rrf_k: int = 60


FUSIONS: Mapping[str, Callable[[Legs], dict[int, float]]] = {
    "single": lambda legs: dict(next(iter(legs.normalised.values()), {})),
    "convex": lambda legs: weighted_sum(legs.normalised, legs.weights),
    "rrf": lambda legs: reciprocal_rank(legs.retrieved, legs.rrf_k, legs.weights),
    "rsf": lambda legs: weighted_sum(legs.normalised, legs.weights),
    "dbsn": lambda legs: weighted_sum(legs.normalised, legs.weights),
    "combsum": lambda legs: comb_sum(legs.normalised),
    "combmnz": lambda legs: comb_mnz(legs.normalised, legs.retrieved),
}


def ceiling(fusion: str, legs: Legs, best: float) -> float:
    """The highest score a fusion could give, so that tau means the same for all of them.

    >>> ceiling("combmnz", Legs({"a": {}, "b": {}}, {}, {"a": 1.0, "b": 1.0}), 0.0)
    4.0
    """
    count = float(len(legs.retrieved))
    return {
        "single": best,
        "combsum": count,
        "combmnz": count * count,
        "rrf": sum(legs.weights[leg] for leg in legs.retrieved) / (legs.rrf_k + 1),
    }.get(fusion, 1.0)
