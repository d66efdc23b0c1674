"""How much each leg counts in a fusion."""

from __future__ import annotations

from core.retrieval.fusions import FUSIONS
from core.types import SearchConfig


def leg_weights(config: SearchConfig) -> dict[str, float]:
    """The weight of each leg: as given, else from alpha where the fusion has one, else equal.

    >>> leg_weights(SearchConfig(fusion="convex", alpha=0.3))
    {'bm25': 0.7, 'dense': 0.3}
    """
    if config.weights:
        return {leg: float(config.weights.get(leg, 0.0)) for leg in config.legs}
    if "alpha" in FUSIONS[config.fusion].parameters and two_sided(config):
        return {leg: config.alpha if leg == "dense" else round(1.0 - config.alpha, 12) for leg in config.legs}
    return dict.fromkeys(config.legs, 1.0)


def two_sided(config: SearchConfig) -> bool:
    """Whether alpha can weigh it: dense against one other leg."""
    return len(config.legs) == 2 and "dense" in config.legs
