"""What one query found, kept in memory: an open generation whose legs, and models whose rerankers, never do the same twice.

Both answer exactly as the things they stand for, so the one search pipeline runs on them unchanged: moving a
slider, adding a column or looking deeper costs arithmetic only.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from itertools import islice
from typing import TYPE_CHECKING, Any

from core.ports import Index, Leg, Models, Ranking, Reranker
from core.retrieval.config import LEGS

if TYPE_CHECKING:
    import numpy as np

AHEAD = 100  # candidates per leg that are fetched at once, so that the depth slider has something to move over


class RememberingIndex:
    """An open generation, for one query. Legs are opened once and searched once, at the greatest depth so far.

    Passages are looked up once, however many columns show them.
    """

    def __init__(self, index: Index, ahead: int = AHEAD) -> None:
        self._index, self._ahead = index, ahead
        self._legs: dict[Any, RememberingLeg] = {}
        self.passage, self.excerpt = cache(index.passage), cache(index.excerpt)

    def __getattr__(self, name: str) -> Any:
        value = getattr(self._index, name)
        return self._opener(name, value) if name in LEGS else value

    def _opener(self, name: str, opened: Callable[..., Any]) -> Callable[..., Any]:
        def opener(*arguments: Any) -> Any:
            key = (name, *map(_key, arguments))
            if key not in self._legs:
                leg = opened(*arguments)
                if not (hasattr(leg, "search") and hasattr(leg, "score")):
                    return leg  # not a leg, only called like one
                self._legs[key] = RememberingLeg(leg, self._ahead)
            return self._legs[key]

        return opener

    @property
    def searches(self) -> int:
        """How often a leg was really searched."""
        return sum(leg.searches for leg in self._legs.values())


class RememberingLeg:
    """A leg that is asked once for much, and hands out the beginning of what it found."""

    def __init__(self, leg: Leg, ahead: int) -> None:
        self._leg, self._ahead, self.floor, self.searches = leg, ahead, leg.floor, 0
        self._found: dict[Any, tuple[int, Ranking]] = {}
        self._scores: dict[int, float] = {}

    def search(self, depth: int, allowed: np.ndarray | None) -> Ranking:
        """The best `depth` chunks."""
        key = _key(allowed)
        held, found = self._found.get(key, (0, {}))
        if held < depth:
            held = max(depth, self._ahead)
            found = self._leg.search(held, allowed)
            self._found[key], self.searches = (held, found), self.searches + 1
        return dict(islice(found.items(), depth))

    def score(self, chunks: Sequence[int]) -> list[float]:
        """The exact score of given chunks."""
        new = [chunk for chunk in chunks if chunk not in self._scores]
        if new:
            self._scores.update(zip(new, self._leg.score(new), strict=True))
        return [self._scores[chunk] for chunk in chunks]


class RememberingModels:
    """Models whose rerankers read each passage once per query."""

    def __init__(self, models: Models) -> None:
        self._models = models
        self._rerankers: dict[Any, RememberingReranker] = {}

    def __getattr__(self, name: str) -> Any:
        return getattr(self._models, name)

    def reranker(self, *arguments: Any) -> Reranker:
        """A reranker, ready to use."""
        if arguments not in self._rerankers:
            self._rerankers[arguments] = RememberingReranker(self._models.reranker(*arguments))
        return self._rerankers[arguments]


class RememberingReranker:
    """A reranker that judges each passage by itself, once."""

    def __init__(self, reranker: Reranker) -> None:
        self._reranker, self.name = reranker, reranker.name
        self._known: dict[tuple[str, str], float] = {}
        self._cuts: dict[tuple[str, str], int] = {}

    def __getattr__(self, name: str) -> Any:
        return getattr(self._reranker, name)

    def scores(self, query: str, texts: Sequence[str]) -> list[float]:
        """How well each text answers the query."""
        new = [text for text in dict.fromkeys(texts) if (query, text) not in self._known]
        if new:
            scores = self._reranker.scores(query, new)
            self._known.update({(query, text): score for text, score in zip(new, scores, strict=True)})
        return [self._known[query, text] for text in texts]

    def cuts(self, query: str, texts: Sequence[str]) -> int:
        """How many of the texts are longer than the reranker reads."""
        for text in texts:
            if (query, text) not in self._cuts:
                self._cuts[query, text] = self._reranker.cuts(query, [text])
        return sum(self._cuts[query, text] for text in texts)


def _key(value: Any) -> Any:
    """What tells two arguments apart; arrays by their bytes."""
    return value.tobytes() if hasattr(value, "tobytes") else value
