"""Ranking measures. `gains` are graded judgments by document; `ranking` is a list of documents, best first.

Conventions are those of trec_eval: linear gains, a grade above 0 is relevant, an unjudged document is not.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import log2


def ndcg(ranking: Sequence[str], gains: Mapping[str, float], k: int) -> float:
    """Discounted gain of the first k over that of the best possible order, with linear gains as in trec_eval.

    >>> round(ndcg(["a", "b", "c"], {"a": 1, "c": 1}, 10), 4)
    0.9197
    """
    ideal = _dcg(sorted(gains.values(), reverse=True)[:k])
    return _dcg([gains.get(doc, 0.0) for doc in ranking[:k]]) / ideal if ideal else 0.0


def _dcg(gains: Sequence[float]) -> float:
    return sum(gain / log2(place + 1) for place, gain in enumerate(gains, 1))


def recall(ranking: Sequence[str], gains: Mapping[str, float], k: int) -> float:
    """Share of the relevant documents among the first k.

    >>> recall(["a", "b"], {"a": 1, "c": 1}, 10)
    0.5
    """
    relevant = {doc for doc, gain in gains.items() if gain > 0}
    return len(relevant.intersection(ranking[:k])) / len(relevant) if relevant else 0.0


def reciprocal_rank(ranking: Sequence[str], gains: Mapping[str, float], k: int) -> float:
    """One over the place of the first relevant document, 0 beyond k.

    >>> reciprocal_rank(["b", "a"], {"a": 1}, 10)
    0.5
    """
    return next((1.0 / place for place, doc in enumerate(ranking[:k], 1) if gains.get(doc, 0) > 0), 0.0)


def average_precision(ranking: Sequence[str], gains: Mapping[str, float], k: int) -> float:
    """The precision at each relevant document among the first k, summed, over the number of relevant documents.

    >>> round(average_precision(["a", "b", "c"], {"a": 1, "c": 1}, 10), 4)
    0.8333
    """
    relevant = sum(gain > 0 for gain in gains.values())
    hits, total = 0, 0.0
    for place, doc in enumerate(ranking[:k], 1):
        if gains.get(doc, 0) > 0:
            hits += 1
            total += hits / place
    return total / relevant if relevant else 0.0


def precision(ranking: Sequence[str], gains: Mapping[str, float], k: int) -> float:
    """Share of the first k places that hold a relevant document; places left empty hold none.

    >>> precision(["a", "b", "c"], {"a": 1, "c": 1}, 5)
    0.4
    """
    return sum(gains.get(doc, 0) > 0 for doc in ranking[:k]) / k


def judged(ranking: Sequence[str], gains: Mapping[str, float], k: int) -> float:
    """Coverage of judgments: share of the first k documents that somebody judged, relevant or not.

    >>> judged(["a", "b", "c", "d"], {"a": 1, "c": 0}, 4)
    0.5
    """
    return sum(doc in gains for doc in ranking[:k]) / len(ranking[:k]) if ranking else 0.0


def mean(values: Sequence[float]) -> float:
    """The mean; 0 of an empty list."""
    return sum(values) / len(values) if values else 0.0
