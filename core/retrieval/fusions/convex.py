"""`convex`: the weighted mean of normalised scores; alpha is the weight of the dense side."""

from __future__ import annotations

from core.retrieval.fusions.shares import at_most_one, share_times_score, shares
from core.retrieval.methods import Fusion, Spelling
from core.types import SearchConfig

CONVEX = Fusion(
    name="convex",
    title="Convex",
    about="alpha x the dense score + (1 - alpha) x the other leg's, both normalised.",
    source="Bruch et al. 2023",
    parts=shares,
    ceiling=at_most_one,
    arithmetic=share_times_score,
    weighs=True,
    parameters=("alpha",),
    spellings=(
        Spelling("convex", SearchConfig(fusion="convex", normalisation="minmax"), "alpha"),
        Spelling("tm2c2", SearchConfig(fusion="convex", normalisation="tm2c2"), "alpha"),
    ),
)
