"""The knobs of a search configuration: range, slider step and one sentence each."""

from __future__ import annotations

from core.parameter import Parameter
from core.retrieval.fusions import FUSIONS

PARAMETERS: dict[str, Parameter] = {
    parameter.name: parameter
    for parameter in (
        *(parameter for fusion in FUSIONS.values() for parameter in fusion.parameters),
        Parameter(
            "tau",
            "Tau",
            0.0,
            1.0,
            0.01,
            "Queries are reranked where the chance that their first hit answers is below tau.",
        ),
        Parameter("depth", "Depth", 1, 1000, 1, "Candidates that each leg brings.", reach=100),
        Parameter("k", "Hits (k)", 1, 1000, 1, "Hits that are returned."),
        Parameter("rerank_depth", "Rerank depth", 1, 1000, 1, "Passages that the reranker reads."),
        Parameter(
            "rerank_orders",
            "Orders",
            1,
            2,
            1,
            "2 shows the passages also from last to first, and both orders must agree.",
        ),
        Parameter("rerank_blend", "Blend", 0.0, 1.0, 0.05, "Share of the fused score in the final order."),
    )
}
FUSING = tuple(dict.fromkeys(name for fusion in FUSIONS.values() for name in fusion.knobs))
