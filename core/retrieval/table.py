"""What the legs found for one query, as arrays: one column per candidate, in the order of chunk numbers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING

from core.ports import Ranking

if TYPE_CHECKING:
    import numpy as np

FEW = 128  # scores


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
    said, found = [scores[name] for name in names], [retrieved[name] for name in names]
    if sum(map(len, said)) <= FEW:
        return _few(said, found)
    chunks, at = _numbered(np.fromiter(chain(*said, *found), np.int64))
    legs = np.repeat(np.arange(len(names)), [len(one) for one in said])
    given, places = np.zeros((len(names), len(chunks))), np.zeros((len(names), len(chunks)), np.int32)
    here = np.zeros(given.shape, bool)
    given[legs, at[: len(legs)]] = np.fromiter(chain(*(one.values() for one in said)), float)
    here[legs, at[: len(legs)]] = True
    start = len(legs)
    for n, ranking in enumerate(found):
        places[n, at[start : start + len(ranking)]] = np.arange(1, len(ranking) + 1)
        start += len(ranking)
    return Table(chunks, given, here, places)


def _few(said: Sequence[Mapping[int, float]], found: Sequence[Ranking]) -> Table:
    """The same for a handful of candidates, where each call of numpy costs more than what it does."""
    import numpy as np

    chunks = sorted(set().union(*said))
    places = [dict(zip(ranking, range(1, len(ranking) + 1), strict=True)) for ranking in found]
    whole = all(len(own) == len(chunks) for own in said)
    return Table(
        np.array(chunks, np.int64),
        np.array([[own.get(chunk, 0.0) for chunk in chunks] for own in said]),
        np.ones((len(said), len(chunks)), bool)
        if whole
        else np.array([[n in own for n in chunks] for own in said], bool),
        np.array([[order.get(chunk, 0) for chunk in chunks] for order in places], np.int32),
    )


def _numbered(keys: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The different keys in order, and which of them each key is.

    >>> import numpy as np
    >>> [found.tolist() for found in _numbered(np.array([7, 5, 7]))]
    [[5, 7], [1, 0, 1]]
    """
    import numpy as np

    order = keys.argsort()
    ranked = keys[order]
    new = np.ones(len(keys), bool)
    new[1:] = ranked[1:] != ranked[:-1]
    at = np.empty(len(keys), np.int64)
    at[order] = new.cumsum() - 1
    return ranked[new], at
