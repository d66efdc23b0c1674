"""`cascade`: the cross-encoder reads the top, a language model orders its best ten."""

from __future__ import annotations

import time
from dataclasses import replace

from core.retrieval.methods import Outcome, RerankMethod, Task, attempt
from core.retrieval.rerankers.cross_encoder import CROSS_ENCODER, cross_encoder
from core.retrieval.rerankers.listwise import ordered, outcome, ranker_of
from core.types import Frozen, Stage

RETRIEVED, KEPT, FIRST = 100, 10, 5  # read by the cross-encoder, by the language model, and put first by it


def cascade(task: Task) -> Outcome:
    """The cross-encoder's order, with the first five of what a language model makes of its best ten in front."""
    started = time.perf_counter()
    first, ranker = attempt(cross_encoder, task), ranker_of(task)
    ms = 1000.0 * (time.perf_counter() - started)
    first = replace(first, earlier=(Stage(CROSS_ENCODER.name, ms, len(first.scores), first.note),))
    order = first.order(dict.fromkeys(task.head(), 0.0))
    best = (ordered(ranker, task, order[:KEPT]) or ())[:FIRST]
    if not best:
        return replace(first, warnings=(*first.warnings, *ranker.warnings), cost=ranker.bill.dollars)
    what = f"{first.note}; then listwise over {min(KEPT, len(order))}, of which {len(best)} lead"
    final = outcome(ranker, (*best, *(chunk for chunk in order if chunk not in best)), what)
    warnings = (*first.warnings, *final.warnings)
    return replace(final, scored=first.scored or final.scored, warnings=warnings, earlier=first.earlier)


CASCADE = RerankMethod(
    name="cascade",
    title="Cascade",
    about="The cross-encoder reads the top, then a language model orders its best ten.",
    source="the cascade study, stages 3 and 4",
    run=cascade,
    asks=("reranker", "llm"),
    suffix="cascade",
    settings=Frozen(depth=RETRIEVED, rerank_depth=RETRIEVED),
    parameters=("rerank_depth", "rerank_blend", "rerank_prompt", "rerank_orders"),
    purpose="rerank",
    reads=lambda depth: (1, min(KEPT, depth)),
)
