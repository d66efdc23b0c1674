"""Several embedders in one profile: their unit vectors are concatenated in the index. A query is compared as one vector
(concatenation), or each part ranks by itself and the ranks are fused (rrf)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from core.ports import Embedder, Index, Leg, Progress, Ranking, no_progress
from core.retrieval.ordering import rank

if TYPE_CHECKING:
    import numpy as np

COMBINATIONS = ("concatenation", "rrf")
K = 60  # the constant of RRF between embedders


def concatenation(parts: Sequence[np.ndarray]) -> np.ndarray:
    """Unit vectors side by side, scaled by 1 / sqrt(n): again a unit vector, and the dot product of two is the mean
    of the parts' cosines.

    >>> import numpy as np
    >>> a = concatenation([np.array([1.0, 0.0]), np.array([0.0, 1.0])])
    >>> b = concatenation([np.array([0.6, 0.8]), np.array([0.0, 1.0])])
    >>> round(float(a @ b), 3)  # (0.6 + 1.0) / 2
    0.8
    """
    import numpy as np

    return np.concatenate(parts, axis=-1).astype(np.float32) / np.float32(np.sqrt(len(parts)))


def apart(parts: Sequence[np.ndarray]) -> np.ndarray:
    """One row per part, zero where the others stand: its dot product with a concatenation is that part's cosine.

    >>> import numpy as np
    >>> rows = apart([np.array([1.0, 0.0]), np.array([0.0, 1.0])])
    >>> stored = concatenation([np.array([0.6, 0.8]), np.array([0.0, 1.0])])
    >>> [round(float(cosine), 3) for cosine in rows @ stored]
    [0.6, 1.0]
    """
    import numpy as np

    rows = np.zeros((len(parts), sum(part.size for part in parts)), dtype=np.float32)
    at = 0
    for row, part in zip(rows, parts, strict=True):
        row[at : at + part.size] = part * np.sqrt(len(parts))
        at += part.size
    return rows


def dense_leg(index: Index, vector: np.ndarray, engine: str = "") -> Leg:
    """The vector leg of an index: for one vector its cosine, for several rows the vote of their rankings."""
    if vector.ndim == 1:
        return index.dense(vector, engine)
    return Vote(tuple(index.dense(row, engine) for row in vector))


def votes(rankings: Iterable[Iterable[int]], k: int = K) -> dict[int, float]:
    """Reciprocal rank fusion of plain rankings: the sum of 1 / (k + place).

    >>> {chunk: round(vote, 5) for chunk, vote in votes([[1, 2], [2]]).items()}
    {1: 0.01639, 2: 0.03252}
    """
    scores: dict[int, float] = {}
    for ranking in rankings:
        for place, chunk in enumerate(ranking, 1):
            scores[chunk] = scores.get(chunk, 0.0) + 1.0 / (k + place)
    return scores


@dataclass(frozen=True, slots=True)
class Vote:
    """Reciprocal rank fusion of several rankings as one leg.

    A chunk that no part retrieved scores 0, which is also the lowest score there is.
    """

    legs: tuple[Leg, ...]
    _votes: dict[int, float] = field(default_factory=dict)
    floor = 0.0

    def search(self, depth: int, allowed: np.ndarray | None) -> Ranking:
        """The chunks that the parts rank highest."""
        self._votes.clear()
        self._votes.update(votes(leg.search(depth, allowed) for leg in self.legs))
        return dict(list(rank(self._votes).items())[:depth])

    def score(self, chunks: Sequence[int]) -> list[float]:
        """The fused scores of some chunks."""
        return [self._votes.get(chunk, 0.0) for chunk in chunks]


class CombinedEmbedder:
    """Several embedders as one: vectors side by side. Chunks are measured with the first one's tokens."""

    def __init__(self, parts: Sequence[Embedder]) -> None:
        self.parts = tuple(parts)
        self.name = "+".join(part.name for part in parts)
        self.dimension = sum(part.dimension for part in parts)
        self.limit = min(part.limit for part in parts)

    def tokens(self, text: str) -> Sequence[tuple[int, int]]:
        """Where the first model's tokens lie."""
        return self.parts[0].tokens(text)

    def documents(self, texts: Sequence[str], progress: Progress = no_progress) -> np.ndarray:
        return concatenation([part.documents(texts, progress) for part in self.parts])

    def query(self, text: str) -> np.ndarray:
        """The vector of a question: each model's own, side by side."""
        return concatenation([part.query(text) for part in self.parts])


def combined(embedders: Sequence[Embedder]) -> Embedder:
    """One embedder as it is, several as one."""
    return embedders[0] if len(embedders) == 1 else CombinedEmbedder(embedders)
