"""What each leg gave to a hit's fused score, in the fusion's own units: the parts add up to the whole."""

from __future__ import annotations

from core.retrieval.config import weights
from core.types import Hit, SearchConfig


def contributions(hit: Hit, config: SearchConfig) -> dict[str, float]:
    """Each leg's part of the fused score.

    >>> from core.types import LegScore
    >>> legs = {"bm25": LegScore(9.0, 1.0, 0.7, 1), "dense": LegScore(0.5, 0.5, 0.3, 4)}
    >>> hit = Hit(1, "d", "d.md", "D", (), "c", 0, 1, "x", 0.85, legs, "approved", 1)
    >>> {leg: round(part, 3) for leg, part in contributions(hit, SearchConfig(alpha=0.3)).items()}
    {'bm25': 0.7, 'dense': 0.15}
    """
    if config.fusion == "rrf":
        return {name: leg.weight / (config.rrf_k + leg.rank) if leg.rank else 0.0 for name, leg in hit.legs.items()}
    if config.fusion in ("single", "combsum", "combmnz"):
        times = sum(leg.rank > 0 for leg in hit.legs.values()) if config.fusion == "combmnz" else 1
        return {name: leg.normalised * times for name, leg in hit.legs.items()}
    total = sum({**weights(config), **{name: leg.weight for name, leg in hit.legs.items()}}.values()) or 1.0
    return {name: leg.normalised * leg.weight / total for name, leg in hit.legs.items()}
