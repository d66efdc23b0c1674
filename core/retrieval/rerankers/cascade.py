"""`cross-encoder`, and `cascade`: it reads the top, then a language model orders its best ten."""

from __future__ import annotations

import math
import time
from dataclasses import replace

from core.errors import Unavailable
from core.retrieval.methods import Outcome, RerankMethod, Task, attempt
from core.retrieval.ordering import rank
from core.retrieval.rerankers.listwise import ordered, outcome, ranker_of
from core.types import Frozen, Stage


def cross_encoder(task: Task) -> Outcome:
    """Score each of the top passages together with the query; the scores are the order."""
    head, model = task.head(), task.reranker()
    texts = [task.text(chunk) for chunk in head]
    values = model.scores(task.query, texts)
    if not all(math.isfinite(value) for value in values):
        raise Unavailable(f"the reranker {model.name!r} gave scores that are no numbers.")
    scores, cuts = rank(dict(zip(head, values, strict=True))), model.cuts(task.query, texts)
    note = f"{model.name} read the top {len(head)}" + (f", {cuts} of them cut at its limit" if cuts else "")
    return Outcome(scores, scores, note)


CROSS_ENCODER = RerankMethod(
    name="cross-encoder",
    title="Cross-encoder",
    about="A small model reads the query with each of the top passages.",
    source="Nogueira and Cho 2019",
    run=cross_encoder,
    asks=("reranker",),
    suffix="rerank",
)


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
