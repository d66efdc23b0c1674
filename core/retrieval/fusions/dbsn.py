"""`dbsn`: distribution-based score normalisation."""

from __future__ import annotations

from core.retrieval.fusions.shares import at_most_one, share_times_score, shares
from core.retrieval.methods import Fusion, Spelling
from core.types import SearchConfig

DBSN = Fusion(
    name="dbsn",
    title="DBSN",
    about="Distribution-based score normalisation: the mean of z-scores moved to 0..1.",
    source="the compliance benchmark",
    parts=shares,
    ceiling=at_most_one,
    arithmetic=share_times_score,
    weighs=True,
    normalisation="zscore",
    spellings=(Spelling("dbsn", SearchConfig(fusion="dbsn", normalisation="zscore", missing="absent")),),
)
