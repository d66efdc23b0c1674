"""A cache for one query, so that moving a slider or adding a column costs arithmetic only.

Cached legs, passages and rerankers give the same answers as the originals: the pipeline runs on them unchanged.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from itertools import islice
from typing import TYPE_CHECKING, Any

from core.lru import LruCache
from core.ports import Index, Leg, Ranking, Reranker
from core.retrieval.legs import LEGS
from core.retrieval.methods import LegQuery
from core.retrieval.pipeline import open_leg

if TYPE_CHECKING:
    import numpy as np

LEGS_KEPT, VECTORS_KEPT, RANKINGS_KEPT = 64, 64, 16  # of one cache
SCORES_KEPT, PASSAGES_KEPT = 20_000, 5_000
AHEAD = 100  # candidates per leg that are fetched at once, so that the depth slider has something to move over


class QueryCache:
    """Legs that are searched once, at the greatest depth so far, and rerankers that read each passage once."""

    def __init__(self, ahead: int = AHEAD) -> None:
        self.ahead = ahead
        self._legs: LruCache[tuple[Any, ...], CachedLeg] = LruCache(LEGS_KEPT)
        self._rerankers: dict[str, CachedReranker] = {}
        self._vectors: LruCache[str, np.ndarray] = LruCache(VECTORS_KEPT)

    def vector(self, text: str, embed: Callable[[str], np.ndarray]) -> np.ndarray:
        """The vector of a query, made once."""
        return self._vectors.find(text, lambda: embed(text))

    def open_leg(self, name: str, asked: LegQuery, index: Index) -> Leg:
        """The cached leg. A leg with a path is not cached: its path depends on the filters."""
        vector = asked.vector().tobytes() if LEGS[name].embeds else b""
        key = (name, asked.query, asked.engine, tuple(sorted(asked.fields.items())), vector)
        if (cached := self._legs.get(key)) is None:
            leg = open_leg(name, asked, index)
            if hasattr(leg, "path"):
                return leg
            cached = self._legs[key] = CachedLeg(leg, self.ahead)
        return cached

    def reranker(self, name: str, load: Callable[[], Reranker]) -> Reranker:
        if name not in self._rerankers:
            self._rerankers[name] = CachedReranker(load())
        return self._rerankers[name]

    @property
    def searches(self) -> int:
        """How often a leg was searched, cache misses only."""
        return sum(leg.searches for leg in self._legs.values())


class CachedLeg:
    """A leg that is searched once, deep, and returns the head of that ranking."""

    def __init__(self, leg: Leg, ahead: int) -> None:
        self._leg, self._ahead = leg, ahead
        self.floor, self.searches = leg.floor, 0
        self.note: str = getattr(leg, "note", "")
        self._rankings: LruCache[bytes | None, tuple[int, Ranking]] = LruCache(RANKINGS_KEPT)
        self._scores: LruCache[int, float] = LruCache(SCORES_KEPT)

    def search(self, depth: int, allowed: np.ndarray | None) -> Ranking:
        key = None if allowed is None else allowed.tobytes()
        reached, ranking = self._rankings.get(key) or (0, {})
        if reached < depth:
            reached = max(depth, self._ahead)
            ranking = self._leg.search(reached, allowed)
            self._rankings[key], self.searches = (reached, ranking), self.searches + 1
        return dict(islice(ranking.items(), depth))

    def score(self, chunks: Sequence[int]) -> list[float]:
        """The exact score of given chunks."""
        return self._scores.find_all(chunks, self._leg.score)


class CachedReranker:
    """A reranker that scores each passage once."""

    def __init__(self, reranker: Reranker) -> None:
        self._reranker, self.name = reranker, reranker.name
        self._scores: LruCache[tuple[str, str], float] = LruCache(SCORES_KEPT)
        self._cuts: LruCache[tuple[str, str], int] = LruCache(SCORES_KEPT)

    def scores(self, query: str, texts: Sequence[str]) -> list[float]:
        """How well each text answers the query."""
        pairs = [(query, text) for text in texts]
        return self._scores.find_all(pairs, lambda new: self._reranker.scores(query, [text for _, text in new]))

    def cuts(self, query: str, texts: Sequence[str]) -> int:
        """How many of the texts are longer than the reranker reads."""
        pairs = [(query, text) for text in texts]
        one = self._reranker.cuts
        return sum(self._cuts.find_all(pairs, lambda new: [one(query, [text]) for _, text in new]))


class CachedIndex:
    """An open generation whose passages are looked up once, however many columns show them."""

    def __init__(self, index: Index) -> None:
        self._index = index
        self.passage, self.excerpt = (lru_cache(PASSAGES_KEPT)(look_up) for look_up in (index.passage, index.excerpt))

    def __getattr__(self, name: str) -> Any:
        return getattr(self._index, name)
