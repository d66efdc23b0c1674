"""`fixed`: the alpha of the configuration, for every query."""

from __future__ import annotations

from core.retrieval.methods import AlphaSource

FIXED = AlphaSource(
    name="fixed",
    title="Fixed",
    about="The same alpha for every query.",
    source="Bruch et al. 2023",
    weigh=None,
)
