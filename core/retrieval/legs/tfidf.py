"""`tfidf`: TF-IDF over words and pairs of words."""

from __future__ import annotations

from core.ports import Index, Leg
from core.retrieval.methods import LegKind, LegQuery


def open_leg(asked: LegQuery, index: Index) -> Leg:
    """The index's own leg of that name."""
    return index.tfidf(asked.query)


TFIDF = LegKind(
    name="tfidf",
    title="Words (TF-IDF)",
    about="Words and pairs of words by TF-IDF.",
    source="the cascade study, stage 2",
    side="sparse",
    colour="#D55E00",
    open=open_leg,
)
