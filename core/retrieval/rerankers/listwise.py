"""`listwise`: a language model orders the top passages at once."""

from __future__ import annotations

from collections.abc import Sequence

from core.retrieval.methods import Outcome, RerankMethod, Task
from core.retrieval.rerankers.ranker import Ranker, descending


def ranker_of(task: Task) -> Ranker:
    """A language model that orders passages for the query of a task."""
    return Ranker(task.query, task.llm, task.prompt(task.config.rerank_prompt), task.config.rerank_orders)


def ordered(ranker: Ranker, task: Task, chunks: Sequence[int]) -> tuple[int, ...] | None:
    """Chunks in the order that the model gives them; None when its answer cannot be used."""
    places = ranker.order([task.text(chunk) for chunk in chunks])
    return None if places is None else tuple(chunks[place] for place in places)


def outcome(ranker: Ranker, order: Sequence[int], what: str) -> Outcome:
    """What a language model's order comes to, and what it took to get it."""
    what = what if order else "the given order was kept"
    scores = descending(order)
    note = "; ".join(filter(None, (what, ranker.note())))
    return Outcome(scores, scores, note, tuple(ranker.warnings), ranker.bill.dollars)


def listwise(task: Task) -> Outcome:
    """The top passages in one prompt."""
    ranker = ranker_of(task)
    order = ordered(ranker, task, task.head())
    return outcome(ranker, order or (), f"listwise over the top {len(task.head())}")


LISTWISE = RerankMethod(
    name="listwise",
    title="Listwise",
    about="A language model orders the top passages in one prompt; of more than twenty it names the ten best.",
    source="the thesis, 3.4.1; the support study, 4.6",
    run=listwise,
    asks=("llm",),
    suffix="listwise",
    parameters=("rerank_depth", "rerank_blend", "rerank_prompt", "rerank_orders"),
    purpose="rerank",
    reads=lambda depth: (1, depth),
)
