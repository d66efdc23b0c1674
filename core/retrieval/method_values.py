"""What methods hand to each other: what the legs retrieved, features of candidates, and trained models.

They stand below the records of methods, which name them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

from core.types import NOTHING

if TYPE_CHECKING:
    import numpy as np

ALPHA_FORMAT = 1
RANKER_FORMAT = 1
RANKER_START = 4.0  # what the fused score, from 0 to 1, counts before the first tree


@dataclass(frozen=True, slots=True)
class LegScores:
    """What both legs retrieved for a query: raw scores, best first, and the lowest possible score of each."""

    query: str
    dense: Mapping[int, float]
    bm25: Mapping[int, float]
    dense_floor: float = -1.0
    bm25_floor: float = 0.0


@dataclass(frozen=True, slots=True)
class AlphaModel:
    """A trained predictor: what it is, what it was trained for, its numbers, and how well it did."""

    name: str
    kind: str
    trained_for: str
    parameters: Mapping[str, Any]
    evidence: Mapping[str, Any] = field(default_factory=lambda: NOTHING)
    format: int = ALPHA_FORMAT


class Predict(Protocol):
    """Predicts alpha from what both legs retrieved; only some models embed the query."""

    def __call__(self, seen: LegScores, embed: Callable[[str], np.ndarray]) -> float:
        """Alpha, from 0 to 1."""
        ...


@dataclass(frozen=True, slots=True, eq=False)
class CandidateFeatures:
    """Candidates (rows) and their features (columns)."""

    chunks: tuple[int, ...]
    names: tuple[str, ...]
    values: np.ndarray


@dataclass(frozen=True, slots=True)
class RankerModel:
    """A trained ranker: what it reads, what it was trained for, its trees in xgboost's JSON, and how well it did."""

    name: str
    trained_for: str
    features: tuple[str, ...]
    booster: Mapping[str, Any]
    evidence: Mapping[str, Any] = field(default_factory=lambda: NOTHING)
    start: float = RANKER_START
    format: int = RANKER_FORMAT
