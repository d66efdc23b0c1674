"""Which engines can answer for a leg, and whether two of them rank alike.

The image is what a generation serves: arrays in memory. The others are the libraries' own searches over the same
terms and vectors: slower, and a check on the image.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import TYPE_CHECKING

from core.errors import BadInput
from core.ports import Leg, Ranking
from core.types import Stage

if TYPE_CHECKING:
    import numpy as np

IMAGE, DUCKDB = "image", "duckdb"
RANK_BM25, LANCEDB = "rank-bm25", "lancedb"
ENGINES: Mapping[str, tuple[str, ...]] = {"bm25": (IMAGE, DUCKDB, RANK_BM25), "dense": (IMAGE, LANCEDB)}
APPROXIMATE = "Found by LanceDB: approximate."  # the note of a leg that may miss a passage
TIE = 1e-6  # share of the score: the image keeps what a term adds in single precision


@dataclass(frozen=True, slots=True)
class RankDifference:
    """The first rank where an engine puts another chunk; None where a ranking has ended."""

    rank: int
    expected: int | None
    actual: int | None


def approximate(stages: Sequence[Stage]) -> bool:
    """Whether a leg of a search may have missed a passage.

    >>> approximate([Stage("bm25", 1.0, 10, APPROXIMATE)]), approximate([Stage("bm25", 1.0, 10)])
    (True, False)
    """
    return any(stage.note == APPROXIMATE for stage in stages)


def engine_of(leg: str, name: str) -> str:
    """The engine's name if the leg has it; "" is the image.

    >>> engine_of("bm25", "")
    'image'
    """
    if (name or IMAGE) not in ENGINES[leg]:
        raise BadInput(f"{leg} has no engine {name!r}. Engines: {', '.join(ENGINES[leg])}.")
    return name or IMAGE


def first_difference(
    expected: Ranking, engine: Leg, depth: int, allowed: np.ndarray | None = None
) -> RankDifference | None:
    """Where an engine's best `depth` chunks leave a ranking; None if they agree.

    Chunks whose scores the engine itself calls equal (to one part in a million) may change places, also across
    the last rank: the score at each rank is compared, not the chunk.
    """
    actual = engine.search(depth, allowed)
    scores = engine.score(list(expected)) if expected else []
    pairs = zip_longest(zip(expected, scores, strict=True), actual.items(), fillvalue=(None, None))
    for rank, ((ours, score), (theirs, best)) in enumerate(pairs, 1):
        if score is None or best is None or abs(score - best) > TIE * max(1.0, abs(best)):
            return RankDifference(rank, ours, theirs)
    return None
