"""Normalisation and fusion: from what each leg scored to one ranking. Small pure functions, one per formula.

Scores are arrays: legs on the first axis, candidates on the last, in the order of chunk numbers; between the two may
stand many questions, so that one search and the sweep of a whole query set are the same arithmetic. `here` marks the
candidates about which a leg says anything. Sources: Bruch et al. 2023 (convex, TM2C2), Cormack et al. 2009 (RRF),
Fox and Shaw 1994 (CombSUM, CombMNZ); RSF and DBSN as in the compliance benchmark.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np

    Mask = np.ndarray | bool
    Floor = np.ndarray | float

SIGMAS = 3.0  # z-scores are clipped here


def rank(scores: Mapping[int, float]) -> dict[int, float]:
    """Best first, ties in the order of ids.

    >>> rank({3: 0.5, 1: 0.5, 2: 0.9})
    {2: 0.9, 1: 0.5, 3: 0.5}
    """
    score = scores.__getitem__
    best = sorted(sorted(scores), key=score, reverse=True)  # sorting is stable: equal scores stay in the order of ids
    return dict(zip(best, map(score, best), strict=True))


def best_first(scores: np.ndarray) -> np.ndarray:
    """The order from the best score to the worst, equal ones as they stand.

    >>> import numpy as np
    >>> best_first(np.array([0.5, 0.9, 0.5])).tolist()
    [1, 0, 2]
    """
    import numpy as np

    if len(scores) < 64:
        return (-scores).argsort(kind="stable")
    order = (-scores).argsort()  # for many a third of the time of a stable sort, which only equal scores need
    best = scores[order]
    same = best[1:] == best[:-1]
    if same.any():
        tied = np.flatnonzero(np.append(same, False) | np.append(False, same))
        order[tied] = order[tied][np.lexsort((order[tied], -best[tied]))]
    return order


# ---------------------------------------------------------------- normalisation


def minmax(scores: np.ndarray, here: Mask = True, floor: Floor = 0.0) -> np.ndarray:
    """The worst becomes 0 and the best 1. A constant leg is 1 where it says anything at all, else 0.

    >>> import numpy as np
    >>> minmax(np.array([2.0, 4.0, 3.0])).tolist()
    [0.0, 1.0, 0.5]
    >>> minmax(np.array([[7.0, 7.0], [0.0, 0.0]])).tolist()
    [[1.0, 1.0], [0.0, 0.0]]
    """
    return _between(scores, here, _least(scores, here), floor)


def theoretical(scores: np.ndarray, here: Mask = True, floor: Floor = 0.0) -> np.ndarray:
    """TM2C2: 0 is the lowest score the leg could give (0 for BM25, -1 for cosine), 1 the best candidate.

    >>> import numpy as np
    >>> theoretical(np.array([0.5, 0.125]), floor=-1.0).tolist()
    [1.0, 0.75]
    """
    return _between(scores, here, floor, floor)


def _between(scores: np.ndarray, here: Mask, low: Floor, floor: Floor) -> np.ndarray:
    import numpy as np

    width = _most(scores, here) - low
    flat = width <= 0
    scaled = np.maximum(0.0, (scores - low) / np.where(flat, 1.0, width))  # rounding can take a cosine below -1
    return np.where(flat, scores > floor, scaled) if flat.any() else scaled


def _most(scores: np.ndarray, here: Mask) -> np.ndarray:
    """The best score of each leg; below everything for a leg that says nothing."""
    import numpy as np

    high: np.ndarray = scores.max(axis=-1, keepdims=True, initial=-np.inf, where=here)
    return high


def _least(scores: np.ndarray, here: Mask) -> np.ndarray:
    import numpy as np

    low: np.ndarray = scores.min(axis=-1, keepdims=True, initial=np.inf, where=here)
    return low


def zscore(scores: np.ndarray, here: Mask = True, floor: Floor = 0.0) -> np.ndarray:
    """DBSN: distance from the mean in standard deviations, clipped at three, moved to 0..1.

    >>> import numpy as np
    >>> zscore(np.array([1.0, 2.0, 3.0])).round(3).tolist()
    [0.296, 0.5, 0.704]
    """
    import numpy as np

    counted = np.broadcast_to(here, scores.shape)
    moments = [_moments(scores[row][counted[row]]) for row in np.ndindex(scores.shape[:-1])]
    mean, sigma = np.reshape(moments, (-1, 2)).T.reshape(2, *scores.shape[:-1], 1)
    flat = sigma <= 1e-12 * np.maximum(1.0, np.abs(mean))
    apart = np.clip((scores - mean) / np.where(flat, 1.0, sigma), -SIGMAS, SIGMAS)
    return np.where(flat, np.where(scores > floor, 0.5, 0.0), (apart + SIGMAS) / (2 * SIGMAS))


def _moments(scores: np.ndarray) -> tuple[float, float]:
    """Mean and standard deviation of one row: row by row, one search and a sweep add up in the same order."""
    mean = float(scores.sum()) / max(1, len(scores))
    return mean, (float(((scores - mean) ** 2).sum()) / max(1, len(scores))) ** 0.5


def by_max(scores: np.ndarray, here: Mask = True, floor: Floor = 0.0) -> np.ndarray:
    """Share of the best score; what is below zero counts as zero.

    >>> import numpy as np
    >>> by_max(np.array([4.0, 1.0, -2.0])).tolist()
    [1.0, 0.25, 0.0]
    """
    import numpy as np

    high = _most(scores, here)
    return np.where(high > 0, np.maximum(0.0, scores / np.where(high > 0, high, 1.0)), 0.0)


def as_is(scores: np.ndarray, here: Mask = True, floor: Floor = 0.0) -> np.ndarray:
    """No normalisation: the legs' own scales."""
    return scores


