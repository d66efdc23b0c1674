"""`sparse`: the mean of BM25 and TF-IDF."""

from __future__ import annotations

from core.ports import Index, Leg
from core.retrieval.methods import LegKind, LegQuery


def open_leg(asked: LegQuery, index: Index) -> Leg:
    """The index's own leg of that name."""
    return index.sparse(asked.query)


SPARSE = LegKind(
    name="sparse",
    title="Words (BM25 and TF-IDF)",
    about="The mean of BM25 and TF-IDF.",
    source="the cascade study, stage 2",
    side="sparse",
    colour="#F0B840",
    open=open_leg,
)
