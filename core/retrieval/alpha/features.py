"""Features that predict alpha: the words of a query and the scores of both legs (thesis, 3.3.3.3)."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from math import fsum, sqrt

from core.retrieval.method_values import LegScores
from core.retrieval.normalisations.ranges import theoretical

TOP = 10

_WH = re.compile(r"\b(who|what|where|when|why|how)\b", re.IGNORECASE)
_ACRONYM = re.compile(r"\b[A-Z]{2,}\b|\b(?:[A-Z]\.){2,}")

QUERY = ("words", "has digits", "has wh-word", "has acronym")
SCORES = (*QUERY, *(f"dense {n}" for n in range(1, TOP + 1)), *(f"bm25 {n}" for n in range(1, TOP + 1)), "overlap")


def query_features(query: str) -> tuple[float, ...]:
    """Word count, has digits, has a wh-word, has an acronym.

    >>> query_features("When is a CTR due for $10,000?")
    (7.0, 1.0, 1.0, 1.0)
    """
    return (
        float(len(query.split())),
        float(any(sign.isdigit() for sign in query)),
        float(bool(_WH.search(query))),
        float(bool(_ACRONYM.search(query))),
    )


def score_features(seen: LegScores) -> tuple[float, ...]:
    """The 25 features: the query's four, the ten best scores of each leg, and how many chunks both legs found.

    Scores are normalised as TM2C2 over each leg's own ten best, so that they do not depend on the depth of a search.

    >>> (
    ...     score_features(LegScores("CTR due", {1: 0.5, 2: 0.125}, {1: 8.0, 3: 2.0}))[4:6],
    ...     len(score_features(LegScores("x", {}, {}))),
    ... )
    ((1.0, 0.75), 25)
    >>> score_features(LegScores("CTR due", {1: 0.5, 2: 0.125}, {1: 8.0, 3: 2.0}))[14:17]
    (1.0, 0.25, 0.0)
    """
    dense, bm25 = _head(seen.dense), _head(seen.bm25)
    return (
        *query_features(seen.query),
        *_padded(_scaled(dense, seen.dense_floor)),
        *_padded(_scaled(bm25, seen.bm25_floor)),
        float(len(dense.keys() & bm25.keys())),
    )


def _head(ranking: Mapping[int, float]) -> dict[int, float]:
    return dict(list(ranking.items())[:TOP])


def _scaled(head: Mapping[int, float], floor: float) -> list[float]:
    import numpy as np

    scaled: list[float] = theoretical(np.array(list(head.values())), floor=floor).tolist()
    return scaled


def _padded(values: Sequence[float]) -> list[float]:
    return [*values, *[0.0] * (TOP - len(values))]


# ---------------------------------------------------------------- beyond the thesis: the shape of both answers

_SHAPE = ("best", "mean", "deviation", "gap 1-2", "gap 1-10", "share of best", "found")
_AGREE = ("same first", "overlap 3", "overlap 5", "dense place of bm25's first", "bm25 place of dense's first")
DISTRIBUTION = (*SCORES, *(f"{leg} {shape}" for leg in ("dense", "bm25") for shape in _SHAPE), *_AGREE)


def distribution_features(seen: LegScores) -> tuple[float, ...]:
    """The 25 features, the shape of each leg's raw scores, and how far the two legs agree.

    Raw scores carry what normalisation takes away: whether the best is good or only the best of a bad lot.

    >>> [round(value, 3) for value in distribution_features(LegScores("x", {1: 0.5, 2: 0.1}, {2: 4.0}))[25:32]]
    [0.5, 0.3, 0.2, 0.4, 0.4, 0.833, 2.0]
    >>> distribution_features(LegScores("x", {1: 0.5, 2: 0.1}, {2: 4.0}))[-5:]
    (0.0, 1.0, 1.0, 0.5, 0.0)
    """
    dense, bm25 = _head(seen.dense), _head(seen.bm25)
    return (
        *score_features(seen),
        *_shape(list(dense.values())),
        *_shape(list(bm25.values())),
        *_agreement(dense, bm25),
    )


def _shape(scores: Sequence[float]) -> tuple[float, ...]:
    if not scores:
        return (0.0,) * len(_SHAPE)
    mean = fsum(scores) / len(scores)
    deviation = sqrt(fsum((score - mean) ** 2 for score in scores) / len(scores))
    second = scores[1] if len(scores) > 1 else 0.0
    total = fsum(abs(score) for score in scores)
    share = abs(scores[0]) / total if total else 0.0
    return scores[0], mean, deviation, scores[0] - second, scores[0] - scores[-1], share, float(len(scores))


def _agreement(dense: Mapping[int, float], bm25: Mapping[int, float]) -> tuple[float, ...]:
    by_dense, by_bm25 = list(dense), list(bm25)
    return (
        float(by_dense[:1] == by_bm25[:1] and bool(by_dense)),
        float(len(set(by_dense[:3]) & set(by_bm25[:3]))),
        float(len(set(by_dense[:5]) & set(by_bm25[:5]))),
        _reciprocal(by_dense, by_bm25),
        _reciprocal(by_bm25, by_dense),
    )


def _reciprocal(ranking: Sequence[int], firsts: Sequence[int]) -> float:
    """One over the place of the other leg's first, 0 where it was not found."""
    return 1.0 / (ranking.index(firsts[0]) + 1) if firsts and firsts[0] in ranking else 0.0
