"""Hierarchical retrieval: children are searched, their parents returned (thesis, 3.1.3)."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from core.retrieval.hits import Explainer
from core.types import Hit, SearchConfig

MAX_DEPTH = 1000


def collect(
    explain: Explainer, order: Sequence[int], config: SearchConfig, deeper: Callable[[int], Explainer]
) -> tuple[tuple[Hit, ...], str]:
    """Replace children by their parents, each at the rank of its best child; the note counts them.

    Too few parents are filled up from `deeper` candidates, which follow in their fused order.
    """
    parents: dict[tuple[int, int, int], tuple[Explainer, int]] = {}
    _adopt(parents, explain, order)
    first, depth, known = len(parents), config.depth, -1
    children = len(order)
    while len(parents) < config.k and depth < MAX_DEPTH and known != children:
        depth, known = min(MAX_DEPTH, 4 * depth), children
        more = deeper(depth)
        children = len(more.fused.ranking)
        _adopt(parents, more, list(more.fused.ranking))
    hits = tuple(own.parent(n, chunk) for n, (own, chunk) in enumerate(list(parents.values())[: config.k], 1))
    note = f"{min(first, config.k)} parents of {len(order)} children"
    if len(hits) > first:
        note += f"; filled up with {len(hits) - first} from the first {depth} of each leg"
    return hits, note if len(hits) == config.k else f"{note}; there are no more"


def _adopt(
    parents: dict[tuple[int, int, int], tuple[Explainer, int]], explain: Explainer, order: Sequence[int]
) -> None:
    """Add each parent once, with its first child; a chunk without a parent is its own."""
    for chunk in order:
        passage = explain.index.passage(chunk)
        parents.setdefault((passage.document, *(passage.parent or (passage.start, passage.end))), (explain, chunk))
