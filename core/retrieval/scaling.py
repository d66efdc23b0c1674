"""From what the legs scored to one fused score per candidate: the arithmetic of a search and of a whole query set.

Scores are arrays: legs on the first axis, candidates on the last, in the order of chunk numbers; between the two may
stand many questions, so that one search and the sweep of a query set are the same arithmetic.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from core.retrieval.fusions import FUSIONS
from core.retrieval.methods import ScaledLegs
from core.retrieval.normalisations import NORMALISATIONS
from core.types import SearchConfig

if TYPE_CHECKING:
    import numpy as np


MISSING = {
    "exact": "A leg scores every candidate, also those that it did not retrieve.",
    "floor": "A leg gives the lowest score it could give to what it did not retrieve.",
    "absent": "A leg says nothing about what it did not retrieve.",
}


def scale(
    names: Sequence[str], scores: np.ndarray, places: np.ndarray, floors: np.ndarray, config: SearchConfig
) -> ScaledLegs:
    """Raw scores on one scale, with the configured rule for what a leg did not retrieve.

    With `missing` exact the scores must hold the exact score of every candidate. `floors` are the lowest scores that
    the legs could give.
    """
    import numpy as np

    low = floors.reshape(-1, *[1] * (scores.ndim - 1))
    retrieved = here = places > 0
    if config.missing != "absent" and len(names) > 1:
        here = retrieved | retrieved.any(axis=0)  # whatever any leg retrieved is a candidate of all
        if config.missing == "floor":
            scores = np.where(retrieved, scores, low)
    scaled = NORMALISATIONS[config.normalisation].scale(scores, here, low)
    return ScaledLegs(tuple(names), scores, np.where(here, scaled, 0.0), here, places)


def added(parts: np.ndarray) -> np.ndarray:
    """The sum over the legs, one after the other: a fixed order gives fixed bits.

    >>> import numpy as np
    >>> added(np.array([[1.0, 2.0], [10.0, 20.0]])).tolist()
    [11.0, 22.0]
    """
    total: np.ndarray = parts[0]
    for row in parts[1:]:
        total = total + row
    return total


def confidence(best: float, weights: Sequence[float], config: SearchConfig) -> float:
    """The best fused score as a share of the highest that the fusion could give: the scale of the thesis's tau.

    >>> confidence(2.0, [1.0, 1.0], SearchConfig(fusion="combmnz"))
    0.5
    """
    ceiling = FUSIONS[config.fusion].ceiling
    top = best if ceiling is None else ceiling(weights, config)
    return min(1.0, max(0.0, best / top)) if top > 0 else 0.0


def leg_weights(config: SearchConfig) -> dict[str, float]:
    """The weight of each leg: as given, else from alpha where the fusion has one, else equal.

    >>> leg_weights(SearchConfig(fusion="convex", alpha=0.3))
    {'bm25': 0.7, 'dense': 0.3}
    """
    if config.weights:
        return {leg: float(config.weights.get(leg, 0.0)) for leg in config.legs}
    if "alpha" in FUSIONS[config.fusion].knobs and two_sided(config):
        return {leg: config.alpha if leg == "dense" else round(1.0 - config.alpha, 12) for leg in config.legs}
    return dict.fromkeys(config.legs, 1.0)


def two_sided(config: SearchConfig) -> bool:
    """Whether alpha can weigh it: dense against one other leg."""
    return len(config.legs) == 2 and "dense" in config.legs
