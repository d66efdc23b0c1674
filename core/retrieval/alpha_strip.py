"""The alpha strip: the rank of each hit of one query as alpha goes from 0 to 1, with the exact alphas where ranks flip.

A convex score is linear in alpha, so two hits swap at most once, where their lines cross.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations, pairwise

from core.retrieval.candidates import Candidates, fuse
from core.types import SearchConfig

ScoreLine = tuple[float, float]  # the score at alpha 0 and at alpha 1

_STRAIGHT = 1e-9
_SAME = 1e-12


@dataclass(frozen=True, slots=True)
class RankInterval:
    """The rank of a hit between two alphas; 0 is below the top k."""

    low: float
    high: float
    rank: int


@dataclass(frozen=True, slots=True)
class AlphaStrip:
    """Every chunk that reaches the top k at some alpha, and every alpha where the top k changes."""

    k: int
    intervals: Mapping[int, tuple[RankInterval, ...]]
    flips: tuple[float, ...]

    def rank(self, chunk: int, alpha: float) -> int:
        """The rank of a chunk at an alpha; 0 when it is not in the top k."""
        return next((s.rank for s in self.intervals.get(chunk, ()) if s.low <= alpha <= s.high), 0)


def alpha_strip(candidates: Candidates, config: SearchConfig) -> AlphaStrip | None:
    """The strip of one query; None where scores do not move with alpha or are not linear in it.

    >>> from core.retrieval.candidates import stored
    >>> rankings = {"bm25": {1: 1.0, 2: 0.0}, "dense": {1: 0.0, 2: 1.0}}
    >>> alpha_strip(stored(rankings, rankings, {"bm25": 0.0, "dense": -1.0}), SearchConfig(k=1)).flips
    (0.5,)
    """
    at = [fuse(candidates, replace(config, alpha=alpha)).ranking for alpha in (0.0, 0.5, 1.0)]
    lines = {chunk: (at[0][chunk], at[2][chunk]) for chunk in at[0] if chunk in at[2]}
    bent = any(abs(at[1].get(chunk, 0.0) - (a + b) / 2) > _STRAIGHT for chunk, (a, b) in lines.items())
    moving = any(abs(a - b) > _STRAIGHT for a, b in lines.values())
    return strip_of(lines, config.k) if lines and moving and not bent else None


def strip_of(lines: Mapping[int, ScoreLine], k: int) -> AlphaStrip:
    """The top k between every two crossings; neighbours with the same top k are joined."""
    near = _reachable(lines, k)
    edges = [0.0, *sorted(set(_crossings(near))), 1.0]
    tops = [(low, high, order(near, (low + high) / 2)[:k]) for low, high in pairwise(edges)]
    joined: list[tuple[float, float, list[int]]] = []
    for low, high, top in tops:
        if joined and joined[-1][2] == top:
            joined[-1] = (joined[-1][0], high, top)
        else:
            joined.append((low, high, top))
    return AlphaStrip(k, _intervals(joined), tuple(low for low, _, _ in joined[1:]))


def order(lines: Mapping[int, ScoreLine], alpha: float) -> list[int]:
    """Chunks at one alpha, best first, ties in the order of ids.

    >>> order({1: (1.0, 0.0), 2: (0.0, 1.0)}, 0.6)
    [2, 1]
    """
    return sorted(lines, key=lambda chunk: (-((1 - alpha) * lines[chunk][0] + alpha * lines[chunk][1]), chunk))


def _reachable(lines: Mapping[int, ScoreLine], k: int) -> dict[int, ScoreLine]:
    """Chunks that fewer than k others beat at both ends: nothing else can ever reach the top k."""
    reachable: dict[int, ScoreLine] = {}
    for chunk in sorted(lines, key=lambda c: (-lines[c][0], -lines[c][1], c)):
        a, b = lines[chunk]
        above = sum(1 for other, (x, y) in reachable.items() if _beats((x, y, other), (a, b, chunk)))
        if above < k:
            reachable[chunk] = (a, b)
    return reachable


def _beats(first: tuple[float, float, int], second: tuple[float, float, int]) -> bool:
    """Better at both ends, so better all the way."""
    return all(first[n] > second[n] or (first[n] == second[n] and first[2] < second[2]) for n in (0, 1))


def _crossings(lines: Mapping[int, ScoreLine]) -> list[float]:
    """Alphas strictly between 0 and 1 where two lines meet."""
    alphas = []
    for (a0, a1), (b0, b1) in combinations(lines.values(), 2):
        start, end = a0 - b0, a1 - b1
        if start * end < 0 and abs(start - end) > _SAME:
            alphas.append(start / (start - end))
    return alphas


def _intervals(joined: Sequence[tuple[float, float, Sequence[int]]]) -> dict[int, tuple[RankInterval, ...]]:
    seen = sorted({chunk for _, _, top in joined for chunk in top})
    return {chunk: _of(chunk, joined) for chunk in seen}


def _of(chunk: int, joined: Sequence[tuple[float, float, Sequence[int]]]) -> tuple[RankInterval, ...]:
    out: list[RankInterval] = []
    for low, high, top in joined:
        rank = list(top).index(chunk) + 1 if chunk in top else 0
        if out and out[-1].rank == rank:
            out[-1] = RankInterval(out[-1].low, high, rank)
        else:
            out.append(RankInterval(low, high, rank))
    return tuple(out)
