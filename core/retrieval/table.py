"""What the legs found for one query, as arrays: one column per candidate, in the order of chunk numbers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from core.ports import Ranking

if TYPE_CHECKING:
    import numpy as np


@dataclass(frozen=True, slots=True, eq=False)
class Table:
    """Legs in the order of their names, by candidates."""

    chunks: np.ndarray  # the numbers of the candidates
    scores: np.ndarray  # what each leg gave
    here: np.ndarray  # where it says anything
    places: np.ndarray  # in the leg's own ranking; 0 where it did not retrieve


def stacked(retrieved: Mapping[str, Ranking], scores: Mapping[str, Mapping[int, float]]) -> Table:
    """Rankings and scores by leg as one table.

    >>> made = stacked({"a": {7: 0.9}, "b": {5: 2.0, 7: 1.0}}, {"a": {7: 0.9}, "b": {5: 2.0, 7: 1.0}})
    >>> made.chunks.tolist(), made.scores.tolist(), made.places.tolist()
    ([5, 7], [[0.0, 0.9], [2.0, 1.0]], [[0, 1], [1, 2]])
    """
    import numpy as np

    names = sorted(scores)
    columns = [np.fromiter(scores[name], np.int64) for name in names]
    orders = [column.argsort() for column in columns]
    chunks, spots = _union([column[order] for column, order in zip(columns, orders, strict=True)])
    given, places = np.zeros((len(names), len(chunks))), np.zeros((len(names), len(chunks)), np.int32)
    here = np.zeros(given.shape, bool)
    for n, (name, order, at) in enumerate(zip(names, orders, spots, strict=True)):
        given[n, at], here[n, at] = np.fromiter(scores[name].values(), float)[order], True
        if retrieved[name] is not scores[name]:
            own = np.fromiter(retrieved[name], np.int64)
            order = own.argsort()
            at = chunks.searchsorted(own[order])  # sorted keys are found several times quicker
        places[n, at] = order + 1
    return Table(chunks, given, here, places)


def _union(columns: Sequence[np.ndarray]) -> tuple[np.ndarray, list[Any]]:
    """All numbers of sorted columns in order, and where those of each column stand among them."""
    import numpy as np

    if all(np.array_equal(columns[0], column) for column in columns[1:]):
        return columns[0], [slice(None)] * len(columns)
    every = np.sort(np.concatenate(columns))
    union = np.concatenate([every[:1], every[1:][every[1:] != every[:-1]]])
    return union, [union.searchsorted(column) for column in columns]
