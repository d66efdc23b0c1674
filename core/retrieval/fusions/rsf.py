"""`rsf`: relative score fusion."""

from __future__ import annotations

from core.retrieval.fusions.shares import at_most_one, share_times_score, shares
from core.retrieval.methods import Fusion, Spelling
from core.types import SearchConfig

RSF = Fusion(
    name="rsf",
    title="RSF",
    about="Relative score fusion: the mean of min-max scores; a leg that did not retrieve a chunk gives 0.",
    source="the compliance benchmark",
    parts=shares,
    ceiling=at_most_one,
    arithmetic=share_times_score,
    weighs=True,
    normalisation="minmax",
    spellings=(Spelling("rsf", SearchConfig(fusion="rsf", normalisation="minmax", missing="absent")),),
)
