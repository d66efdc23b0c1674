"""`cross-encoder`: a model reads the query with each of the top passages."""

from __future__ import annotations

import math

from core.errors import Unavailable
from core.retrieval.methods import Outcome, RerankMethod, Task
from core.retrieval.ordering import rank


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
