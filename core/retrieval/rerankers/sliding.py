"""SlideGAR: a listwise window that slides over the initial list and over neighbours of what ranked high.

Source: Rathee, MacAvaney and Anand 2025, "Guiding retrieval using LLM-based listwise rankers"; used in the
support study, section 4.6.2. A relevant chunk that no leg retrieved can enter when it resembles one that ranked high.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from core.retrieval.methods import Outcome, RerankMethod, Task
from core.retrieval.rerankers.listwise import ordered, outcome, ranker_of
from core.types import Frozen

WINDOW = 20  # passages in one prompt
NEIGHBOURS = 16  # per chunk, as in the paper's corpus graph

Order = Callable[[Sequence[int]], "Sequence[int] | None"]
"""Chunks to the same chunks, best first; None when the model gave no order."""


@dataclass(frozen=True, slots=True)
class Slid:
    """The chunks that were read, best first; `joined` are those that came as neighbours."""

    order: tuple[int, ...]
    joined: tuple[int, ...]
    windows: int


def slide(
    initial: Sequence[int], budget: int, order: Order, neighbours: Callable[[int], Sequence[int]], window: int = WINDOW
) -> Slid:
    """Order the first window, carry its better half on, fill up in turns from neighbours and from the list.

    At most `budget` chunks are read. What was carried on never stands below what was left behind.

    >>> slide([1, 2, 3, 4], 8, lambda chunks: sorted(chunks, reverse=True), lambda chunk: [chunk * 10], window=4)
    Slid(order=(400, 300, 40, 30, 4, 3, 2, 1), joined=(400, 300, 40, 30), windows=3)
    """
    window = min(window, max(2, budget // 2))
    best: list[int] = []
    left: list[int] = []
    fresh, windows = list(initial[:window]), 0
    seen = set(fresh)
    for near in itertools.cycle((True, False)):
        ordered = order([*best, *fresh]) if fresh else None
        if ordered is None:  # what was not read stays where it was
            break
        windows += 1
        best, left = list(ordered[: window // 2]), [*ordered[window // 2 :], *left]
        room = max(0, min(window // 2, budget - len(seen)))
        fresh = _next(best, initial, seen, neighbours, near)[:room] if room else []
        seen.update(fresh)
    read, known = (*best, *left), set(initial)
    return Slid(read, tuple(chunk for chunk in read if chunk not in known), windows)


def _next(
    best: Sequence[int],
    initial: Sequence[int],
    seen: set[int],
    neighbours: Callable[[int], Sequence[int]],
    near: bool,
) -> list[int]:
    """What to read next: neighbours of the best, those of the better ones first, or the rest of the list."""
    around = dict.fromkeys(neighbour for chunk in best for neighbour in neighbours(chunk))
    sources = (around, initial) if near else (initial, around)
    return [chunk for chunk in dict.fromkeys(itertools.chain(*sources)) if chunk not in seen]


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
