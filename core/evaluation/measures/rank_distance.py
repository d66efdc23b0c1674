"""How two rankings differ: overlap, rank-biased overlap, inversions, and where each hit moved."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from itertools import accumulate

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
    return Move("up" if steps > 0 else "down" if steps < 0 else "same", abs(steps))
