"""SlideGAR: a listwise window that slides over the initial list and over neighbours of what ranked high.

Source: Rathee, MacAvaney and Anand 2025, "Guiding retrieval using LLM-based listwise rankers"; used in the
chatbot study, section 4.6.2. A relevant chunk that no leg retrieved can enter when it resembles one that ranked high.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass

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
    Slid(order=(400, 300, 40, 30, 4, 3, 2, 1), joined=(40, 30, 400, 300), windows=3)
    """
    window = min(window, max(2, budget // 2))
    held, left, windows = list(initial[:window]), [], 0  # type: tuple[list[int], list[int], int]
    seen = list(held)
    for near in itertools.cycle((True, False)):
        ordered = order(held) if held else None
        if ordered is None:
            break
        windows += 1
        room = min(window // 2, budget - len(seen))
        best, worse = list(ordered[: window // 2]), list(ordered[window // 2 :])
        fresh = _next(best, initial, seen, neighbours, near)[:room] if room > 0 else []
        if not fresh:
            held = list(ordered)
            break
        held, left, seen = [*best, *fresh], [*worse, *left], [*seen, *fresh]
    if not windows:
        return Slid((), (), 0)
    known = set(initial)
    return Slid((*held, *left), tuple(chunk for chunk in seen if chunk not in known), windows)


def _next(
    best: Sequence[int],
    initial: Sequence[int],
    seen: Sequence[int],
    neighbours: Callable[[int], Sequence[int]],
    near: bool,
) -> list[int]:
    """What to read next: neighbours of the best, those of the better ones first, or the rest of the list."""
    known = set(seen)
    around = dict.fromkeys(chunk for one in best for chunk in neighbours(one))
    sources = (around, initial) if near else (initial, around)
    return [chunk for chunk in dict.fromkeys(itertools.chain(*sources)) if chunk not in known]
