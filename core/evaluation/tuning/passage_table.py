"""Measures over passages for a sweep: what every candidate holds of the answer, looked up when a measure first asks."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from core.evaluation.measures.by_name import READ, Gold
from core.evaluation.measures.passages import coverage, holds, overlap

if TYPE_CHECKING:
    import numpy as np

Worth = Callable[[str, Gold], float]


def _mean_overlap(text: str, gold: Gold) -> float:
    return sum(overlap(text, segment) for segment in gold.segments) / len(gold.segments)


WORTH: Mapping[str, Worth] = {
    "exact": lambda text, gold: float(holds(text, gold.answer)),
    "coverage": lambda text, gold: coverage(text, gold.answer),
    "overlap": lambda text, gold: max(overlap(text, segment) for segment in gold.segments),
    "mean overlap": _mean_overlap,
}


class PassageTable:
    """Questions x candidates; NaN beyond the last candidate and for questions that quote no answer."""

    def __init__(self, chunks: Sequence[Sequence[int]], golds: Sequence[Gold], excerpt: Callable[[int], str]) -> None:
        self.chunks, self.golds, self.excerpt = chunks, golds, excerpt
        self._known: dict[str, np.ndarray] = {}

    @property
    def quoted(self) -> bool:
        """Whether any question quotes its answer."""
        return any(gold.answer for gold in self.golds)

    def of(self, kind: str) -> np.ndarray:
        """What each candidate is worth."""
        import numpy as np

        if kind not in self._known:
            table = np.full((len(self.chunks), max(map(len, self.chunks), default=0)), np.nan)
            for n, (row, gold) in enumerate(zip(self.chunks, self.golds, strict=True)):
                if gold.answer and gold.segments:
                    table[n, : len(row)] = [WORTH[kind](self.excerpt(chunk), gold) for chunk in row]
            self._known[kind] = table
        return self._known[kind]


def _first(worth: np.ndarray) -> np.ndarray:
    return worth[:, 0]


def _best(worth: np.ndarray) -> np.ndarray:
    result: np.ndarray = worth.max(axis=1)
    return result


def _reciprocal(worth: np.ndarray) -> np.ndarray:
    import numpy as np

    places = np.where(worth > 0, 1.0 / np.arange(1, worth.shape[1] + 1), 0.0)
    result: np.ndarray = places.max(axis=1)
    return result


MEASURES: Mapping[str, tuple[str, Callable[[np.ndarray], np.ndarray] | None]] = {
    "T1EM": ("exact", _first),
    "T5EM": ("exact", _best),
    "T1C": ("coverage", _first),
    "BC": ("coverage", _best),
    "AC": ("coverage", None),  # the mean over what was retrieved
    "SpanMRR": ("exact", _reciprocal),
    "T1O": ("overlap", _first),
    "BO": ("overlap", _best),
    "AO": ("mean overlap", None),
}


def values(passages: PassageTable, fused: np.ndarray, measure: str) -> np.ndarray:
    """A measure for every question from its first five candidates; NaN where the question quotes no answer."""
    import numpy as np

    kind, reduce = MEASURES[measure]
    worth = passages.of(kind)
    order = np.argsort(-fused, axis=1, kind="stable")[:, :READ]  # ties go to the lower number, as in a search
    seen = np.take_along_axis(fused, order, axis=1) > -np.inf
    found = np.where(seen, np.take_along_axis(worth, order, axis=1), 0.0)
    result = reduce(found) if reduce else found.sum(axis=1) / np.maximum(1, seen.sum(axis=1))
    quoted = np.array([bool(gold.answer and gold.segments) for gold in passages.golds])
    return np.where(quoted, result, np.nan)