NORMALISATIONS: Mapping[str, Callable[[np.ndarray, Mask, Floor], np.ndarray]] = {
    "minmax": minmax,
    "tm2c2": theoretical,
    "zscore": zscore,
    "max": by_max,
    "none": as_is,
}


# ---------------------------------------------------------------- fusion


def weighted_sum(scores: np.ndarray, weights: Sequence[float]) -> np.ndarray:
    """Convex combination: each leg's share of the weight times its normalised score; absent counts as 0.

    >>> import numpy as np
    >>> weighted_sum(np.array([[1.0, 0.5], [0.0, 1.0]]), [0.75, 0.25]).tolist()
    [0.75, 0.625]
    """
    total = sum(weights) or 1.0
    return _added([weight / total * row for weight, row in zip(weights, scores, strict=True)])


def reciprocal_rank(places: np.ndarray, k: int, weights: Sequence[float]) -> np.ndarray:
    """RRF: the sum of weight / (k + place) over the legs that retrieved the chunk; place 0 is not retrieved.

    >>> import numpy as np
    >>> reciprocal_rank(np.array([[1, 2], [0, 1]]), 60, [1.0, 1.0]).round(5).tolist()
    [0.01639, 0.03252]
    """
    import numpy as np

    return _added(
        [np.where(row > 0, weight / (k + row), 0.0) for weight, row in zip(weights, places, strict=True)],
    )


def comb_sum(scores: np.ndarray) -> np.ndarray:
    """CombSUM: the sum of normalised scores.

    >>> import numpy as np
    >>> comb_sum(np.array([[1.0, 0.0], [0.5, 0.5]])).tolist()
    [1.5, 0.5]
    """
    return _added(list(scores))


def comb_mnz(scores: np.ndarray, places: np.ndarray) -> np.ndarray:
    """CombMNZ: CombSUM times the number of legs that retrieved the chunk.

    >>> import numpy as np
    >>> comb_mnz(np.array([[1.0, 0.0], [0.5, 0.5]]), np.array([[1, 0], [1, 2]])).tolist()
    [3.0, 0.5]
    """
    fused: np.ndarray = comb_sum(scores) * (places > 0).sum(axis=0)
    return fused


def _added(rows: Sequence[np.ndarray]) -> np.ndarray:
    """The sum over the legs, one after the other: a fixed order gives fixed bits."""
    total = rows[0]
    for row in rows[1:]:
        total = total + row
    return total


# ---------------------------------------------------------------- one table of all fusions


@dataclass(frozen=True, slots=True, eq=False)
class ScaledLegs:
    """What fusion gets: legs in the order of their names, each with its scores over the candidates and its places."""

    names: tuple[str, ...]
    scores: np.ndarray  # normalised; 0 where the leg says nothing
    here: np.ndarray  # where it says something
    places: np.ndarray  # in the leg's own ranking; 0 where it did not retrieve


def on_one_scale(
    names: Sequence[str],
    scores: np.ndarray,
    here: np.ndarray,
    places: np.ndarray,
    how: str,
    floors: np.ndarray,
) -> ScaledLegs:
    """Raw scores on one scale. `floors` are the lowest scores that the legs could give."""
    import numpy as np

    scaled = NORMALISATIONS[how](scores, here, floors.reshape(-1, *[1] * (scores.ndim - 1)))
    return ScaledLegs(tuple(names), np.where(here, scaled, 0.0), here, places)


Fusion = Callable[[ScaledLegs, Sequence[float], int], "np.ndarray"]
"""Legs, their weights and the k of RRF to one score per candidate."""

FUSIONS: Mapping[str, Fusion] = {
    "single": lambda legs, weights, k: legs.scores[0],
    "convex": lambda legs, weights, k: weighted_sum(legs.scores, weights),
    "rrf": lambda legs, weights, k: reciprocal_rank(legs.places, k, weights),
    "rsf": lambda legs, weights, k: weighted_sum(legs.scores, weights),
    "dbsn": lambda legs, weights, k: weighted_sum(legs.scores, weights),
    "combsum": lambda legs, weights, k: comb_sum(legs.scores),
    "combmnz": lambda legs, weights, k: comb_mnz(legs.scores, legs.places),
}


def ceiling(fusion: str, weights: Sequence[float], rrf_k: int, best: float) -> float:
    """The highest score a fusion could give, so that tau means the same for all of them.

    >>> ceiling("combmnz", [1.0, 1.0], 60, 0.0)
    4.0
    """
    count = float(len(weights))
    return {"single": best, "combsum": count, "combmnz": count * count, "rrf": sum(weights) / (rrf_k + 1)}.get(
        fusion, 1.0
    )
