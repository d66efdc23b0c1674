"""`semantic`: sections first, then cuts where the meaning of neighbouring sentences differs most."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence

from core.chunking.blocks import Block, Span, blocks, parts
from core.chunking.chunker import Chunker, Tools, tokens
from core.chunking.markdown import sections
from core.chunking.packing import Piece, windows
from core.chunking.ruler import Ruler
from core.parameter import Parameter
from core.types import Document


def semantic(
    document: Document, tools: Tools, *, percentile: int = 80, buffer: int = 1, max_tokens: int = 800
) -> list[Piece]:
    """Cut at the largest drops of similarity between sentences, each seen with `buffer` neighbours.

    A drop counts when its distance is at or above the document's `percentile` (thesis, equation 2).
    What is still over `max_tokens` is cut again at its own largest drop.
    """
    ruler = Ruler(document.text, tools.tokens)
    runs = [units(document.text, section, ruler, max_tokens) for section in sections(blocks(document))]
    drops = _drops(document.text, runs, tools, buffer)
    threshold = _percentile([drop for run in drops for drop in run], percentile)
    return [
        Piece(run[first][0], run[last][1])
        for run, falls in zip(runs, drops, strict=True)
        for first, last in _groups(run, falls, threshold, ruler, max_tokens)
    ]


def units(text: str, section: Sequence[Block], ruler: Ruler, limit: int) -> list[Span]:
    """The sentences, items, rows and lines of blocks, none above the limit."""
    return [
        window for block in section for start, end in parts(text, block) for window in windows(ruler, start, end, limit)
    ]


def _drops(text: str, runs: Sequence[Sequence[Span]], tools: Tools, buffer: int) -> list[list[float]]:
    """One minus the cosine for each pair of neighbours."""
    seen = [
        text[run[max(0, n - buffer)][0] : run[min(len(run) - 1, n + buffer)][1]]
        for run in runs
        if len(run) > 1
        for n in range(len(run))
    ]
    vectors = iter(tools.embed(seen)) if seen else iter(())
    drops: list[list[float]] = []
    for run in runs:
        rows = [next(vectors) for _ in run] if len(run) > 1 else []
        drops.append([1.0 - float(a @ b) for a, b in itertools.pairwise(rows)])
    return drops


def _percentile(values: Sequence[float], percent: int) -> float:
    """The value below which `percent` % of the values lie.

    >>> _percentile([0.1, 0.2, 0.3, 0.4, 0.5], 80)
    0.5
    """
    if not values:
        return float("inf")
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, len(ordered) * percent // 100)]


def _groups(
    run: Sequence[Span], drops: Sequence[float], threshold: float, ruler: Ruler, limit: int
) -> Iterator[tuple[int, int]]:
    """First and last sentence of each group: cut at every large drop, and again where a group is too large."""
    first = 0
    for n in range(len(run)):
        if n == len(run) - 1 or drops[n] >= threshold:
            yield from _halves(run, drops, first, n, ruler, limit)
            first = n + 1


def _halves(
    run: Sequence[Span], drops: Sequence[float], first: int, last: int, ruler: Ruler, limit: int
) -> Iterator[tuple[int, int]]:
    waiting = [(first, last)]
    while waiting:
        a, b = waiting.pop()
        if a == b or ruler.count(run[a][0], run[b][1]) <= limit:
            yield a, b
            continue
        cut = max(range(a, b), key=lambda n: (drops[n], -n))
        waiting += [(cut + 1, b), (a, cut)]


SEMANTIC = Chunker(
    name="semantic",
    title="Semantic",
    about="Sections first, then cuts where neighbouring sentences differ most in meaning.",
    source="the thesis, equation 2",
    split=semantic,
    parameters=(
        Parameter("percentile", "Percentile", 1, 99, 1, "Cut at drops of similarity above this percentile.", 80),
        Parameter("buffer", "Buffer", 0, 10, 1, "Neighbours that a sentence is compared with.", 1),
        tokens("max_tokens", 800, "The most that a chunk may hold."),
    ),
    settings=tuple(
        {"percentile": p, "buffer": b, "max_tokens": m} for p, m in ((80, 800), (80, 1000), (90, 1200)) for b in (0, 1)
    ),
    asks=("embedder",),
)
