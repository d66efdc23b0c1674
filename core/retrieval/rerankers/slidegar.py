"""`slidegar`: listwise windows over the ranking and over neighbours of what ranked high."""

from __future__ import annotations

from core.retrieval.methods import Outcome, RerankMethod, Task
from core.retrieval.rerankers.listwise import ordered, outcome, ranker_of
from core.retrieval.rerankers.sliding import WINDOW, slide
from core.types import Frozen


def slidegar(task: Task) -> Outcome:
    """Reads `rerank_depth` chunks, window by window."""
    ranker, budget = ranker_of(task), task.config.rerank_depth
    slid = slide(list(task.ranking), budget, lambda chunks: ordered(ranker, task, chunks), task.neighbours)
    what = (
        f"SlideGAR read {len(slid.order)} passages in {slid.windows} windows, {len(slid.joined)} joined as neighbours"
    )
    return outcome(ranker, slid.order, what)


def windows(depth: int) -> tuple[int, int]:
    """Calls for so many chunks: windows that step by half of their size.

    >>> windows(50)
    (4, 20)
    """
    size = min(WINDOW, max(2, depth // 2))
    return 1 + max(0, -(-(depth - size) // (size // 2))), size


SLIDEGAR = RerankMethod(
    name="slidegar",
    title="SlideGAR",
    about="A language model orders windows that slide over the ranking and over neighbours of what ranked high.",
    source="the support study, 4.7",
    run=slidegar,
    asks=("llm",),
    suffix="slidegar",
    settings=Frozen(depth=50, rerank_depth=50),
    parameters=("rerank_depth", "rerank_blend", "rerank_prompt", "rerank_orders"),
    purpose="rerank",
    reads=windows,
)
