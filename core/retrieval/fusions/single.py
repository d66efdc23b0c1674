"""`single`: one leg as it is."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from core.retrieval.methods import Fusion, ScaledLegs
from core.types import LegScore, SearchConfig

if TYPE_CHECKING:
    import numpy as np


def alone(legs: ScaledLegs, weights: Sequence[float], config: SearchConfig) -> np.ndarray:
    """The leg's own scores."""
    return legs.scores


def score(leg: LegScore, config: SearchConfig) -> str:
    """The leg's own score."""
    return f"{leg.normalised:.3f}"


SINGLE = Fusion(
    name="single",
    title="One leg",
    about="One leg by itself, on its own scale.",
    source="",
    parts=alone,
    ceiling=None,
    arithmetic=score,
    several=False,
)
