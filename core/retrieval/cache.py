"""A cache for one query, so that moving a slider or adding a column costs arithmetic only.

Cached legs, passages and rerankers give the same answers as the originals: the pipeline runs on them unchanged.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from itertools import islice
from typing import TYPE_CHECKING, Any

from core.ports import Index, Leg, Ranking, Reranker
from core.retrieval.legs import LEGS
from core.retrieval.methods import LegQuery
from core.retrieval.pipeline import open_leg

if TYPE_CHECKING:
    import numpy as np

LEGS_KEPT, VECTORS_KEPT, RANKINGS_KEPT = 64, 64, 16  # of one cache; beyond them it starts anew
SCORES_KEPT, PASSAGES_KEPT = 20_000, 5_000
AHEAD = 100  # candidates per leg that are fetched at once, so that the depth slider has something to move over


def make_room(kept: dict[Any, Any], most: int) -> None:
    """Empty a cache that is full: a run has few queries, and what is gone is computed again."""
    if len(kept) >= most:
        kept.clear()


class QueryCache:
    """Legs that are searched once, at the greatest depth so far, and rerankers that read each passage once."""

    def __init__(self, ahead: int = AHEAD) -> None:
        self.ahead = ahead
        self._legs: dict[tuple[Any, ...], CachedLeg] = {}
        self._rerankers: dict[str, CachedReranker] = {}
        self._vectors: dict[str, np.ndarray] = {}

    def vector(self, text: str, embed: Callable[[str], np.ndarray]) -> np.ndarray:
        """The vector of a query, made once."""
        if text not in self._vectors:
            make_room(self._vectors, VECTORS_KEPT)
            self._vectors[text] = embed(text)
        return self._vectors[text]

    def open_leg(self, name: str, asked: LegQuery, index: Index) -> Leg:
        """The cached leg. A leg with a path is not cached: its path depends on the filters."""
        vector = asked.vector().tobytes() if LEGS[name].embeds else b""
        key = (name, asked.query, asked.engine, tuple(sorted(asked.fields.items())), vector)
        if key not in self._legs:
            leg = open_leg(name, asked, index)
            if hasattr(leg, "path"):
                return leg
            make_room(self._legs, LEGS_KEPT)
            self._legs[key] = CachedLeg(leg, self.ahead)
        return self._legs[key]

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
        self._leg, self._ahead, self.floor, self.searches = leg, ahead, leg.floor, 0
        self.note: str = getattr(leg, "note", "")
        self._rankings: dict[bytes | None, tuple[int, Ranking]] = {}
        self._scores: dict[int, float] = {}

    def search(self, depth: int, allowed: np.ndarray | None) -> Ranking:
        """The best `depth` chunks."""
        key = None if allowed is None else allowed.tobytes()
        reached, ranking = self._rankings.get(key, (0, {}))
        if reached < depth:
            reached = max(depth, self._ahead)
            ranking = self._leg.search(reached, allowed)
            make_room(self._rankings, RANKINGS_KEPT)
            self._rankings[key], self.searches = (reached, ranking), self.searches + 1
        return dict(islice(ranking.items(), depth))

    def score(self, chunks: Sequence[int]) -> list[float]:
        """The exact score of given chunks."""
        make_room(self._scores, SCORES_KEPT)
        new = [chunk for chunk in chunks if chunk not in self._scores]
        if new:
            self._scores.update(zip(new, self._leg.score(new), strict=True))
        return [self._scores[chunk] for chunk in chunks]


class CachedReranker:
    """A reranker that scores each passage once."""

    def __init__(self, reranker: Reranker) -> None:
        self._reranker, self.name = reranker, reranker.name
        self._scores: dict[tuple[str, str], float] = {}
        self._cuts: dict[tuple[str, str], int] = {}

    def scores(self, query: str, texts: Sequence[str]) -> list[float]:
        """How well each text answers the query."""
        make_room(self._scores, SCORES_KEPT)
        new = [text for text in dict.fromkeys(texts) if (query, text) not in self._scores]
        if new:
            scores = self._reranker.scores(query, new)
            self._scores.update({(query, text): score for text, score in zip(new, scores, strict=True)})
        return [self._scores[query, text] for text in texts]

    def cuts(self, query: str, texts: Sequence[str]) -> int:
        """How many of the texts are longer than the reranker reads."""
        make_room(self._cuts, SCORES_KEPT)
        for text in texts:
            if (query, text) not in self._cuts:
                self._cuts[query, text] = self._reranker.cuts(query, [text])
        return sum(self._cuts[query, text] for text in texts)


class CachedIndex:
    """An open generation whose passages are looked up once, however many columns show them."""

    def __init__(self, index: Index) -> None:
        self._index = index
        self.passage, self.excerpt = (lru_cache(PASSAGES_KEPT)(look_up) for look_up in (index.passage, index.excerpt))

    def __getattr__(self, name: str) -> Any:
        return getattr(self._index, name)
