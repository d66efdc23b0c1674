"""How two rankings differ: overlap, rank-biased overlap, inversions, where each hit moved; and what a reranking stage
made worse (cascade study, V.D-E)."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate

from core.retrieval.alpha.features import query_features

PERSISTENCE = 0.9  # chance that a reader goes on to the next rank; 0.9 puts 86 % of the weight on the first ten


@dataclass(frozen=True, slots=True)
class RankAgreement:
    """Agreement of two rankings."""

    overlap: int
    jaccard: float
    rbo: float
    inversions: int


@dataclass(frozen=True, slots=True)
class Move:
    """Where a hit went, seen from a baseline. `kind`: same, up, down, new or gone; `steps` is the distance."""

    kind: str
    steps: int = 0


def agreement(first: Sequence[Hashable], second: Sequence[Hashable]) -> RankAgreement:
    """Overlap, Jaccard, RBO and inversions of two rankings.

    >>> agreement("abc", "acd")
    RankAgreement(overlap=2, jaccard=0.5, rbo=0.685, inversions=0)
    """
    return RankAgreement(
        overlap(first, second), jaccard(first, second), round(rbo(first, second), 3), inversions(first, second)
    )


def overlap(first: Sequence[Hashable], second: Sequence[Hashable]) -> int:
    """How many items both hold.

    >>> overlap("abc", "bcd")
    2
    """
    return len(set(first) & set(second))


def jaccard(first: Sequence[Hashable], second: Sequence[Hashable]) -> float:
    """What both hold as a share of what either holds; two empty rankings are alike.

    >>> jaccard("abc", "bcd")
    0.5
    """
    either = len(set(first) | set(second))
    return overlap(first, second) / either if either else 1.0


def rbo(first: Sequence[Hashable], second: Sequence[Hashable], p: float = PERSISTENCE) -> float:
    """Rank-biased overlap, extrapolated (Webber, Moffat and Zobel 2010, equation 32): 1 is the same, 0 disjoint.

    >>> rbo("abc", "abc"), rbo("abc", "xyz"), round(rbo("ab", "ba"), 2)
    (1.0, 0.0, 0.9)
    """
    short, long = sorted((first, second), key=len)
    if not short:
        return 1.0 if not long else 0.0
    s, end = len(short), len(long)
    shared = _shared(short, long)
    seen = sum(shared[d - 1] / d * p**d for d in range(1, end + 1))
    uneven = sum(shared[s - 1] * (d - s) / (s * d) * p**d for d in range(s + 1, end + 1))
    beyond = ((shared[-1] - shared[s - 1]) / end + shared[s - 1] / s) * p**end
    return min(1.0, (1 - p) / p * (seen + uneven) + beyond)


def _shared(short: Sequence[Hashable], long: Sequence[Hashable]) -> list[int]:
    """How many items the first n of both share, for every n.

    >>> _shared("ab", "bac")
    [0, 2, 2]
    """
    place = {item: n for n, item in enumerate(short)}
    new = [0] * len(long)
    for n, item in enumerate(long):
        if item in place:
            new[max(n, place[item])] += 1
    return list(accumulate(new))


def inversions(first: Sequence[Hashable], second: Sequence[Hashable]) -> int:
    """How many pairs that both hold stand in opposite order.

    >>> inversions("abc", "cba"), inversions("abc", "bxa")
    (3, 1)
    """
    place = {item: n for n, item in enumerate(second)}
    both = [place[item] for item in first if item in place]
    return sum(before > after for n, before in enumerate(both) for after in both[n + 1 :])


def moves(ranking: Sequence[Hashable], baseline: Sequence[Hashable]) -> tuple[Move, ...]:
    """The move of each item of a ranking.

    >>> [(move.kind, move.steps) for move in moves("bxa", "abc")]
    [('up', 1), ('new', 0), ('down', 2)]
    """
    place = {item: n for n, item in enumerate(baseline)}
    return tuple(_move(place[item] - n) if item in place else Move("new") for n, item in enumerate(ranking))


def gone(ranking: Sequence[Hashable], baseline: Sequence[Hashable]) -> tuple[Hashable, ...]:
    """What the baseline has and the ranking has not, in the baseline's order.

    >>> gone("bxa", "abc")
    ('c',)
    """
    here = set(ranking)
    return tuple(item for item in baseline if item not in here)


def _move(steps: int) -> Move:
    if steps == 0:
        return Move("same", 0)
    return Move("up" if steps > 0 else "down", abs(steps))


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

    >>> [
    ...     (worse.query, worse.difference, worse.words)
    ...     for worse in degraded({"q": 1.0, "r": 0.5}, {"q": 0.5, "r": 0.5}, {"q": "IRA fees"})
    ... ]
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
