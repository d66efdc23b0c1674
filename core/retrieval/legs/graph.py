"""`graph`: passages that the entities of the query lead to, ordered by meaning."""

from __future__ import annotations

from core.ports import Index, Leg
from core.retrieval.legs.walks import LocalLeg
from core.retrieval.methods import LegKind, LegQuery


def open_leg(asked: LegQuery, index: Index) -> Leg:
    """Local search along relations."""
    return LocalLeg(index.graph(), asked.open_leg("dense", asked, index), asked.query)


GRAPH = LegKind(
    name="graph",
    title="Graph",
    about="Passages within two relations of the entities that the question names, ordered by meaning.",
    source="the thesis, 3.2.2",
    side="graph",
    colour="#009E73",
    open=open_leg,
    embeds=True,
)
