"""`pagerank`: documents that share the query's entities, weighed by PageRank."""

from __future__ import annotations

from core.ports import Index, Leg
from core.retrieval.legs.walks import PageRankLeg
from core.retrieval.methods import LegKind, LegQuery


def open_leg(asked: LegQuery, index: Index) -> Leg:
    """Shared entities and PageRank."""
    return PageRankLeg(index.graph(), asked.query)


PAGERANK = LegKind(
    name="pagerank",
    title="Graph (PageRank)",
    about="Documents that name the question's entities, the more central the better.",
    source="the cascade study, stage 2c",
    side="graph",
    colour="#5BB89B",
    open=open_leg,
)
