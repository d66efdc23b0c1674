"""Where nodes stand: forces that settle in Python, so that the same view looks the same every time and the browser rests."""

from __future__ import annotations

from collections.abc import Sequence
from math import sqrt
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np

Pair = tuple[int, int]

STEPS = 240
WIDE, HIGH = 1000, 700  # the box that every view fills, in pixels
_EVEN = 0.5  # how far places are drawn towards an even spread, so that crowds loosen and stragglers come near
_GRAVITY = 0.06  # towards the centre; what nothing holds is drawn harder
_GOLDEN = 2.399963229728653  # radians: a sunflower's angle, so that no two nodes start at one place


def settle(hops: Sequence[int], pairs: Sequence[Pair], groups: Sequence[int] = ()) -> list[tuple[int, int]]:
    """Positions in pixels: joined nodes pull, all others push, and a weak gravity keeps parts together.

    Fruchterman and Reingold (1991), with nodes of one group starting side by side and the centre held by hop 0.

    >>> settle([0], [])
    [(0, 0)]
    >>> a, b, c = settle([0, 1, 1], [(0, 1), (0, 2)])
    >>> abs(b[0] - c[0]) > abs(a[0] - b[0])  # the centre stands between its neighbours
    True
    """
    import numpy as np

    if len(hops) < 2:
        return [(0, 0)] * len(hops)
    at = _start(hops, groups)
    joined = np.array(sorted({(min(pair), max(pair)) for pair in pairs if pair[0] != pair[1]}), np.int64).reshape(-1, 2)
    pull, alone = _pull(len(hops), joined), np.setdiff1d(np.arange(len(hops)), joined)
    gravity = np.full((len(hops), 1), _GRAVITY)
    gravity[alone] = 8 * _GRAVITY
    for heat in np.geomspace(1.0, 0.02, STEPS):
        at += _step(at, joined, pull, gravity, float(heat))
    return _pixels(at)


def _start(hops: Sequence[int], groups: Sequence[int]) -> np.ndarray:
    """A sunflower: near hops inside, each group in its own part of the disc."""
    import numpy as np

    n = len(hops)
    order = sorted(range(n), key=lambda one: (hops[one], groups[one] if groups else 0, one))
    place = np.empty(n)
    place[order] = np.arange(n)
    angle = place * _GOLDEN
    if groups:
        kinds = sorted(set(groups))
        share = np.array([kinds.index(group) for group in groups]) / len(kinds)
        angle = 2 * np.pi * (share + (place / n) / len(kinds))
    return np.stack([np.cos(angle), np.sin(angle)], axis=1) * np.sqrt(place + 0.5)[:, None]


def _pull(n: int, joined: np.ndarray) -> np.ndarray:
    """How hard each edge pulls: less where both ends have many."""
    import numpy as np

    degree = np.bincount(joined.ravel(), minlength=n) if len(joined) else np.zeros(n)
    return np.asarray(1.0 / np.sqrt(np.maximum(1.0, np.minimum(degree[joined[:, 0]], degree[joined[:, 1]]))))


def _step(at: np.ndarray, joined: np.ndarray, pull: np.ndarray, gravity: np.ndarray, heat: float) -> np.ndarray:
    import numpy as np

    gap = at[:, None, :] - at[None, :, :]
    near = np.maximum((gap**2).sum(axis=2), 1e-4)
    force = (gap / near[:, :, None]).sum(axis=1) - gravity * at
    if len(joined):
        along = at[joined[:, 1]] - at[joined[:, 0]]
        along *= (pull * np.sqrt((along**2).sum(axis=1)))[:, None]
        np.add.at(force, joined[:, 0], along)
        np.add.at(force, joined[:, 1], -along)
    length = np.sqrt((force**2).sum(axis=1, keepdims=True))
    return np.asarray(force / np.maximum(length, 1e-9) * np.minimum(length, heat * sqrt(len(at)) / 4))


def _pixels(at: np.ndarray) -> list[tuple[int, int]]:
    """The longest way across the screen, and the whole box in use."""
    import numpy as np

    at = at - at.mean(axis=0)
    _, axes = np.linalg.eigh(at.T @ at)
    at = at @ axes[:, ::-1]
    at = at * np.where(at[np.abs(at).argmax(axis=0), [0, 1]] < 0, -1.0, 1.0)
    low, high = at.min(axis=0), at.max(axis=0)
    box = (at - low) / np.maximum(high - low, 1e-9)
    even = np.argsort(np.argsort(at, axis=0, kind="stable"), axis=0, kind="stable") / (len(at) - 1)
    spread = (1 - _EVEN) * box + _EVEN * even
    spread[:, high - low < 1e-6] = 0.5
    return [(round(x), round(y)) for x, y in ((spread - 0.5) * [WIDE, HIGH]).tolist()]
