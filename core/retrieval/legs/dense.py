"""`dense`: meaning, as the cosine of vectors."""

from __future__ import annotations

from core.ports import Index, Leg
from core.retrieval.engines import ENGINES
from core.retrieval.legs.several_embedders import dense_leg
from core.retrieval.methods import LegKind, LegQuery


def open_leg(asked: LegQuery, index: Index) -> Leg:
    """Cosine with the query's vector, or by another engine."""
    return dense_leg(index, asked.vector(), asked.engine)


DENSE = LegKind(
    name="dense",
    title="Meaning (vectors)",
    about="Passages whose vectors lie near the question's, also in other words.",
    source="Karpukhin et al. 2020",
    side="dense",
    colour="#0072B2",
    open=open_leg,
    embeds=True,
    engines=ENGINES["dense"][1:],
)
