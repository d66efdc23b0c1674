"""What a reranking stage changed: how many places, and which queries it made worse (cascade study, V.D-E)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from core.retrieval.alpha.features import query_features


def swaps(before: Sequence[str], after: Sequence[str], k: int) -> int:
    """How many of the first k places hold another document than before.

    >>> swaps(["a", "b", "c"], ["b", "a", "c"], 3)
    2
    """
    shown = max(len(before[:k]), len(after[:k]))
    return shown - sum(old == new for old, new in zip(before[:k], after[:k], strict=False))


def top_changed(before: Sequence[str], after: Sequence[str]) -> bool:
    """Whether another document stands first.

    >>> top_changed(["a", "b"], ["b", "a"])
    True
    """
    return list(before[:1]) != list(after[:1])


@dataclass(frozen=True, slots=True)
class SwapRate:
    """Averages over queries: places that changed, and the share of queries with another first document."""

    swaps: float
    top_changed: float
    queries: int


def swap_rate(before: Mapping[str, Sequence[str]], after: Mapping[str, Sequence[str]], k: int = 10) -> SwapRate:
    """How much a stage moved, over the queries that both runs answered.

    >>> swap_rate({"q": ["a", "b"], "r": ["a", "b"]}, {"q": ["b", "a"], "r": ["a", "b"]})
    SwapRate(swaps=1.0, top_changed=0.5, queries=2)
    """
    both = [query for query in before if query in after]
    count = max(1, len(both))
    return SwapRate(
        sum(swaps(before[query], after[query], k) for query in both) / count,
        sum(top_changed(before[query], after[query]) for query in both) / count,
        len(both),
    )


@dataclass(frozen=True, slots=True)
class Degraded:
    """A query that a stage made worse, and what it looks like."""

    query: str
    text: str
    difference: float
    words: int
    digits: bool


def length(text: str) -> int:
    """How many words a query has.

    >>> length("IRA fees")
    2
    """
    return int(query_features(text)[0])


def degraded(before: Mapping[str, float], after: Mapping[str, float], texts: Mapping[str, str]) -> list[Degraded]:
    """Queries whose measure fell, the worst first.

    >>> [(worse.query, worse.difference, worse.words) for worse in degraded({"q": 1.0, "r": 0.5}, {"q": 0.5, "r": 0.5}, {"q": "IRA fees"})]
    [('q', -0.5, 2)]
    """
    fallen = [
        (after[query] - before[query], query) for query in before if after.get(query, 0.0) < before[query] - 1e-12
    ]
    worse = []
    for difference, query in sorted(fallen):
        count, digits, *_ = query_features(texts.get(query, ""))
        worse.append(Degraded(query, texts.get(query, ""), difference, int(count), bool(digits)))
    return worse
