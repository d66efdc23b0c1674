"""What the legs found for one query, as arrays: one column per candidate, in the order of chunk numbers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from core.ports import Ranking

if TYPE_CHECKING:
    import numpy as np

FEW = 128  # scores


class CandidateTable(NamedTuple):
    """Legs in the order of their names, by candidates."""

    chunks: np.ndarray  # the numbers of the candidates
    scores: np.ndarray  # what each leg gave
    places: np.ndarray  # in the leg's own ranking; 0 where it did not retrieve


def stacked(retrieved: Mapping[str, Ranking], scores: Mapping[str, Mapping[int, float]]) -> CandidateTable:
    """Rankings and scores by leg as one table.

    >>> table = stacked({"a": {7: 0.9}, "b": {5: 2.0, 7: 1.0}}, {"a": {7: 0.9}, "b": {5: 2.0, 7: 1.0}})
    >>> table.chunks.tolist(), table.scores.tolist(), table.places.tolist()
    ([5, 7], [[0.0, 0.9], [2.0, 1.0]], [[0, 1], [1, 2]])
    """
    import numpy as np

    names = sorted(scores)
    scored, rankings = [scores[name] for name in names], [retrieved[name] for name in names]
    if sum(map(len, scored)) <= FEW:
        return _few(scored, rankings)
    columns = [np.fromiter(own, np.int64, len(own)) for own in scored]
    orders = [column.argsort() for column in columns]
    chunks, spots = _union([column[order] for column, order in zip(columns, orders, strict=True)])
    matrix, places = np.zeros((len(names), len(chunks))), np.zeros((len(names), len(chunks)), np.int32)
    for n, (order, at) in enumerate(zip(orders, spots, strict=True)):
        matrix[n, at] = np.fromiter(scored[n].values(), float, len(order))[order]
        if rankings[n] is not scored[n]:
            own = np.fromiter(rankings[n], np.int64, len(rankings[n]))
            order = own.argsort()
            at = chunks.searchsorted(own[order])  # sorted keys are found several times quicker
        places[n, at] = order + 1
    return CandidateTable(chunks, matrix, places)


def _union(columns: Sequence[np.ndarray]) -> tuple[np.ndarray, list[Any]]:
    """All numbers of sorted columns in order, and where those of each column stand among them."""
    import numpy as np

    if all(np.array_equal(columns[0], column) for column in columns[1:]):
        return columns[0], [slice(None)] * len(columns)
    every = np.sort(np.concatenate(columns))
    union = np.concatenate([every[:1], every[1:][every[1:] != every[:-1]]])
    return union, [union.searchsorted(column) for column in columns]


def _few(scored: Sequence[Mapping[int, float]], rankings: Sequence[Ranking]) -> CandidateTable:
    """The same for a handful of candidates, where each call of numpy costs more than what it does."""
    import numpy as np

    chunks = sorted(set().union(*scored))
    places = [dict(zip(ranking, range(1, len(ranking) + 1), strict=True)) for ranking in rankings]
    return CandidateTable(
        np.array(chunks, np.int64),
        np.array([[own.get(chunk, 0.0) for chunk in chunks] for own in scored]),
        np.array([[order.get(chunk, 0) for chunk in chunks] for order in places], np.int32),
    )
