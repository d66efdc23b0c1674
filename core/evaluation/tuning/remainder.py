"""A generation without some of its documents, so that a question which they answer becomes unanswerable."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection
from datetime import date
from functools import cached_property
from math import exp, log
from typing import TYPE_CHECKING, Any, cast

from core.analysis import analyser
from core.ports import Index
from core.types import Filters

if TYPE_CHECKING:
    import numpy as np


def without(index: Index, documents: Collection[int]) -> Index:
    """The index as it would be without these documents: nothing of them is found, and words are as rare as they are in
    the rest. BM25 still weighs words by all documents, which moves ranks a little and no cosine."""
    return cast("Index", _Remainder(index, documents))


class _Remainder:
    """Everything else is the index's own."""

    def __init__(self, index: Index, documents: Collection[int]) -> None:
        self._index = index
        self._gone = [chunk for document in documents for chunk in index.chunks_of(document)]

    def __getattr__(self, name: str) -> Any:
        return getattr(self._index, name)

    def allowed(self, filters: Filters, today: date) -> np.ndarray:
        """What passes the filters and is still there."""
        import numpy as np

        mask = self._index.allowed(filters, today)
        left = np.ones(self._index.size, dtype=np.bool_) if mask is None else mask.copy()
        left[self._gone] = False
        return left

    def rarity(self, term: str) -> float:
        """The inverse document frequency among what is left; 0 for a term that is gone with the documents."""
        known = self._index.rarity(term)
        chunks = (self._index.size + 1) / exp(known) - 0.5 - self._lost[term] if known else 0.0
        return log((self._index.size - len(self._gone) + 1) / (chunks + 0.5)) if chunks > 0.5 else 0.0

    @cached_property
    def _lost(self) -> Counter[str]:
        """How many of the passages that are gone hold each term."""
        analyse = analyser(self._index.profile.lexical)
        texts = (f"{self._index.context(chunk)}\n\n{self._index.excerpt(chunk)}" for chunk in self._gone)
        return Counter(term for text in texts for term in set(analyse(text)))
